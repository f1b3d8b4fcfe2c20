// Registers the `tt` dialect: types, ops, constants and the inlining of its functions.
// SPDX-License-Identifier: MIT
#include "compiler/dialect/tt/Dialect.h"

#include "compiler/dialect/tt/Elements.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/Transforms/InliningUtils.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace nereid::tt;

#include "compiler/dialect/tt/Dialect.cpp.inc"
#include "compiler/dialect/tt/Enums.cpp.inc"
#include "compiler/dialect/tt/Interfaces.cpp.inc"

#define GET_ATTRDEF_CLASSES
#include "compiler/dialect/tt/Attrs.cpp.inc"

#define GET_TYPEDEF_CLASSES
#include "compiler/dialect/tt/Types.cpp.inc"

Type nereid::tt::withElement(Type type, Type element) {
  if (auto tile = dyn_cast<RankedTensorType>(type))
    return tile.clone(element);
  return element;
}

Type nereid::tt::elementOf(Type type) {
  if (auto tile = dyn_cast<RankedTensorType>(type))
    return tile.getElementType();
  return type;
}

Type nereid::tt::i1Like(Type type) { return withElement(type, IntegerType::get(type.getContext(), 1)); }

Type nereid::tt::pointeeLike(Type type) {
  auto pointer = dyn_cast<PointerType>(elementOf(type));
  return pointer ? withElement(type, pointer.getPointee()) : Type();
}

ArrayRef<int64_t> nereid::tt::shapeOf(Type type) {
  if (auto tile = dyn_cast<RankedTensorType>(type))
    return tile.getShape();
  return {};
}

unsigned nereid::tt::memoryBits(Type element) {
  if (const artifact::ElementInfo *info = elementInfoOf(element))
    return info->storageBits();
  return element.isIntOrFloat() ? std::max(8u, element.getIntOrFloatBitWidth()) : 64;
}

bool nereid::tt::isElement(Type type) {
  return isa<PointerType>(type) || (elementInfoOf(type) && !type.isSignedInteger() && !type.isUnsignedInteger());
}

LogicalResult PointerType::verify(function_ref<InFlightDiagnostic()> emitError, Type pointee, int) {
  auto tile = dyn_cast<RankedTensorType>(pointee);
  if (isElement(pointee) || (tile && tile.hasStaticShape() && isElement(tile.getElementType())))
    return success();
  return emitError() << "nothing can point to " << pointee << "; only to a number, a pointer or a tile of them";
}

namespace {
/// Every `tt` function may be inlined unless it is marked noinline.
struct TtInliner : DialectInlinerInterface {
  using DialectInlinerInterface::DialectInlinerInterface;

  bool isLegalToInline(Operation *call, Operation *callable, bool) const final {
    auto noinline = callable->getAttrOfType<BoolAttr>("noinline");
    return !(noinline && noinline.getValue());
  }
  bool isLegalToInline(Region *, Region *, bool, IRMapping &) const final { return true; }
  bool isLegalToInline(Operation *, Region *, bool, IRMapping &) const final { return true; }

  void handleTerminator(Operation *op, ValueRange results) const final {
    for (auto [result, value] : llvm::zip_equal(results, cast<ReturnOp>(op).getValues()))
      result.replaceAllUsesWith(value);
  }
};
} // namespace

void TtDialect::initialize() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "compiler/dialect/tt/Attrs.cpp.inc"
      >();
  addTypes<
#define GET_TYPEDEF_LIST
#include "compiler/dialect/tt/Types.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "compiler/dialect/tt/Ops.cpp.inc"
      >();
  addInterfaces<TtInliner>();
}

Operation *TtDialect::materializeConstant(OpBuilder &builder, Attribute value, Type type, Location loc) {
  return arith::ConstantOp::materialize(builder, value, type, loc);
}
