// Sets encodings, rematerialises cheap tiles, and inserts conversions before their first use and outside loops.
// SPDX-License-Identifier: MIT
#include "compiler/passes/ttg/ApplyLayouts.h"

#include "compiler/analysis/GatherPlan.h"
#include "compiler/dialect/ttg/AsyncInterfaces.h"
#include "compiler/passes/ttg/DotLayouts.h"
#include "compiler/passes/ttg/WorkingLayout.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;
using namespace nereid;
using namespace nereid::ttg;

namespace {
using SignatureLayout = llvm::function_ref<LayoutEncoding(RankedTensorType)>;

class Applier {
public:
  Applier(tt::FuncOp function, const LayoutClasses &classes, ArrayRef<LayoutEncoding> layouts,
          SignatureLayout signatureLayout)
      : function(function), classes(classes), layouts(layouts), signatureLayout(signatureLayout),
        builder(function.getContext()) {}

  void run();

private:
  LayoutEncoding layoutOf(Value value) const { return layouts[classes.classOf(value)]; }
  LayoutEncoding produced(OpResult result) const;
  LayoutEncoding required(OpOperand &operand) const;
  LayoutEncoding requiredByControl(OpOperand &operand) const;
  LayoutEncoding requiredByRearrangement(OpOperand &operand) const;

  void setEncoding(Value value, LayoutEncoding encoding);
  void setOperand(OpOperand &operand);
  Value withEncoding(Value value, LayoutEncoding encoding);
  Value rematerialise(Value value, LayoutEncoding encoding);
  void moveToFirstUser(ConvertLayoutOp conversion);
  void updateSignature();

  tt::FuncOp function;
  const LayoutClasses &classes;
  ArrayRef<LayoutEncoding> layouts;
  SignatureLayout signatureLayout;
  OpBuilder builder;
  llvm::DenseMap<std::pair<Value, Attribute>, Value> made;
  SmallVector<ConvertLayoutOp> conversions;
};
} // namespace

static RankedTensorType encoded(Value value, LayoutEncoding encoding) {
  auto tile = cast<RankedTensorType>(value.getType());
  return RankedTensorType::get(tile.getShape(), tile.getElementType(), encoding);
}

//--- encodings of results and operands -----------------------------------------------------

/// The encoding in which an op produces its result; a conversion may follow.
LayoutEncoding Applier::produced(OpResult result) const {
  Operation *op = result.getOwner();
  if (analysis::anyAccessOf(op) || isa<tt::DotOp, AsyncTileLoad>(op))
    return layouts[classes.classOf(op)];
  if (auto reduce = dyn_cast<tt::ReduceOp>(op))
    return SliceAttr::get(op->getContext(), reduce.getAxis(), layouts[classes.classOf(op)]);
  if (isa<tt::CallOp>(op))
    return signatureLayout(cast<RankedTensorType>(result.getType()));
  if (isa<tt::JoinOp, tt::CatOp>(op))
    return halfTransfer(op).forward(layouts[classes.classOf(op)]);
  if (isa<tt::SplitOp>(op))
    return layouts[classes.classOf(op)];
  auto scan = dyn_cast<tt::ScanOp>(op);
  return scan ? workingLayout(scan, layoutOf(result), signatureLayout) : layoutOf(result);
}

LayoutEncoding Applier::requiredByControl(OpOperand &operand) const {
  Operation *op = operand.getOwner();
  const unsigned index = operand.getOperandNumber();
  if (auto loop = dyn_cast<scf::ForOp>(op))
    return layoutOf(loop.getTiedLoopRegionIterArg(&operand));
  if (auto loop = dyn_cast<scf::WhileOp>(op))
    return layoutOf(loop.getBeforeArguments()[index]);
  if (isa<scf::ConditionOp>(op))
    return layoutOf(op->getParentOfType<scf::WhileOp>().getAfterArguments()[index - 1]);
  auto yield = cast<scf::YieldOp>(op);
  if (auto loop = dyn_cast<scf::ForOp>(yield->getParentOp()))
    return layoutOf(loop.getRegionIterArg(index));
  if (auto loop = dyn_cast<scf::WhileOp>(yield->getParentOp()))
    return layoutOf(loop.getBeforeArguments()[index]);
  return layoutOf(yield->getParentOp()->getResult(index));
}

