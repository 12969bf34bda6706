// SPDX-License-Identifier: Apache-2.0
// usage: gpu-counter MIB [hold]
// Fills MIB MiB of GPU memory with a pattern that starts from a random number, then prints "<checksum> <count>" a few
// times a second. Both come out of GPU memory each time: the checksum of the whole pattern, and a count that is kept
// nowhere else. With "hold" it prints one line and then waits, for measuring.
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "driver.h"

enum { kBlock = 1 << 20 };

static uint64_t block[kBlock / sizeof(uint64_t)];

static cu_result (*copy_in)(cu_address, const void *, size_t);
static cu_result (*copy_out)(void *, cu_address, size_t);

// Eight blocks are made, then repeated with their number mixed in: quick to make, and no two blocks alike.
static void fill(cu_address buffer, unsigned long blocks) {
    uint64_t seed = 0;
    if (getrandom(&seed, sizeof seed, 0) != sizeof seed) exit(1);
    for (size_t at = 0; at < sizeof block / sizeof *block; ++at) {
        seed = seed * 6364136223846793005ULL + 1442695040888963407ULL;
        block[at] = seed;
    }
    for (unsigned long number = 0; number < blocks; ++number) {
        block[0] = number ^ seed;
        cu_check(copy_in(buffer + (cu_address)number * kBlock, block, kBlock), "cuMemcpyHtoD");
    }
}

static uint64_t checksum(cu_address buffer, unsigned long blocks) {
    uint64_t sum = 14695981039346656037ULL;
    for (unsigned long number = 0; number < blocks; ++number) {
        cu_check(copy_out(block, buffer + (cu_address)number * kBlock, kBlock), "cuMemcpyDtoH");
        for (size_t at = 0; at < sizeof block / sizeof *block; ++at) sum = (sum ^ block[at]) * 1099511628211ULL;
    }
    return sum;
}

static void print(uint64_t sum, uint64_t count) {
    char line[64];
    int size = snprintf(line, sizeof line, "%016llx %llu\n", (unsigned long long)sum, (unsigned long long)count);
    if (write(1, line, (size_t)size) != size) exit(1);
}

int main(int argc, char **argv) {
    const unsigned long blocks = argc > 1 ? strtoul(argv[1], NULL, 10) : 64;
    const int hold = argc > 2 && strcmp(argv[2], "hold") == 0;
    void *cuda = cu_library(getenv("GPU_COUNTER_LIBCUDA") ? getenv("GPU_COUNTER_LIBCUDA") : "libcuda.so.1");
    cu_result (*init)(unsigned) = cu_function(cuda, "cuInit");
    cu_result (*retain)(void **, int) = cu_function(cuda, "cuDevicePrimaryCtxRetain");
    cu_result (*use)(void *) = cu_function(cuda, "cuCtxSetCurrent");
    cu_result (*allocate)(cu_address *, size_t) = cu_function(cuda, "cuMemAlloc_v2");
    copy_in = cu_function(cuda, "cuMemcpyHtoD_v2");
    copy_out = cu_function(cuda, "cuMemcpyDtoH_v2");

    void *context = NULL;
    cu_address buffer = 0, counter = 0;
    cu_check(init(0), "cuInit");
    cu_check(retain(&context, 0), "cuDevicePrimaryCtxRetain");
    cu_check(use(context), "cuCtxSetCurrent");
    cu_check(allocate(&buffer, (size_t)blocks * kBlock), "cuMemAlloc");
    cu_check(allocate(&counter, sizeof(uint64_t)), "cuMemAlloc");
    fill(buffer, blocks);
    uint64_t count = 0;
    cu_check(copy_in(counter, &count, sizeof count), "cuMemcpyHtoD");

    const struct timespec pause_time = {0, 200000000};
    for (;;) {
        cu_check(copy_out(&count, counter, sizeof count), "cuMemcpyDtoH");
        ++count;
        cu_check(copy_in(counter, &count, sizeof count), "cuMemcpyHtoD");
        print(hold ? 0 : checksum(buffer, blocks), count);
        while (hold) pause();
        nanosleep(&pause_time, NULL);
    }
}
