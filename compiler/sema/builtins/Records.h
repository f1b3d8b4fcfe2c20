// Block pointers and tensor descriptors as values: their parts, and the operands of accesses through them.
// SPDX-License-Identifier: MIT
#pragma once

#include "compiler/sema/builtins/Emission.h"

namespace nereid::sema {

const RecordClass &blockPointerClass();
const RecordClass &descriptorClass();

/// Indices of the parts of a block pointer; integers are int64 tensors except for those that are part of its type.
struct BlockPointerField {
  enum { Base, Shape, Strides, Offsets, BlockShape, Order };
};
/// Indices of the parts of a descriptor: the value of the descriptor's type, int32 extents, int64 strides.
struct DescriptorField {
  enum { Handle, Shape, Strides };
};

/// A tuple or list of ints as scalar tensors of `type`; nothing after an error.
std::optional<std::vector<Value>> integersArgument(const CallSite &site, llvm::StringRef parameter, Scalar type);

/// The operands of a load or store through a block pointer.
struct BlockAccess {
  Value pointer; ///< a tile of pointers
  Value mask;    ///< None where nothing is checked
};
/// The access with the call's `boundary_check`; nothing after an error.
std::optional<BlockAccess> blockAccess(const CallSite &site, llvm::ArrayRef<Value> parts);

/// Emits a descriptor of blocks, in Gluon's language with the layout of their buffers.
Value makeDescriptor(const CallSite &site, mlir::Attribute layout = {});

/// The value of `padding_option` outside of the array, None where it is not given; nothing after an error.
std::optional<Value> paddingArgument(const CallSite &site, Scalar element);

} // namespace nereid::sema
