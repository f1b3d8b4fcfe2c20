// Maps IR types to rows of the table of element types and back.
// SPDX-License-Identifier: MIT
#include "compiler/dialect/tt/Elements.h"

#include "compiler/dialect/tt/Dialect.h"

using namespace mlir;
using namespace nereid;
using namespace nereid::artifact;

template <typename IrType> static Type irType(MLIRContext *context, unsigned bits) {
  if constexpr (std::is_same_v<IrType, IntegerType>)
    return IntegerType::get(context, bits);
  else
    return IrType::get(context);
}

Type tt::irTypeOf(ElementType type, MLIRContext *context) {
  switch (type) {
#define ELEMENT(id, IrType, signature, name, otherNames, bits, ...)                                                    \
  case ElementType::id:                                                                                                \
    return irType<IrType>(context, bits);
#include "artifact/ElementTypes.def"
  }
  llvm_unreachable("all element types are listed");
}

static std::optional<ElementType> floatElement(Type type) {
#define ELEMENT(id, IrType, ...)                                                                                       \
  if (!std::is_same_v<IrType, IntegerType> && isa<IrType>(type))                                                       \
    return ElementType::id;
#include "artifact/ElementTypes.def"
  return std::nullopt;
}

const ElementInfo *tt::elementInfoOf(Type element) {
  std::optional<ElementType> type;
  if (auto integer = dyn_cast<IntegerType>(element))
    type = integer.getWidth() == 1 ? ElementType::Int1 : integerElement(!integer.isUnsigned(), integer.getWidth());
  else if (isa<FloatType>(element))
    type = floatElement(element);
  return type ? &infoOf(*type) : nullptr;
}

int64_t tt::storageBytes(Type element, int64_t count) {
  assert(!isa<ShapedType>(element) && "a tile is no element");
  return bytesOfBits(memoryBits(element) * count);
}

unsigned tt::storageBytes(Type element) { return storageBytes(element, 1); }

int64_t tt::tileBytes(ShapedType type) { return storageBytes(type.getElementType(), type.getNumElements()); }

bool tt::isFp8(Type element) {
  const ElementInfo *info = elementInfoOf(element);
  return info && info->isFp8();
}

bool tt::isFnuzFp8(Type element) { return isFp8(element) && elementInfoOf(element)->special == SpecialValues::Fnuz; }

bool tt::isOcpFp8(Type element) { return isa<Float8E5M2Type, Float8E4M3FNType>(element); }

bool tt::isE4m3(Type element) { return isFp8(element) && elementInfoOf(element)->mantissaBits == 3; }
