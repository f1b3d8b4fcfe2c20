// What became of each line of a kernel: the record that targets fill, and its renderings.
// SPDX-License-Identifier: MIT
#pragma once

#include "compiler/support/SourceFile.h"

#include "llvm/ADT/StringRef.h"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace nereid::explain {

/// The unit of a GPU that is busy during an op.
enum class Unit : uint8_t { None, TensorCores, MemoryCopies, SharedMemory, Alu, SpecialFunctions };
inline constexpr Unit kUnits[] = {Unit::TensorCores, Unit::MemoryCopies, Unit::SharedMemory, Unit::Alu,
                                  Unit::SpecialFunctions};
/// "tensor cores"; empty for None.
llvm::StringRef nameOf(Unit unit);

/// A line of the user's source.
struct Position {
  std::string file;
  unsigned line = 0; ///< 0: unknown

  bool operator==(const Position &) const = default;
};

/// One thing that was done for a line, or not done.
struct Finding {
  Position at;
  std::string kind;         ///< "load", "dot", "conversion", "remark" ...
  std::string text;         ///< what was done
  std::string reason = {};  ///< why no more was done; may be empty
  std::string code = {};    ///< of the diagnostic, for a remark
  Unit unit = Unit::None;   ///< that it keeps busy
  uint64_t cycles = 0;      ///< of the unit in one execution by a program, estimated
  uint32_t vectorBytes = 0; ///< of a memory access
  uint64_t bytes = 0;       ///< that it moves
  unsigned count = 1;       ///< how often the code contains it: before, in and after a pipelined loop
};

/// Warps with work of their own.
struct Role {
  std::string name; ///< "all warps", "default", "partition 0"
  unsigned firstWarp = 0, warps = 0;
  unsigned registers = 0; ///< of each thread, where set for the role
};

/// The effect of an op of a loop besides taking time.
enum class Action : uint8_t {
  None,
  Start,      ///< starts asynchronous work of its unit
  Load,       ///< starts a load that the next other work waits for
  Prefetch,   ///< starts a load that the next iteration waits for
  Commit,     ///< the copies since the last commit form a group
  WaitGroups, ///< until `number` groups at most are in flight
  WaitDots,   ///< until `number` dots at most are in flight
  Signal,     ///< completes a phase of `barrier`
  SignalCopy, ///< completes a phase of `barrier` when the copies before it are done
  Wait,       ///< until a phase of `barrier` is complete
};

struct LoopOp {
  unsigned line = 0;
  std::string label = {};
  Unit unit = Unit::None;
  uint64_t cycles = 0;
  Action action = Action::None;
  unsigned number = 0;
  unsigned barrier = 0;
};

/// A barrier in shared memory, or an array of them that is used in rotation.
struct LoopBarrier {
  unsigned initialPhases = 0; ///< complete before the loop
};

/// One iteration of a loop, as each role runs it.
struct Loop {
  Position at;
  unsigned iterationsAhead = 0; ///< of the loads
  unsigned groupsAhead = 0;     ///< groups of copies that are in flight when the loop begins
  struct Part {
    unsigned role = 0;
    std::vector<LoopOp> ops;
  };
  std::vector<Part> parts = {};
  std::vector<LoopBarrier> barriers = {};
};

struct Explanation {
  std::string kernel, target;
  unsigned warps = 0;
  uint64_t sharedBytes = 0;
  std::vector<Role> roles; ///< one where all warps do the same
  std::vector<Finding> findings;
  std::vector<Loop> loops;
};

/// Adds a finding; one that is equal up to the count is counted.
void add(Explanation &explanation, Finding finding);
/// Sorts the findings by position, lines of the file with most findings first; equal lines stay in order.
void sortByLine(Explanation &explanation);

/// Texts that positions refer to.
using Sources = std::vector<std::shared_ptr<const support::SourceFile>>;

std::string toJson(const Explanation &explanation);
std::string toText(const Explanation &explanation, const Sources &sources);
std::string toSvg(const Explanation &explanation);

} // namespace nereid::explain