LayoutEncoding Applier::requiredByRearrangement(OpOperand &operand) const {
  Operation *op = operand.getOwner();
  const LayoutEncoding ofClass = layouts[classes.classOf(op)];
  if (isa<tt::SplitOp>(op))
    return halfTransfer(op).forward(ofClass);
  auto gather = dyn_cast<tt::GatherOp>(op);
  // The buffer of other gathers is written from any layout.
  return gather && operand.getOperandNumber() == 0 && !analysis::exchangeDistance(gather) ? LayoutEncoding() : ofClass;
}

/// The encoding in which an op takes an operand; null where any encoding works.
LayoutEncoding Applier::required(OpOperand &operand) const {
  Operation *op = operand.getOwner();
  if (auto dot = dyn_cast<tt::DotOp>(op); dot && operand.getOperandNumber() < 2)
    return operandLayout(dot, operand.getOperandNumber(), layouts[classes.classOf(op)]);
  if (analysis::anyAccessOf(op) || isa<tt::ReduceOp, tt::DotOp>(op))
    return layouts[classes.classOf(op)];
  if (isa<tt::CallOp, tt::ReturnOp>(op))
    return signatureLayout(cast<RankedTensorType>(operand.get().getType()));
  if (isa<scf::ForOp, scf::WhileOp, scf::ConditionOp, scf::YieldOp>(op))
    return requiredByControl(operand);
  if (auto transfer = shapeTransfer(op))
    return transfer->backward(layoutOf(op->getResult(0)));
  if (isa<tt::JoinOp, tt::CatOp, tt::SplitOp, tt::GatherOp, tt::HistogramOp>(op))
    return requiredByRearrangement(operand);
  if (auto scan = dyn_cast<tt::ScanOp>(op))
    return workingLayout(scan, layoutOf(op->getResult(0)), signatureLayout);
  for (Value result : op->getResults())
    if (isa<RankedTensorType>(result.getType()))
      return layoutOf(result);
  return {};
}

//--- values in an encoding -----------------------------------------------------------------

void Applier::setEncoding(Value value, LayoutEncoding encoding) { value.setType(encoded(value, encoding)); }

/// A rematerialised tile in another encoding, created beside the original from rematerialised operands.
Value Applier::rematerialise(Value value, LayoutEncoding encoding) {
  Value &entry = made[{value, encoding}];
  if (entry)
    return entry;
  Operation *op = value.getDefiningOp();
  LayoutEncoding inner = encoding;
  if (auto transfer = shapeTransfer(op))
    inner = transfer->backward(encoding);
  IRMapping mapping;
  for (Value operand : op->getOperands())
    if (isa<RankedTensorType>(operand.getType()))
      mapping.map(operand, rematerialise(operand, inner));
  builder.setInsertionPoint(op);
  Operation *copy = builder.clone(*op, mapping);
  const RankedTensorType type = encoded(value, encoding);
  copy->getResult(0).setType(type);
  if (auto constant = dyn_cast<arith::ConstantOp>(copy))
    constant.setValueAttr(cast<DenseElementsAttr>(constant.getValue()).reshape(type));
  // The DenseMap may have grown meanwhile.
  return made[{value, encoding}] = copy->getResult(0);
}

Value Applier::withEncoding(Value value, LayoutEncoding encoding) {
  if (classes.isRematerialised(value))
    return rematerialise(value, encoding);
  if (encodingOf(value.getType()) == encoding)
    return value;
  Value &entry = made[{value, encoding}];
  if (!entry) {
    builder.setInsertionPointAfterValue(value);
    auto conversion = ConvertLayoutOp::create(builder, value.getLoc(), encoded(value, encoding), value);
    conversions.push_back(conversion);
    entry = conversion;
  }
  return entry;
}

