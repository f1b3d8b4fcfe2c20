// The rules of ops about the types and attributes of their operands, each stated once: the verifier of an op asks them,
// and so does the front end before it creates the op.
// SPDX-License-Identifier: MIT
#pragma once

#include "compiler/dialect/tt/Dialect.h"
#include "compiler/support/Diagnostic.h"

namespace nereid::tt {

/// Reports a broken rule, and spells the types in the message as its readers know them: an op has those of the IR, a
/// kernel those of Triton, which have a sign.
class RuleReporter {
public:
  /// The type of an operand, by its position in the reporter's list.
  virtual std::string typeName(unsigned operand) const = 0;
  template <typename... Args> llvm::LogicalResult fail(const support::DiagnosticKind &kind, Args &&...args) const {
    report(kind, llvm::formatv(kind.format.data(), std::forward<Args>(args)...).str());
    return llvm::failure();
  }

protected:
  ~RuleReporter() = default;
  virtual void report(const support::DiagnosticKind &kind, std::string message) const = 0;
};

/// Reports at an op. The error has no code: who wrote the IR decides whether the user or the compiler is wrong.
class OpReporter final : public RuleReporter {
public:
  OpReporter(mlir::Operation *op, mlir::TypeRange operands) : op(op), operands(operands) {}
  explicit OpReporter(mlir::Operation *op) : OpReporter(op, op->getOperandTypes()) {}
  std::string typeName(unsigned operand) const override;

private:
  void report(const support::DiagnosticKind &kind, std::string message) const override;

  mlir::Operation *op;
  mlir::TypeRange operands;
};

using Shape = llvm::SmallVector<int64_t, 4>;
using ShapeRef = llvm::ArrayRef<int64_t>;

//--- shapes of results; nothing after an error ---------------------------------------------

Shape expandedShape(ShapeRef shape, int64_t axis);
Shape joinedShape(ShapeRef half);
llvm::FailureOr<Shape> permutedShape(ShapeRef shape, llvm::ArrayRef<int32_t> order, const RuleReporter &reporter);
llvm::FailureOr<Shape> splitShape(ShapeRef whole, const RuleReporter &reporter);
llvm::FailureOr<Shape> gatherShape(ShapeRef source, ShapeRef indices, int64_t axis, const RuleReporter &reporter);
/// [.., M, K] * [.., K, N] -> [.., M, N].
llvm::FailureOr<Shape> dotShape(ShapeRef a, ShapeRef b, const RuleReporter &reporter);

//--- checks --------------------------------------------------------------------------------

/// `first`: the first axis; -rank where axes may count from the end.
llvm::LogicalResult checkAxis(int64_t axis, int64_t rank, int64_t first, const RuleReporter &reporter);
llvm::LogicalResult checkRange(int64_t start, int64_t end, const RuleReporter &reporter);
llvm::LogicalResult checkBroadcast(ShapeRef from, ShapeRef to, const RuleReporter &reporter);
llvm::LogicalResult checkReshape(ShapeRef from, ShapeRef to, const RuleReporter &reporter);
/// The shape of the scales called `name`, for `rows` of `depth` values of a tile like `tile`.
llvm::LogicalResult checkScale(llvm::StringRef name, ShapeRef scale, ShapeRef tile, int64_t rows, int64_t depth,
                               const RuleReporter &reporter);
llvm::LogicalResult checkHistogram(ShapeRef source, const RuleReporter &reporter);
llvm::LogicalResult checkPack(int64_t pack, int64_t elements, const RuleReporter &reporter);
/// An atomic load acquires, a store releases, or either does neither.
llvm::LogicalResult checkOneSided(llvm::StringRef name, MemSemantic semantic, MemSemantic side,
                                  const RuleReporter &reporter);
llvm::LogicalResult checkCompared(unsigned bits, const RuleReporter &reporter);
llvm::LogicalResult checkOffsetCount(size_t rank, size_t offsets, const RuleReporter &reporter);
/// Of a descriptor whose rows are gathered, and of their indices.
llvm::LogicalResult checkRowBlock(ShapeRef block, const RuleReporter &reporter);
llvm::LogicalResult checkRowIndices(ShapeRef indices, const RuleReporter &reporter);

} // namespace nereid::tt
