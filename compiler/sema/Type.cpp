// Names, widths and IR types of Triton's types.
// SPDX-License-Identifier: MIT
#include "compiler/sema/Type.h"

#include "compiler/dialect/tt/Dialect.h"
#include "compiler/dialect/tt/TypeName.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/raw_ostream.h"

namespace nereid::sema {
namespace {

struct ScalarInfo {
  llvm::StringLiteral name, abbreviation, signature;
  unsigned bits;
  ScalarKind kind;
};

constexpr ScalarInfo scalarInfos[] = {
#define SCALAR(id, name, abbreviation, signature, bits, kind) {name, abbreviation, signature, bits, ScalarKind::kind},
#include "compiler/sema/Scalars.def"
};
constexpr unsigned scalarCount = std::size(scalarInfos);

const ScalarInfo &infoOf(Scalar scalar) { return scalarInfos[static_cast<unsigned>(scalar)]; }

mlir::Type elementToMlir(Scalar scalar, mlir::MLIRContext *context) {
  switch (scalar) {
  case Scalar::Void:
    return mlir::NoneType::get(context);
  case Scalar::Float8E5:
    return mlir::Float8E5M2Type::get(context);
  case Scalar::Float8E5B16:
    return mlir::Float8E5M2FNUZType::get(context);
  case Scalar::Float8E4NV:
    return mlir::Float8E4M3FNType::get(context);
  case Scalar::Float8E4B8:
    return mlir::Float8E4M3FNUZType::get(context);
  case Scalar::Float16:
    return mlir::Float16Type::get(context);
  case Scalar::BFloat16:
    return mlir::BFloat16Type::get(context);
  case Scalar::Float32:
    return mlir::Float32Type::get(context);
  case Scalar::Float64:
    return mlir::Float64Type::get(context);
  case Scalar::Int1:
  case Scalar::Float8E4B15: // no IR type has this format: it is held as its bits
  case Scalar::Int8:
  case Scalar::Int16:
  case Scalar::Int32:
  case Scalar::Int64:
  case Scalar::UInt8:
  case Scalar::UInt16:
  case Scalar::UInt32:
  case Scalar::UInt64:
    return mlir::IntegerType::get(context, bitsOf(scalar));
  }
  llvm_unreachable("a scalar outside Scalars.def");
}

} // namespace

llvm::StringRef nameOf(Scalar scalar) { return infoOf(scalar).name; }
llvm::StringRef abbreviationOf(Scalar scalar) { return infoOf(scalar).abbreviation; }
llvm::StringRef signatureOf(Scalar scalar) { return infoOf(scalar).signature; }
unsigned bitsOf(Scalar scalar) { return infoOf(scalar).bits; }
ScalarKind kindOf(Scalar scalar) { return infoOf(scalar).kind; }
bool isFloating(Scalar scalar) { return kindOf(scalar) == ScalarKind::Floating; }
bool isFp8(Scalar scalar) { return isFloating(scalar) && bitsOf(scalar) == 8; }
bool isInteger(Scalar scalar) { return kindOf(scalar) == ScalarKind::Integer || kindOf(scalar) == ScalarKind::Boolean; }
bool isSignedInteger(Scalar scalar) { return Scalar::Int8 <= scalar && scalar <= Scalar::Int64; }
bool isUnsignedInteger(Scalar scalar) { return isInteger(scalar) && !isSignedInteger(scalar); }

std::optional<Scalar> scalarFromName(llvm::StringRef name) {
  for (unsigned index = 0; index < scalarCount; ++index)
    if (scalarInfos[index].name == name)
      return static_cast<Scalar>(index);
  return std::nullopt;
}

std::optional<Scalar> scalarFromSignature(llvm::StringRef text) {
  if (text == "i1" || text == "B")
    return Scalar::Int1;
  for (unsigned index = 1; index < scalarCount; ++index) // not "void"
    if (scalarInfos[index].signature == text)
      return static_cast<Scalar>(index);
  return std::nullopt;
}

Scalar integerOf(unsigned bits, bool isSigned) {
  switch (bits) {
  case 1:
    return Scalar::Int1;
  case 8:
    return isSigned ? Scalar::Int8 : Scalar::UInt8;
  case 16:
    return isSigned ? Scalar::Int16 : Scalar::UInt16;
  case 32:
    return isSigned ? Scalar::Int32 : Scalar::UInt32;
  default:
    assert(bits == 64 && "no integer type has this width");
    return isSigned ? Scalar::Int64 : Scalar::UInt64;
  }
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
  type.shape.assign(extents.begin(), extents.end());
  return type;
}

Type Type::withScalar(Scalar other) const {
  Type type(other);
  type.shape = shape;
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
  mlir::Type element = elementToMlir(type.scalar, context);
  if (isInteger(type.scalar) && type.scalar != Scalar::Int1)
    element =
        mlir::IntegerType::get(context, bitsOf(type.scalar),
                               isSignedInteger(type.scalar) ? mlir::IntegerType::Signed : mlir::IntegerType::Unsigned);
  return tt::TensorDescType::get(context, mlir::RankedTensorType::get(type.shape, element));
}

std::string Type::str() const {
  const llvm::StringRef scalarName = abbreviationOf(scalar);
  if (pointsToBlock)
    return tt::pointerName(tt::tileName(scalarName, shape), isConst);
  const std::string tile = tt::tileName(isPointer ? tt::pointerName(scalarName, isConst) : scalarName.str(), shape);
  return isDescriptor ? tt::descriptorName(tile) : tile;
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
  return text;
}

mlir::Type Type::toMlir(mlir::MLIRContext *context) const {
  if (isDescriptor)
    return descriptorToMlir(*this, context);
  mlir::Type element = elementToMlir(scalar, context);
  if (isPointer)
    element = tt::PointerType::get(element);
  if (!isTile())
    return element;
  return mlir::RankedTensorType::get(shape, element);
}

/// Parses "fp16[128, 64]".
static std::optional<Type> descriptorFromSignature(llvm::StringRef text) {
  auto [element, extents] = text.split('[');
  std::optional<Scalar> scalar = scalarFromSignature(element);
  if (!scalar || !extents.consume_back("]"))
    return std::nullopt;
  Type type(*scalar);
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
  std::optional<Scalar> scalar = scalarFromSignature(text);
  if (!scalar)
    return std::nullopt;
  return isPointer ? pointerTo(*scalar, isConst) : Type(*scalar);
}

} // namespace nereid::sema
