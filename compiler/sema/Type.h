// Triton's types, which add signedness and constness to IR types.
// SPDX-License-Identifier: MIT
#pragma once

#include "artifact/ElementType.h"

#include "mlir/IR/Attributes.h"
#include "mlir/IR/Types.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"

#include <optional>
#include <string>

namespace nereid::sema {

using Scalar = artifact::ElementType;
using artifact::infoOf;

inline llvm::StringRef nameOf(Scalar scalar) { return infoOf(scalar).name; }                   ///< "float32"
inline llvm::StringRef abbreviationOf(Scalar scalar) { return infoOf(scalar).abbreviation(); } ///< "fp32", "int32"
inline llvm::StringRef signatureOf(Scalar scalar) { return infoOf(scalar).signature; }         ///< "fp32", "i32", "u1"
inline unsigned bitsOf(Scalar scalar) { return infoOf(scalar).bits; }
inline bool isFloating(Scalar scalar) { return infoOf(scalar).isFloat(); }
inline bool isFp8(Scalar scalar) { return infoOf(scalar).isFp8(); }
bool isInteger(Scalar scalar);                              ///< any integer, bool included
bool isSignedInteger(Scalar scalar);                        ///< int8 .. int64
bool isUnsignedInteger(Scalar scalar);                      ///< uint8 .. uint64 and bool
std::optional<Scalar> scalarFromName(llvm::StringRef name); ///< of "float32"
Scalar integerOf(unsigned bits, bool isSigned);

/// Where a tile's elements are. Only Gluon's language has tiles outside of registers.
enum class Memory { Registers, Shared };

/// The type of a tile, a scalar or a pointer. A tile has a shape of at least
/// one dimension; a scalar has none.
struct Type {
  Scalar scalar = Scalar::Void; ///< the element, or what a pointer points to
  bool isPointer = false;
  bool isConst = false;       ///< a pointer that cannot be stored through
  bool isDescriptor = false;  ///< the handle of a tensor descriptor; the shape is that of its blocks
  bool pointsToBlock = false; ///< the type of a block pointer; the shape is that of its blocks
  llvm::SmallVector<int64_t, 4> shape;
  // --- In Gluon's language ---
  mlir::Attribute layout;                   ///< of a tile: an encoding of `ttg` or `gluon`; null in Triton's language
  Memory memory = Memory::Registers;        ///< `Shared`: a descriptor of a buffer, `!ttg.memdesc`
  std::string layoutName;                   ///< of a descriptor in a signature: "NVMMASharedLayout(...)"
  llvm::SmallVector<int64_t, 4> allocation; ///< the shape of the buffer that a descriptor is a view of

  Type() = default;
  Type(Scalar scalar) : scalar(scalar) {}
  static Type pointerTo(Scalar pointee, bool isConst = false);

  bool operator==(const Type &) const = default;
  /// Of elements in registers, which can be computed with.
  bool isTile() const { return !shape.empty() && !isDescriptor && !pointsToBlock && !isShared(); }
  bool isShared() const { return memory == Memory::Shared; }
  int64_t elementCount() const;
  unsigned bits() const { return isPointer ? 64 : bitsOf(scalar); }
  bool isFloat() const { return !isPointer && isFloating(scalar); }
  bool isInt() const { return !isPointer && isInteger(scalar); }
  bool isBool() const { return !isPointer && scalar == Scalar::Int1; }
  Type element() const; ///< without the shape
  /// The same element in another shape, whose layout is not known yet.
  Type withShape(llvm::ArrayRef<int64_t> extents) const;
  Type withScalar(Scalar other) const; ///< another element in this shape and layout; no pointer
  Type withLayout(mlir::Attribute other) const;
  /// A buffer in shared memory of that shape and element; `layout` is an encoding of shared memory.
  static Type shared(Scalar element, llvm::ArrayRef<int64_t> shape, mlir::Attribute layout,
                     llvm::ArrayRef<int64_t> allocation);
  Type asDescriptor() const;   ///< of blocks of this tile type
  Type asBlockPointer() const; ///< of a block of this tile of pointers

  /// As error messages print it: "int32", "pointer<fp32>", "fp32[64, 64]" of a tile.
  std::string str() const;
  /// The type in names of specialised functions: "i32", "Pfp32", "fp32S16_32S".
  std::string mangle() const;
  mlir::Type toMlir(mlir::MLIRContext *context) const;
  /// From "*fp32", "*kfp32", "i32", "tensordesc<fp16[64, 64]>"; nothing for any other text.
  static std::optional<Type> fromSignature(llvm::StringRef text);
};

} // namespace nereid::sema
