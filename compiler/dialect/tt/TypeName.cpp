// Spells types for messages to users.
// SPDX-License-Identifier: MIT
#include "compiler/dialect/tt/TypeName.h"

#include "compiler/dialect/tt/Dialect.h"
#include "compiler/dialect/tt/Elements.h"

#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace nereid;

std::string tt::shapeText(ArrayRef<int64_t> extents) {
  std::string text;
  llvm::raw_string_ostream os(text);
  os << '[';
  llvm::interleaveComma(extents, os);
  os << ']';
  return text;
}

std::string tt::tileName(StringRef element, ArrayRef<int64_t> extents) {
  return extents.empty() ? element.str() : element.str() + shapeText(extents);
}

std::string tt::pointerName(StringRef pointee, bool isConst) {
  return ((isConst ? "const_pointer<" : "pointer<") + pointee + ">").str();
}

std::string tt::descriptorName(StringRef block) { return ("tensor_descriptor<" + block + ">").str(); }

static std::string floatName(FloatType type) {
  const artifact::ElementInfo *info = tt::elementInfoOf(type);
  return info ? std::string(info->signature) : "fp" + std::to_string(type.getWidth());
}

std::string tt::userName(Type type) {
  return llvm::TypeSwitch<Type, std::string>(type)
      .Case([](IntegerType integer) {
        return (integer.isUnsigned() ? "uint" : "int") + std::to_string(integer.getWidth());
      })
      .Case([](FloatType element) { return floatName(element); })
      .Case([](RankedTensorType tile) { return tileName(userName(tile.getElementType()), tile.getShape()); })
      .Case([](tt::PointerType pointer) { return pointerName(userName(pointer.getPointee())); })
      .Case([](tt::TensorDescType descriptor) { return descriptorName(userName(descriptor.getBlockType())); })
      .Case([](NoneType) { return "void"; })
      .Default([](Type other) {
        std::string text;
        llvm::raw_string_ostream(text) << other;
        return text;
      });
}
