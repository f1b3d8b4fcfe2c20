// Block pointers and tensor descriptors as values: their parts, and what accesses through them need.
// SPDX-License-Identifier: MIT
#pragma once

#include "compiler/sema/builtins/Emission.h"

namespace nereid::sema {

const RecordClass &blockPointerClass();
const RecordClass &descriptorClass();

/// Where the parts of a block pointer are; integers are int64 tensors but for those that are part of its type.
struct BlockPointerField {
  enum { Base, Shape, Strides, Offsets, BlockShape, Order };
};
/// Where the parts of a descriptor are: the value of the descriptor's type, int32 extents, int64 strides.
struct DescriptorField {
  enum { Handle, Shape, Strides };
};

/// A tuple or list of ints as scalar tensors of `type`; nothing after an error.
std::optional<std::vector<Value>> integersArgument(const CallSite &site, llvm::StringRef parameter, Scalar type);

/// What a load or store through a block pointer comes down to.
struct BlockAccess {
  Value pointer; ///< a tile of pointers
  Value mask;    ///< None where nothing is checked
};
/// The access that the call asks for by its `boundary_check`; nothing after an error.
std::optional<BlockAccess> blockAccess(const CallSite &site, llvm::ArrayRef<Value> parts);

/// The number that `padding_option` puts outside of the array, None where it does not say; nothing after an error.
std::optional<Value> paddingArgument(const CallSite &site, Scalar element);

} // namespace nereid::sema
