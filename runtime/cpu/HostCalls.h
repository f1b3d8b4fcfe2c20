// What a kernel on the CPU may ask of the process that launched it: to print, to report that a program failed, to look
// at values.
// SPDX-License-Identifier: MIT
//
// A kernel that asks has a variable named `nereid_host_calls`; whoever loads it puts the address of a HostCalls there.
// With null, as where only AOTInductor or a linker loaded the code, the kernel writes what it can by itself.
#pragma once

#include "runtime/MemoryExtent.h"

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

/// A place where a kernel has values looked at; the kinds are those of the IR, compiler/dialect/check/Enums.td.
enum class CheckKind : uint32_t { Bounds, Unwritten, Written, Undefined, Overflow, Wrapped, Nan };

struct CheckSite {
  CheckKind kind;
  int32_t argument;      ///< the parameter that pointers belong to; -1: any
  int32_t axis;          ///< along which the first value was reduced; -1: none
  uint32_t hasMask;      ///< the last value says which elements count
  uint32_t elementBytes; ///< behind a pointer
  uint32_t count;
  const PrintedType *types;
  const char *what; ///< "read", "+", "log" ...
  const char *text; ///< of the whole report; kCheckMessage stands where it says what was found
};

inline constexpr char kCheckMessage[] = "{found}";

struct HostCalls {
  /// Prints values at their places in memory, row-major, i1 as bytes.
  void (*print)(const char *prefix, const uint32_t ids[3], uint32_t isHex, uint32_t count, const PrintedType *types,
                const void *const *values);
  /// Says that the program failed; it ends afterwards.
  void (*fail)(const char *text, const uint32_t ids[3]);
  /// Whether the values are as they should be; where not, the launch has failed and the program ends.
  bool (*check)(const CheckSite *site, const uint32_t ids[3], const void *const *values);
};

const HostCalls &hostCalls();

/// The memory that a launch was given: one extent per parameter.
struct LaunchMemory {
  const artifact::Artifact *artifact = nullptr;
  const MemoryExtent *extents = nullptr;
};

/// The failure of a launch: that of its lowest program that has one, so that threads make no difference. Programs
/// below it run still, none above it begins.
class LaunchFailure {
public:
  LaunchFailure(const uint32_t grid[3], LaunchMemory memory);

  const LaunchMemory memory;
  const uint64_t launch; ///< a number that no other launch has
  /// The linear id of the lowest program that is known to have failed; above all ids where none has.
  uint64_t program() const { return lowest.load(std::memory_order_acquire); }
  bool happened() const { return program() != kNone; }
  /// Once no program runs any more.
  const std::string &text() const { return message; }
  const char *code() const { return kind; }
  void report(const uint32_t ids[3], std::string text, const char *code);

private:
  static constexpr uint64_t kNone = ~uint64_t(0);
  const uint64_t columns, rows; ///< of the grid
  std::atomic<uint64_t> lowest{kNone};
  std::mutex mutex;
  std::string message;
  const char *kind = "";
};

/// That of the launch whose programs this thread runs; null beside launches.
LaunchFailure *currentFailure();

} // namespace nereid::runtime
