// Builds scf.if, whose results are known only after both sides are emitted.
// SPDX-License-Identifier: MIT
#include "compiler/sema/Merge.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace nereid;
using namespace nereid::sema;

void MergedValues::add(const Value &thenValue, const Value &elseValue) {
  llvm::SmallVector<TensorValue> thenTensors, elseTensors;
  flatten(thenValue, thenTensors);
  flatten(elseValue, elseTensors);
  for (auto [a, b] : llvm::zip_equal(thenTensors, elseTensors)) {
    thenValues.push_back(a.value);
    elseValues.push_back(b.value);
  }
}

/// A number as a tensor created at the end of `block`; other values are returned as they are.
static Value asTensorIn(TtFunctionEmitter &emitter, mlir::Block *block, const Value &value, SourceRange range) {
  if (!value.isNumber())
    return value;
  mlir::OpBuilder::InsertionGuard guard(emitter.builder);
  emitter.builder.setInsertionPointToEnd(block);
  return emitter.toTensor(value, range);
}

void nereid::sema::makeMergeable(TtFunctionEmitter &emitter, std::pair<mlir::Block *, mlir::Block *> blocks,
                                 Value &thenValue, Value &elseValue, std::pair<SourceRange, SourceRange> ranges) {
  if (sameShape(thenValue, elseValue))
    return;
  const TupleValue *thenTuple = thenValue.get<TupleValue>(), *elseTuple = elseValue.get<TupleValue>();
  if (thenTuple && elseTuple && (thenTuple->keepsConstants || elseTuple->keepsConstants))
    return;
  if ((thenTuple && thenTuple->record) || (elseTuple && elseTuple->record))
    return; // the constants of a record are part of its type
  if (!thenTuple || !elseTuple || thenTuple->elements->size() != elseTuple->elements->size()) {
    thenValue = asTensorIn(emitter, blocks.first, thenValue, ranges.first);
    elseValue = asTensorIn(emitter, blocks.second, elseValue, ranges.second);
    return;
  }
  std::vector<Value> thenElements(*thenTuple->elements), elseElements(*elseTuple->elements);
  for (auto [a, b] : llvm::zip_equal(thenElements, elseElements))
    makeMergeable(emitter, blocks, a, b, ranges);
  const auto rebuilt = [](TupleValue tuple, std::vector<Value> elements) {
    tuple.elements = std::make_shared<const std::vector<Value>>(std::move(elements));
    return Value(std::move(tuple));
  };
  thenValue = rebuilt(*thenTuple, std::move(thenElements));
  elseValue = rebuilt(*elseTuple, std::move(elseElements));
}

bool nereid::sema::unchanged(const Value &a, const Value &b) {
  if (a.tensor() && b.tensor())
    return a.tensor()->value == b.tensor()->value;
  if (a.parts() && b.parts())
    return a.get<TupleValue>()->record == b.get<TupleValue>()->record && llvm::equal(*a.parts(), *b.parts(), unchanged);
  return a.isConstant() && b.isConstant() && sameConstant(a, b);
}

Value nereid::sema::placeholderFor(TtFunctionEmitter &emitter, const Value &like, SourceRange range) {
  llvm::SmallVector<TensorValue> tensors;
  flatten(like, tensors);
  llvm::SmallVector<mlir::Value> zeros;
  mlir::OpBuilder &builder = emitter.builder;
  for (const TensorValue &tensor : tensors) {
    if (tensor.type.isDescriptor) {
      zeros.push_back(mlir::ub::PoisonOp::create(builder, emitter.location(range), tensor.value.getType()));
      continue;
    }
    const Type element = tensor.type.element();
    const Type plain = element.isPointer ? Type(Scalar::Int64) : element;
    mlir::Location loc = emitter.location(range);
    mlir::Value zero =
        mlir::arith::ConstantOp::create(builder, loc, builder.getZeroAttr(plain.toMlir(builder.getContext())));
    if (element.isPointer)
      zero = tt::IntToPtrOp::create(builder, loc, element.toMlir(builder.getContext()), zero);
    if (tensor.type.isTile())
      zero = tt::SplatOp::create(builder, loc, tensor.value.getType(), zero);
    zeros.push_back(zero);
  }
  llvm::ArrayRef<mlir::Value> remaining = zeros;
  return unflatten(like, remaining);
}

mlir::scf::IfOp nereid::sema::openIf(TtFunctionEmitter &emitter, mlir::Value condition, SourceRange range) {
  auto shell =
      mlir::scf::IfOp::create(emitter.builder, emitter.location(range), mlir::TypeRange(), condition, false, false);
  mlir::OpBuilder::InsertionGuard guard(emitter.builder);
  emitter.builder.createBlock(&shell.getThenRegion());
  emitter.builder.createBlock(&shell.getElseRegion());
  return shell;
}

mlir::scf::IfOp nereid::sema::finishIf(mlir::OpBuilder &builder, mlir::scf::IfOp shell, const MergedValues &merged) {
  mlir::OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPoint(shell);
  llvm::SmallVector<mlir::Type> types;
  for (mlir::Value value : merged.thenValues)
    types.push_back(value.getType());
  auto op = mlir::scf::IfOp::create(builder, shell.getLoc(), types, shell.getCondition(), false, false);
  op.getThenRegion().takeBody(shell.getThenRegion());
  op.getElseRegion().takeBody(shell.getElseRegion());
  builder.setInsertionPointToEnd(&op.getThenRegion().front());
  mlir::scf::YieldOp::create(builder, shell.getLoc(), merged.thenValues);
  builder.setInsertionPointToEnd(&op.getElseRegion().front());
  mlir::scf::YieldOp::create(builder, shell.getLoc(), merged.elseValues);
  shell.erase();
  return op;
}
