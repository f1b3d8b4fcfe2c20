// Reads the layout of a descriptor that the host made, from the text of its type.
// SPDX-License-Identifier: MIT
#include "compiler/dialect/ttg/Dialect.h"
#include "compiler/sema/gluon/Layouts.h"

#include "mlir/IR/Diagnostics.h"

using mlir::Attribute;

namespace nereid::sema {

/// The number after `name=`, True and False as 1 and 0.
static std::optional<unsigned> fieldOf(llvm::StringRef text, llvm::StringRef name) {
  const size_t at = text.find((name + "=").str());
  if (at == llvm::StringRef::npos)
    return std::nullopt;
  llvm::StringRef value = text.drop_front(at + name.size() + 1);
  unsigned number = 0;
  if (!value.consumeInteger(10, number))
    return number;
  return value.starts_with("True") ? 1 : 0;
}

Attribute descriptorLayout(mlir::MLIRContext *context, llvm::StringRef text) {
  const auto swizzle = fieldOf(text, "swizzle_byte_width"), bits = fieldOf(text, "element_bitwidth"),
             rank = fieldOf(text, "rank"), isTransposed = fieldOf(text, "transposed");
  if (!text.starts_with("NVMMASharedLayout(") || !swizzle || !bits || !rank || !isTransposed)
    return {};
  auto unreported = [context] { return mlir::emitError(mlir::UnknownLoc::get(context)); };
  mlir::ScopedDiagnosticHandler silent(context, [](mlir::Diagnostic &) { return mlir::success(); });
  return ttg::NvmmaSharedAttr::getChecked(unreported, context, *swizzle, *isTransposed != 0, *bits, *rank,
                                          fieldOf(text, "fp4_padded").value_or(0) != 0, llvm::ArrayRef<unsigned>());
}

} // namespace nereid::sema
