// Checks of operands and accumulators that dot and dot_scaled share.
// SPDX-License-Identifier: MIT
#pragma once

#include "compiler/sema/builtins/Emission.h"

namespace nereid::sema {

Builtin dotScaledBuiltin();
Value zeroTile(const CallSite &site, const Type &type);
/// An argument that must be a tile of numbers; nothing after an error.
std::optional<Value> tileArgument(const CallSite &site, llvm::StringRef parameter);
/// Reports an `acc` of another type and returns false.
bool checkAccumulator(const CallSite &site, const Value &acc, const Type &type);
/// How f32 operands are rounded where the call does not say it: as the options of the compilation have it.
std::optional<tt::InputPrecision> defaultPrecision(const CallSite &site);
/// Whether these elements are multiplied; reports an error otherwise. Parameters are named `left` and `right`.
bool checkDotElements(const CallSite &site, Scalar a, Scalar b, llvm::StringRef left, llvm::StringRef right);

/// The parameters of one side of a dot of microscaling formats.
struct ScaledOperandNames {
  llvm::StringRef tile, scale, format;
  llvm::StringRef kPack; ///< empty: packed along K, and a number may be the scale of all values
  unsigned depthFromEnd; ///< position of K, counted from the last dimension
};

/// One side, its extents counted in values.
struct ScaledOperand {
  Value tile, scale; ///< `scale` may be None
  tt::ScaleDotElemType format = tt::ScaleDotElemType::E4M3;
  bool isKPacked = true;
  int64_t outer = 0, depth = 0; ///< M or N, and K
  int64_t factor = 0;           ///< values per scale; 0 without one
};

/// Nothing after an error.
std::optional<ScaledOperand> scaledOperand(const CallSite &site, const ScaledOperandNames &names);
/// Whether both sides have one K and one number of values per scale; reports an error otherwise.
bool agreeInDepth(const CallSite &site, const ScaledOperand &left, const ScaledOperand &right);
/// The dot, added to the argument `acc`, or to zero.
Value emitScaledDot(const CallSite &site, const ScaledOperand &left, const ScaledOperand &right, bool isFast);

} // namespace nereid::sema
