// Helpers of the emitters of built-ins: arguments as tensors, results as values.
// SPDX-License-Identifier: MIT
#pragma once

#include "compiler/sema/CallReporter.h"

namespace nereid::sema {

inline constexpr llvm::StringLiteral languageModule = "triton.language";
inline constexpr llvm::StringLiteral mathModule = "triton.language.math";
/// The module of built-ins that only tensors have: `x.to(...)`, `x.item()`.
inline constexpr llvm::StringLiteral tensorModule = "triton.language.tensor";
inline constexpr llvm::StringLiteral libdeviceModule = "triton.language.extra.libdevice";
/// The module of Python's own built-ins.
inline constexpr llvm::StringLiteral pythonModule = "builtins";

inline mlir::OpBuilder &builderOf(const CallSite &site) { return site.emitter.builder; }
inline mlir::Location locationOf(const CallSite &site) { return site.emitter.location(site.range); }

/// A tensor or a number as a tensor; poison after an error.
inline Value tensorArgument(const CallSite &site, llvm::StringRef parameter) {
  return site.emitter.toTensor(site[parameter], site.rangeOf(parameter));
}

/// Arguments that must be constants; nothing after an error.
inline std::optional<int64_t> intArgument(const CallSite &site, llvm::StringRef parameter) {
  return site.emitter.constantInt(site[parameter], site.rangeOf(parameter), parameter);
}
inline std::optional<bool> boolArgument(const CallSite &site, llvm::StringRef parameter) {
  return site.emitter.constantBool(site[parameter], site.rangeOf(parameter), parameter);
}
inline std::optional<std::string> textArgument(const CallSite &site, llvm::StringRef parameter) {
  return site.emitter.constantString(site[parameter], site.rangeOf(parameter), parameter);
}
/// The same where None counts as "".
inline std::optional<std::string> textOption(const CallSite &site, llvm::StringRef parameter) {
  return site[parameter].isNone() ? std::string() : textArgument(site, parameter);
}
/// One number or several: `f(x, 4, 8)` or `f(x, (4, 8))`.
inline std::optional<llvm::SmallVector<int64_t>> intsArgument(const CallSite &site, llvm::StringRef parameter) {
  return site.emitter.constantInts(site[parameter], site.rangeOf(parameter), parameter);
}
inline std::optional<Type> typeArgument(const CallSite &site, llvm::StringRef parameter) {
  return site.emitter.constantType(site[parameter], site.rangeOf(parameter), parameter);
}

/// Emits `Op` at a call.
template <typename Op, typename... Args> Value emitOp(const CallSite &site, const Type &type, const Args &...args) {
  return site.emitter.emit<Op>(type, site.range, args...);
}

/// Reports rules of an op that the operands of a call break; `types` are those that messages name.
inline CallReporter reporterOf(const CallSite &site, std::initializer_list<Type> types = {}) {
  return CallReporter(site.emitter, site.range, types);
}

} // namespace nereid::sema
