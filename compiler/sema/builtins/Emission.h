// Helpers of the emitters of built-ins: arguments as tensors, results as values.
// SPDX-License-Identifier: MIT
#pragma once

#include "compiler/sema/TtFunctionEmitter.h"

#include <initializer_list>

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

/// `Op` on the IR values of `operands`, all of them tensors; the result has `type`.
template <typename Op, typename... Args>
Value emitOp(const CallSite &site, const Type &type, std::initializer_list<Value> operands, Args &&...args) {
  llvm::SmallVector<mlir::Value> values;
  for (const Value &operand : operands)
    values.push_back(operand.tensor()->value);
  mlir::Type irType = type.toMlir(builderOf(site).getContext());
  return Value::tensor(Op::create(builderOf(site), locationOf(site), mlir::TypeRange(irType), mlir::ValueRange(values),
                                  std::forward<Args>(args)...)
                           ->getResult(0),
                       type);
}

} // namespace nereid::sema
