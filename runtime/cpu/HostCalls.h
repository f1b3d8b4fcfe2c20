// What a kernel on the CPU may ask of the process that launched it: to print, and to report that a program failed.
// SPDX-License-Identifier: MIT
//
// A kernel that asks has a variable named `nereid_host_calls`; whoever loads it puts the address of a HostCalls there. With
// null, as where only AOTInductor or a linker loaded the code, the kernel writes what it can by itself.
#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>
#include <string>

namespace nereid::runtime {

inline constexpr char kHostCallsSymbol[] = "nereid_host_calls";

/// A value to print: its element type ("i32", "u8", "i1", "fp16", "bf16", "fp8e5", "ptr" ...) and its extents.
struct PrintedType {
  const char *name;
  uint32_t rank; ///< 0: a scalar
  const int64_t *shape;
};

struct HostCalls {
  /// Prints values at their places in memory, row-major, i1 as bytes.
  void (*print)(const char *prefix, const uint32_t ids[3], uint32_t isHex, uint32_t count,
                const PrintedType *types, const void *const *values);
  /// Says that the program failed; it ends afterwards.
  void (*fail)(const char *text, const uint32_t ids[3]);
};

const HostCalls &hostCalls();

/// The first failure that programs of a launch report.
class LaunchFailure {
public:
  bool happened() const { return isSet.load(std::memory_order_acquire); }
  /// Once no program runs any more.
  const std::string &text() const { return message; }
  void report(std::string text);

private:
  std::atomic<bool> isSet{false};
  std::mutex mutex;
  std::string message;
};

} // namespace nereid::runtime
