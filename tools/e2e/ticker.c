// SPDX-License-Identifier: Apache-2.0
// The program inside the test containers: prints "<nonce> <count>" ten times a second. The nonce exists only in its
// memory, so a line with the old nonce and a higher count proves that a restore brought the process back.
// With a path as argument it keeps that file mapped, as a CUDA program keeps libcuda mapped.
#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static int map_file(const char *path) {
    struct stat st;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0 || fstat(fd, &st) != 0) {
        perror(path);
        return 1;
    }
    void *at = mmap(NULL, (size_t)st.st_size, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0);
    close(fd);
    if (at == MAP_FAILED) {
        perror(path);
        return 1;
    }
    return 0;
}

int main(int argc, char **argv) {
    unsigned long long nonce = 0;
    if (getrandom(&nonce, sizeof nonce, 0) != sizeof nonce) return 1;
    if (argc > 1 && map_file(argv[1]) != 0) return 1;
    const struct timespec tenth = {0, 100000000};
    for (unsigned long count = 1;; ++count) {
        char line[64];
        int size = snprintf(line, sizeof line, "%016llx %lu\n", nonce, count);
        if (write(1, line, (size_t)size) != size) return 1;
        nanosleep(&tenth, NULL);
    }
}
