// Names of the attributes that carry the hints of tl.range, and what passes add to them.
// SPDX-License-Identifier: MIT
#pragma once

#include "llvm/ADT/StringRef.h"

namespace nereid::tt {

inline constexpr llvm::StringLiteral kNumStages = "tt.num_stages";
inline constexpr llvm::StringLiteral kLoopUnrollFactor = "tt.loop_unroll_factor";
inline constexpr llvm::StringLiteral kDisallowAccMultiBuffer = "tt.disallow_acc_multi_buffer";
inline constexpr llvm::StringLiteral kFlatten = "tt.flatten";
inline constexpr llvm::StringLiteral kWarpSpecialize = "tt.warp_specialize";
inline constexpr llvm::StringLiteral kNoWarpSpecialize = "tt.no_warp_specialize"; ///< warp_specialize=False, written out
inline constexpr llvm::StringLiteral kScheduledStage = "tt.scheduled_max_stage"; ///< the last stage of a pipelined loop

} // namespace nereid::tt
