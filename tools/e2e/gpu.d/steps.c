// SPDX-License-Identifier: Apache-2.0
// usage: gpu-steps LIBCUDA suspend|resume PID...
// The driver's functions and nothing around them, as the yardstick: one thread a process and step, all locked before the
// first checkpoint, all restored before the first unlock. Prints the milliseconds of both steps together.
#include <pthread.h>
#include <string.h>

#include "driver.h"

enum { kMost = 256 };

typedef cu_result (*step_function)(int, struct cu_args *);

struct job {
    pthread_t thread;
    step_function step;
    int pid;
    cu_result result;
};

static struct job jobs[kMost];

static void *run(void *given) {
    struct job *job = given;
    struct cu_args args;
    memset(&args, 0, sizeof args);
    job->result = job->step(job->pid, &args);
    return NULL;
}

static void all(step_function step, int count, const char *what) {
    for (int at = 0; at < count; ++at) {
        jobs[at].step = step;
        if (pthread_create(&jobs[at].thread, NULL, run, &jobs[at]) != 0) exit(1);
    }
    for (int at = 0; at < count; ++at) pthread_join(jobs[at].thread, NULL);
    for (int at = 0; at < count; ++at) cu_check(jobs[at].result, what);
}

int main(int argc, char **argv) {
    if (argc < 4 || argc - 3 > kMost) return 2;
    const int count = argc - 3;
    for (int at = 0; at < count; ++at) jobs[at].pid = atoi(argv[at + 3]);
    void *cuda = cu_library(argv[1]);
    const int out = strcmp(argv[2], "suspend") == 0;
    const double start = cu_now_ms();
    if (!out) {
        cu_result (*init)(unsigned) = cu_function(cuda, "cuInit");
        cu_check(init(0), "cuInit");
    }
    all(cu_function(cuda, out ? "cuCheckpointProcessLock" : "cuCheckpointProcessRestore"), count, out ? "lock" : "restore");
    all(cu_function(cuda, out ? "cuCheckpointProcessCheckpoint" : "cuCheckpointProcessUnlock"), count,
        out ? "checkpoint" : "unlock");
    printf("%.1f\n", cu_now_ms() - start);
    return 0;
}
