// The classes of layouts of buffers in shared memory.
// SPDX-License-Identifier: MIT
#include "compiler/dialect/ttg/Dialect.h"
#include "compiler/sema/gluon/Layouts.h"
#include "compiler/sema/gluon/Names.h"

using mlir::Attribute;

namespace nereid::sema {
namespace {

using Fields = std::optional<std::vector<Value>>;
using Extents = llvm::ArrayRef<unsigned>;

Attribute encodeSwizzled(LayoutFields &fields) {
  const unsigned vec = fields.number("vec"), perPhase = fields.number("per_phase"),
                 maxPhase = fields.number("max_phase");
  const auto order = fields.numbers("order");
  return fields.checked([&](auto emitError) {
    return ttg::SwizzledSharedAttr::getChecked(emitError, fields.context, vec, perPhase, maxPhase, Extents(order));
  });
}

Fields decodeSwizzled(Attribute encoding) {
  auto swizzled = llvm::dyn_cast<ttg::SwizzledSharedAttr>(encoding);
  if (!swizzled)
    return std::nullopt;
  return std::vector<Value>{Value::integer(swizzled.getVec()), Value::integer(swizzled.getPerPhase()),
                            Value::integer(swizzled.getMaxPhase()), numbersValue(swizzled.getOrder()),
                            Value::tuple({})};
}

std::optional<Value> noAttribute(llvm::ArrayRef<Value>, llvm::StringRef) { return std::nullopt; }

} // namespace

llvm::ArrayRef<LayoutClass> sharedLayouts() {
  static constexpr llvm::StringLiteral swizzled[] = {"vec", "per_phase", "max_phase", "order", "cga_layout"};
  static const LayoutClass table[] = {
      {{"SwizzledSharedLayout", swizzled, sharedLayoutModule, noAttribute, true},
       LayoutKind::Shared,
       {{"vec"}, {"per_phase"}, {"max_phase"}, {"order"}, {"cga_layout", "()"}},
       "Rows whose vectors are permuted by XOR with the row.",
       encodeSwizzled,
       decodeSwizzled},
  };
  return table;
}

} // namespace nereid::sema
