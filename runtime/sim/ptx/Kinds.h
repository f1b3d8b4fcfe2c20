// Kinds of PTX instructions, as counters and the estimate of time group them.
// SPDX-License-Identifier: MIT
#pragma once

#include "artifact/NvidiaGpus.h"

namespace nereid::sim {

struct Statement;

enum class Kind : uint8_t {
  None, ///< a step of the simulator, such as the conversion of an operand
  Integer,
  Float32,
  Float16,
  Float64,
  Special, ///< approximations: ex2, rcp, sqrt
  Convert,
  Move,
  GlobalLoad, ///< also by generic addresses
  GlobalStore,
  SharedLoad,
  SharedStore,
  LocalAccess,
  ParamLoad,
  Atomic,
  AsyncCopy,
  Barrier, ///< of warps, CTAs and clusters, mbarriers, fences, waits for groups
  Shuffle,
  TensorCore,
  Control,
  Other,
};
inline constexpr size_t kNumKinds = size_t(Kind::Other) + 1;

using artifact::kNumTensorTypes;
using artifact::TensorType;

/// What a PTX instruction is to counters.
struct InstructionProfile {
  Kind kind = Kind::None;
  TensorType tensorType = TensorType::None;
  bool isBulkStore = false; ///< a bulk copy to global memory
  bool isWarpGroup = false; ///< wgmma
  uint32_t tensorFlops = 0; ///< of a warp
};

/// The kind of the opcode; None: it depends on the type.
InstructionProfile profileOf(const Statement &statement, Kind ofOpcode);

/// "integer", "float32", ...: the names of users.
const char *nameOf(Kind kind);
const char *nameOf(TensorType type);

} // namespace nereid::sim
