/* SPDX-License-Identifier: Apache-2.0 */
/* The few functions of libcuda.so.1 that the GPU test's programs call, declared here: no CUDA toolkit is needed. */
#pragma once

#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

typedef int cu_result;
typedef unsigned long long cu_address;

struct cu_args { /* 64 bytes of zeros are every checkpoint function's defaults; a lock's first word is its time limit */
    uint32_t word[16];
};
_Static_assert(sizeof(struct cu_args) == 64, "the driver's arguments");

static inline void *cu_library(const char *name) {
    void *library = dlopen(name, RTLD_NOW | RTLD_GLOBAL);
    if (library == NULL) {
        fprintf(stderr, "%s\n", dlerror());
        exit(2);
    }
    return library;
}

static inline void *cu_function(void *library, const char *name) {
    void *function = dlsym(library, name);
    if (function == NULL) {
        fprintf(stderr, "no %s in the driver\n", name);
        exit(2);
    }
    return function;
}

static inline void cu_check(cu_result result, const char *what) {
    if (result == 0) return;
    fprintf(stderr, "%s: CUDA error %d\n", what, result);
    exit(1);
}

static inline double cu_now_ms(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6;
}
