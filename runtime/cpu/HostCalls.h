// The calls from a CPU kernel into the process that launched it: to print, to report that a program failed, to check
// values, to let other programs run.
// SPDX-License-Identifier: MIT
//
// A kernel with host calls has a variable named `nereid_host_calls`; its loader stores the address of a HostCalls
// there. If it is null, because AOTInductor or a linker loaded the code, the kernel prints what it can by itself.
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

/// The kind of a check; the kinds are those of the IR, compiler/dialect/check/Enums.td.
enum class CheckKind : uint32_t { Bounds, Unwritten, Written, Undefined, Overflow, Wrapped, Nan };

struct CheckSite {
  CheckKind kind;
  int32_t argument;      ///< the parameter that pointers belong to; -1: any
  int32_t axis;          ///< the axis that the first value was reduced along; -1: none
  uint32_t hasMask;      ///< the last value is the mask of checked elements
  uint32_t elementBytes; ///< of what a pointer points to
  uint32_t count;
  const PrintedType *types;
  const char *what; ///< "read", "+", "log" ...
  const char *text; ///< the whole report, with kCheckMessage in place of the finding
};

inline constexpr char kCheckMessage[] = "{found}";

/// What a loop does in which a program may wait for others; the kinds are those of
/// compiler/target/cpu/plan/WaitLoops.h.
enum class WaitKind : uint32_t { Polls, Works, Counts };

struct WaitSite {
  WaitKind kind;
  const char *text; ///< "file.py:12:5"; empty where the source is unknown
};

/// With this symbol a kernel says that its programs may wait for any others of the launch.
inline constexpr char kWaitsSymbol[] = "nereid_waits";

struct HostCalls {
  /// Prints values in memory, row-major, i1 as bytes.
  void (*print)(const char *prefix, const uint32_t ids[3], uint32_t isHex, uint32_t count, const PrintedType *types,
                const void *const *values);
  /// Reports that the program failed; the program then ends.
  void (*fail)(const char *text, const uint32_t ids[3]);
  /// Whether the values pass the check; if not, the launch has failed and the program ends.
  bool (*check)(const CheckSite *site, const uint32_t ids[3], const void *const *values);
  /// Between two iterations of a loop that may wait: lets other programs run. `isFirst`: the first time since the loop
  /// was entered. False: the launch is over, and the program ends.
  bool (*wait)(const WaitSite *site, uint32_t isFirst);
  /// After an atomic operation outside of such loops whose result the program uses: others may have to run theirs
  /// before this one goes on, as on a GPU, where the result is long on its way.
  void (*arrive)();
};

const HostCalls &hostCalls();

/// The memory passed to a launch: one extent per parameter.
struct LaunchMemory {
  const artifact::Artifact *artifact = nullptr;
  const MemoryExtent *extents = nullptr;
};

/// The failure of a launch: that of the lowest program that failed, so that the result does not depend on threads.
/// Programs below it still run, programs above it do not start.
class LaunchFailure {
public:
  LaunchFailure(const uint32_t grid[3], LaunchMemory memory);

  const LaunchMemory memory;
  const uint64_t launch; ///< unique to this launch
  /// The linear id of the lowest program that is known to have failed; above all ids where none has.
  uint64_t program() const { return lowest.load(std::memory_order_acquire); }
  bool happened() const { return program() != kNone; }
  /// Valid once no program runs any more.
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

/// The failure of the launch whose programs this thread runs; null outside launches.
LaunchFailure *currentFailure();

} // namespace nereid::runtime
