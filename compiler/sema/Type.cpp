// Names, widths and IR types of Triton's types.
// SPDX-License-Identifier: MIT
#include "compiler/sema/Type.h"

#include "compiler/dialect/tt/Dialect.h"
#include "compiler/dialect/tt/Elements.h"
#include "compiler/dialect/tt/TypeName.h"
#include "compiler/dialect/ttg/Dialect.h"
#include "compiler/sema/gluon/Layouts.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/raw_ostream.h"

namespace nereid::sema {
bool isInteger(Scalar scalar) { return scalar == Scalar::Int1 || infoOf(scalar).isInteger(); }
bool isSignedInteger(Scalar scalar) { return infoOf(scalar).kind == artifact::ElementKind::Signed; }
bool isUnsignedInteger(Scalar scalar) { return isInteger(scalar) && !isSignedInteger(scalar); }

std::optional<Scalar> scalarFromName(llvm::StringRef name) {
  for (const artifact::ElementInfo &info : artifact::kElementTypes)
    if (nameOf(info.type) == name)
      return info.type;
  return std::nullopt;
}

Scalar integerOf(unsigned bits, bool isSigned) {
  if (bits == 1)
    return Scalar::Int1;
  const auto integer = artifact::integerElement(isSigned, bits);
  assert(integer && "no integer type has this width");
  return *integer;
}

Type Type::pointerTo(Scalar pointee, bool isConst) {
  Type type(pointee);
  type.isPointer = true;
  type.isConst = isConst;
  return type;
}

int64_t Type::elementCount() const {
  int64_t count = 1;
  for (int64_t extent : shape)
    count *= extent;
  return count;
}

Type Type::element() const { return pointsToBlock ? *this : withShape({}); }

Type Type::withShape(llvm::ArrayRef<int64_t> extents) const {
  Type type = *this;
  if (llvm::ArrayRef<int64_t>(shape) != extents) {
    type.layout = {};
    type.memory = Memory::Registers;
    type.allocation.clear();
  }
  type.shape.assign(extents.begin(), extents.end());
  return type;
}

Type Type::withLayout(mlir::Attribute other) const {
  Type type = *this;
  type.layout = other;
  return type;
}

Type Type::shared(Scalar element, llvm::ArrayRef<int64_t> shape, mlir::Attribute layout,
                  llvm::ArrayRef<int64_t> allocation) {
  Type type(element);
  type.shape.assign(shape.begin(), shape.end());
  type.layout = layout;
  type.memory = Memory::Shared;
  type.allocation.assign(allocation.begin(), allocation.end());
  return type;
}

Type Type::withScalar(Scalar other) const {
  Type type(other);
  type.shape = shape;
  type.layout = layout;
  type.memory = memory;
  type.allocation = allocation;
  return type;
}

Type Type::asDescriptor() const {
  Type type = *this;
  type.isDescriptor = true;
  return type;
}

Type Type::asBlockPointer() const {
  Type type = *this;
  type.pointsToBlock = true;
  return type;
}

/// Elements of descriptors are signed or unsigned integers.
static mlir::Type descriptorToMlir(const Type &type, mlir::MLIRContext *context) {
  mlir::Type element = tt::irTypeOf(type.scalar, context);
  if (isInteger(type.scalar) && type.scalar != Scalar::Int1)
    element =
        mlir::IntegerType::get(context, bitsOf(type.scalar),
                               isSignedInteger(type.scalar) ? mlir::IntegerType::Signed : mlir::IntegerType::Unsigned);
  return tt::TensorDescType::get(context, mlir::RankedTensorType::get(type.shape, element, type.layout));
}

std::string Type::str() const {
  const llvm::StringRef scalarName = abbreviationOf(scalar);
  if (pointsToBlock)
    return tt::pointerName(tt::tileName(scalarName, shape), isConst);
  const std::string tile = tt::tileName(isPointer ? tt::pointerName(scalarName, isConst) : scalarName.str(), shape);
  if (isDescriptor)
    return tt::descriptorName(tile);
  return layout ? tile + " in " + layoutText(layout) : tile;
}

std::string Type::mangle() const {
  std::string text;
  llvm::raw_string_ostream os(text);
  if (isDescriptor)
    os << "TD";
  if (isPointer)
    os << (isConst ? "Pk" : "P");
  if (pointsToBlock)
    os << "B";
  os << signatureOf(scalar);
  if (!shape.empty()) {
    os << 'S';
    llvm::interleave(shape, os, "_");
    os << 'S';
  }
  if (isShared())
    os << "M";
  if (layout)
    os << 'L' << layoutText(layout);
  if (isShared() && allocation != shape) {
    os << 'A';
    llvm::interleave(allocation, os, "_");
  }
  return text;
}

mlir::Type Type::toMlir(mlir::MLIRContext *context) const {
  if (isDescriptor)
    return descriptorToMlir(*this, context);
  mlir::Type element = tt::irTypeOf(scalar, context);
  if (isPointer)
    element = tt::PointerType::get(element);
  if (isShared())
    return ttg::MemDescType::get(context, shape, element, layout, ttg::SharedMemoryAttr::get(context),
                                 /*mutableMemory=*/true, allocation);
  if (!isTile())
    return element;
  return mlir::RankedTensorType::get(shape, element, layout);
}

/// Parses "fp16[128, 64]", with a layout after a comma in Gluon's language.
static std::optional<Type> descriptorFromSignature(llvm::StringRef text) {
  auto [element, rest] = text.split('[');
  auto [extents, layout] = rest.split(']');
  std::optional<Scalar> scalar = artifact::elementOfSignature(element);
  if (!scalar || !text.contains(']') || (!layout.empty() && !layout.consume_front(",")))
    return std::nullopt;
  Type type(*scalar);
  type.layoutName = layout.trim().str();
  for (llvm::StringRef extent : llvm::split(extents, ',')) {
    int64_t number;
    if (extent.trim().getAsInteger(10, number) || number <= 0)
      return std::nullopt;
    type.shape.push_back(number);
  }
  return type.asDescriptor();
}

std::optional<Type> Type::fromSignature(llvm::StringRef text) {
  if (text.consume_front("tensordesc<"))
    return text.consume_back(">") ? descriptorFromSignature(text) : std::nullopt;
  const bool isPointer = text.consume_front("*");
  const bool isConst = isPointer && text.consume_front("k");
  std::optional<Scalar> scalar = artifact::elementOfSignature(text);
  if (!scalar)
    return std::nullopt;
  return isPointer ? pointerTo(*scalar, isConst) : Type(*scalar);
}

} // namespace nereid::sema
