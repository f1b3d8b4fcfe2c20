// Registers the `gluon` dialect and says how shape ops carry on its encodings.
// SPDX-License-Identifier: MIT
#include "compiler/dialect/gluon/Dialect.h"

#include "compiler/dialect/tt/EncodingRules.h"
#include "compiler/dialect/tt/Inlinable.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "mlir/IR/OpImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace nereid;
using namespace nereid::gluon;

#include "compiler/dialect/gluon/Dialect.cpp.inc"

#define GET_ATTRDEF_CLASSES
#include "compiler/dialect/gluon/Attrs.cpp.inc"

#define GET_OP_CLASSES
#include "compiler/dialect/gluon/Ops.cpp.inc"

bool gluon::isOpen(Attribute encoding) { return isa_and_nonnull<AutoAttr, CoalescedAttr>(encoding); }

LogicalResult SetAutoLayoutOp::verify() {
  if (!isOpen(cast<RankedTensorType>(getSrc().getType()).getEncoding())) // C1
    return emitOpError("source ") << getSrc().getType() << " has a layout already; ttg.convert_layout changes it";
  return success();
}

namespace {
/// What is computed from a tile of an open layout has an open layout, too.
struct Rules : tt::EncodingRules {
  using EncodingRules::EncodingRules;

  Attribute reduced(RankedTensorType tile, unsigned) const final { return tile.getEncoding(); }
  Attribute expanded(RankedTensorType tile, unsigned) const final { return tile.getEncoding(); }
  Attribute transposed(RankedTensorType tile, ArrayRef<int32_t>) const final { return tile.getEncoding(); }
  Attribute reshaped(RankedTensorType tile, ArrayRef<int64_t>) const final { return tile.getEncoding(); }
  bool areEquivalent(Attribute a, Attribute b, ArrayRef<int64_t>) const final { return a == b; }
  bool areHalves(RankedTensorType half, RankedTensorType whole) const final {
    return half.getEncoding() == whole.getEncoding();
  }
};
} // namespace

void GluonDialect::initialize() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "compiler/dialect/gluon/Attrs.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "compiler/dialect/gluon/Ops.cpp.inc"
      >();
  addInterfaces<Rules, tt::Inlinable>();
}
