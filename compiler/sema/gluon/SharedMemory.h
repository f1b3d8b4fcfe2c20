// Buffers in shared memory as values of kernels.
// SPDX-License-Identifier: MIT
#pragma once

#include "compiler/dialect/ttg/Dialect.h"
#include "compiler/sema/Builtin.h"

namespace nereid::sema {

llvm::ArrayRef<Builtin> gluonSharedBuiltins();
llvm::ArrayRef<Builtin> gluonSharedGatherBuiltins();

/// Bytes of a buffer's elements in the shared memory of one CTA, as transfers count them.
int64_t bytesPerCta(const Type &buffer);

/// A view of a buffer as a value; its elements are of type `element`.
Value bufferValue(mlir::Value buffer, Scalar element);

/// The buffer that a call gives as `parameter`; null after an error.
const TensorValue *bufferArgument(const CallSite &site, llvm::StringRef parameter);

/// Whether the op keeps its rules; reports the first that it breaks as an error of the call, and erases the op.
bool keepsRules(const CallSite &site, mlir::Operation *op);

} // namespace nereid::sema
