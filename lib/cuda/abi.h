// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace ckpt::cuda {

/// The checkpoint interface of libcuda.so.1 (CUDA 12.8, driver 570), as its binary interface on 64-bit Linux has it.
using Result = std::int32_t;

inline constexpr Result kSuccess = 0;
inline constexpr Result kInvalidValue = 1;
inline constexpr Result kOutOfMemory = 2;
inline constexpr Result kNotInitialized = 3;
inline constexpr Result kOperatingSystem = 304;
inline constexpr Result kIllegalState = 401;
inline constexpr Result kNotReady = 600;
inline constexpr Result kNotPermitted = 800;
inline constexpr Result kNotSupported = 801;
/// Not the driver's: the worker had no such symbol.
inline constexpr Result kNoSymbol = -1;

/// CUDA 13.0 gave the restore arguments their device pairs.
inline constexpr std::uint32_t kFirstWithPairs = 13000;
inline constexpr std::uint32_t kFirstWithCheckpoint = 12080;

struct Uuid {
  std::array<std::uint8_t, 16> bytes{};
  friend bool operator==(const Uuid&, const Uuid&) = default;
};

struct LockArgs {
  std::uint32_t timeout_ms = 0;  ///< 0 waits for ever
  std::uint32_t reserved0 = 0;
  std::array<std::uint64_t, 7> reserved1{};
};

struct PlainArgs {  ///< of checkpoint and unlock
  std::array<std::uint64_t, 8> reserved{};
};

struct Pair {
  Uuid old_uuid;
  Uuid new_uuid;
};

struct RestoreArgs {
  const Pair* pairs = nullptr;
  std::uint32_t pair_count = 0;
  std::array<char, 44> reserved{};
  std::uint64_t reserved1 = 0;
};

static_assert(sizeof(void*) == 8, "the checkpoint interface is described for 64-bit systems");
static_assert(sizeof(Uuid) == 16 && alignof(Uuid) == 1);
static_assert(sizeof(LockArgs) == 64 && alignof(LockArgs) == 8);
static_assert(offsetof(LockArgs, timeout_ms) == 0 && offsetof(LockArgs, reserved0) == 4);
static_assert(offsetof(LockArgs, reserved1) == 8);
static_assert(sizeof(PlainArgs) == 64 && alignof(PlainArgs) == 8);
static_assert(sizeof(Pair) == 32 && alignof(Pair) == 1 && offsetof(Pair, new_uuid) == 16);
static_assert(sizeof(RestoreArgs) == 64 && alignof(RestoreArgs) == 8);
static_assert(offsetof(RestoreArgs, pair_count) == 8 && offsetof(RestoreArgs, reserved) == 12);
static_assert(offsetof(RestoreArgs, reserved1) == 56);

extern "C" {
using InitFn = Result (*)(unsigned);
using DriverVersionFn = Result (*)(int*);
using ThreadIdFn = Result (*)(int, int*);
using StateFn = Result (*)(int, int*);
using LockFn = Result (*)(int, LockArgs*);
using CheckpointFn = Result (*)(int, PlainArgs*);
using RestoreFn = Result (*)(int, RestoreArgs*);
using UnlockFn = Result (*)(int, PlainArgs*);
}

/// NVML's part: what each GPU holds and who holds it.
struct NvmlProcess {  ///< nvmlProcessInfo_t of the _v3 calls
  std::uint32_t pid = 0;
  std::uint64_t used_bytes = 0;  ///< all ones: not available
  std::uint32_t gpu_instance = 0;
  std::uint32_t compute_instance = 0;
};
struct NvmlMemory {
  std::uint64_t total = 0;
  std::uint64_t free = 0;
  std::uint64_t used = 0;
};
static_assert(sizeof(NvmlProcess) == 24 && offsetof(NvmlProcess, used_bytes) == 8);
static_assert(offsetof(NvmlProcess, gpu_instance) == 16);
static_assert(sizeof(NvmlMemory) == 24);

extern "C" {
using NvmlInitFn = int (*)();
using NvmlVersionFn = int (*)(char*, unsigned);
using NvmlCountFn = int (*)(unsigned*);
using NvmlHandleFn = int (*)(unsigned, void**);
using NvmlTextFn = int (*)(void*, char*, unsigned);
using NvmlMemoryFn = int (*)(void*, NvmlMemory*);
using NvmlMinorFn = int (*)(void*, unsigned*);
using NvmlMigFn = int (*)(void*, unsigned*, unsigned*);
using NvmlProcessesFn = int (*)(void*, unsigned*, NvmlProcess*);
}

}  // namespace ckpt::cuda