void Applier::setOperand(OpOperand &operand) {
  Value value = operand.get();
  if (!isa<RankedTensorType>(value.getType()))
    return;
  LayoutEncoding encoding = required(operand);
  if (!encoding && classes.isRematerialised(value))
    encoding = signatureLayout(cast<RankedTensorType>(value.getType()));
  if (encoding)
    operand.set(withEncoding(value, encoding));
}

//--- insertion points of conversions -------------------------------------------------------

/// The basic block that contains all users of `op`, in it or in nested regions.
static Block *commonBlock(Operation *op) {
  Block *common = nullptr;
  for (Operation *user : op->getUsers()) {
    if (!common) {
      common = user->getBlock();
      continue;
    }
    while (!common->findAncestorOpInBlock(*user))
      common = common->getParentOp()->getBlock();
  }
  return common;
}

/// Moves a conversion to before its first user, but never into a loop.
void Applier::moveToFirstUser(ConvertLayoutOp conversion) {
  Block *block = commonBlock(conversion);
  if (!block)
    return conversion.erase();
  Operation *outermostLoop = nullptr;
  for (Block *above = block; above != conversion->getBlock(); above = above->getParentOp()->getBlock())
    if (isa<LoopLikeOpInterface>(above->getParentOp()))
      outermostLoop = above->getParentOp();
  if (outermostLoop)
    return conversion->moveBefore(outermostLoop);
  Operation *first = nullptr;
  for (Operation *user : conversion->getUsers()) {
    Operation *here = block->findAncestorOpInBlock(*user);
    if (!first || here->isBeforeInBlock(first))
      first = here;
  }
  conversion->moveBefore(first);
}

//--- rewrite -------------------------------------------------------------------------------

void Applier::updateSignature() {
  auto withLayouts = [&](TypeRange types) {
    return llvm::map_to_vector(types, [&](Type type) -> Type {
      auto tile = dyn_cast<RankedTensorType>(type);
      return tile ? RankedTensorType::get(tile.getShape(), tile.getElementType(), signatureLayout(tile)) : type;
    });
  };
  const FunctionType type = function.getFunctionType();
  function.setFunctionType(builder.getFunctionType(withLayouts(type.getInputs()), withLayouts(type.getResults())));
  for (auto [argument, input] : llvm::zip_equal(function.getArguments(), function.getFunctionType().getInputs()))
    argument.setType(input);
}

void Applier::run() {
  SmallVector<Operation *> kept, rematerialised;
  function.walk<WalkOrder::PreOrder>([&](Operation *op) {
    const bool isRematerialised = op->getNumResults() == 1 && isa<RankedTensorType>(op->getResult(0).getType()) &&
                                  classes.isRematerialised(op->getResult(0));
    (isRematerialised ? rematerialised : kept).push_back(op);
  });
  for (Operation *op : kept) {
    for (OpResult result : op->getResults())
      if (isa<RankedTensorType>(result.getType()))
        setEncoding(result, produced(result));
    for (Region &region : op->getRegions())
      for (BlockArgument argument : region.getArguments())
        if (isa<RankedTensorType>(argument.getType()) && op != function)
          setEncoding(argument, layoutOf(argument));
  }
  updateSignature();
  for (Operation *op : kept)
    for (OpOperand &operand : op->getOpOperands())
      setOperand(operand);
  for (Operation *op : llvm::reverse(rematerialised))
    if (op->use_empty())
      op->erase();
  for (ConvertLayoutOp conversion : conversions)
    moveToFirstUser(conversion);
}

void ttg::applyLayouts(tt::FuncOp function, const LayoutClasses &classes, ArrayRef<LayoutEncoding> layouts,
                       SignatureLayout signatureLayout) {
  Applier(function, classes, layouts, signatureLayout).run();
}
