// The attributes of loops that the passes of this folder read and leave.
// SPDX-License-Identifier: MIT
#pragma once

#include "llvm/ADT/StringRef.h"

namespace nereid::ttg {

inline constexpr llvm::StringLiteral kNumStages = "tt.num_stages";               ///< asked for by tl.range
inline constexpr llvm::StringLiteral kScheduledStage = "tt.scheduled_max_stage"; ///< the last stage of a pipelined loop
inline constexpr llvm::StringLiteral kLoopUnrollFactor = "tt.loop_unroll_factor"; ///< asked for by tl.range
inline constexpr llvm::StringLiteral kFlatten = "tt.flatten";                     ///< asked for by tl.range

} // namespace nereid::ttg
