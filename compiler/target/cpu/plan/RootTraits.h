// What an op that is the root of a nest means to the plan, and which object emits it.
// SPDX-License-Identifier: MIT
//
// The plan knows no such op by name: it finds the record in a table (emit/roots/RootTable.cpp). An op's record is in
// the file that emits it.
#pragma once

#include "mlir/IR/Operation.h"

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/Support/raw_ostream.h"

#include <memory>
#include <string>

namespace nereid::cpu {

class RootEmitter;
struct NestContext;
struct Root;

/// Text of the memory that a pointer addresses, as the plan is printed.
using AccessText = llvm::function_ref<std::string(mlir::Value)>;

struct RootTraits {
  bool (*matches)(mlir::Operation *op) = nullptr;
  /// Of the buffers of its results of rank 1 and more.
  const char *purpose = "";
  bool skipsUnused = false; ///< an unused result has no buffer
  bool isWrite = false;     ///< the op writes memory of the kernel's arguments
  bool isAlone = false;     ///< it shares its nest with no other root
  bool isOrdered = false;   ///< each element along the axis needs the result of the one before
  /// The dimension that the op combines elements of; null: none.
  unsigned (*axis)(mlir::Operation *op) = nullptr;
  /// Whether an ordered op starts at the axis's last index; null: never.
  bool (*isReverse)(mlir::Operation *op) = nullptr;
  /// Whether lanes are processed one by one, so that a chunk of several registers has no benefit; null: never.
  bool (*isLaneByLane)(mlir::Operation *op, int vectorDim) = nullptr;
  /// Whether all chunks must have the same number of lanes; null: no.
  bool (*needsEqualChunks)(mlir::Operation *op, int vectorDim) = nullptr;
  /// Whether equal elements may be combined once for all; null: no.
  bool (*isIdempotent)(mlir::Operation *op) = nullptr;
  /// Prints the op in the plan's text, less its buffers; null: its name.
  void (*print)(llvm::raw_ostream &out, mlir::Operation *op, AccessText access) = nullptr;
  std::unique_ptr<RootEmitter> (*emitter)(NestContext &nest, const Root &root) = nullptr;
};

using RootTable = llvm::ArrayRef<const RootTraits *>;

/// For `matches`.
template <class... Ops> bool isOp(mlir::Operation *op) { return llvm::isa<Ops...>(op); }

} // namespace nereid::cpu
