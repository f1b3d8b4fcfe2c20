// Sets encodings, rematerialises cheap tiles, and inserts conversions before their first use and outside loops.
// SPDX-License-Identifier: MIT
#include "compiler/passes/ttg/ApplyLayouts.h"

#include "compiler/analysis/ValueFlow.h"

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
  LayoutEncoding layoutOf(LayoutRelationOpInterface op, const LayoutRelation &relation) const;
  LayoutEncoding linked(OpOperand &operand, const LayoutLink &link, LayoutEncoding ofOp) const;
  LayoutEncoding required(OpOperand &operand) const;

  void setEncoding(Value value, LayoutEncoding encoding);
  void setOperand(OpOperand &operand, LayoutEncoding required);
  void setResults(Operation *op);
  void setOperands(Operation *op);
  Value withEncoding(Value value, LayoutEncoding encoding);
  Value rematerialise(Value value, LayoutEncoding encoding);
  void moveToFirstUser(ConvertLayoutOp conversion);
  void updateSignature();

  tt::FuncOp function;
  const LayoutClasses &classes;
  ArrayRef<LayoutEncoding> layouts;
  SignatureLayout signatureLayout;
  OpBuilder builder;
  llvm::DenseMap<std::pair<Value, Attribute>, Value> versions;
  SmallVector<ConvertLayoutOp> conversions;
};
} // namespace

static RankedTensorType encoded(Value value, LayoutEncoding encoding) {
  auto tile = cast<RankedTensorType>(value.getType());
  return RankedTensorType::get(tile.getShape(), tile.getElementType(), encoding);
}

//--- encodings of results and operands -----------------------------------------------------

/// The encoding in which an op with a relation works.
LayoutEncoding Applier::layoutOf(LayoutRelationOpInterface op, const LayoutRelation &relation) const {
  const LayoutEncoding ofClass = layouts[classes.classOf(op)];
  return op.worksIn(ofClass) ? ofClass : signatureLayout(relation.tile);
}

/// The encoding in which an op that works in `ofOp` takes an operand; null where any encoding works.
LayoutEncoding Applier::linked(OpOperand &operand, const LayoutLink &link, LayoutEncoding ofOp) const {
  switch (link.kind) {
  case LayoutLink::Kind::Any:
    return {};
  case LayoutLink::Kind::Same:
    return ofOp;
  case LayoutLink::Kind::FromOp:
    return link.transfer.forward(ofOp);
  case LayoutLink::Kind::ToOp:
    return link.transfer.backward(ofOp);
  case LayoutLink::Kind::DotOperand:
    return classes.dotOperandLayout(operand);
  }
  llvm_unreachable("all kinds are listed");
}

/// The encoding in which an op without a relation takes an operand; null where any encoding works.
LayoutEncoding Applier::required(OpOperand &operand) const {
  Operation *op = operand.getOwner();
  if (isa<tt::CallOp, tt::ReturnOp>(op))
    return signatureLayout(cast<RankedTensorType>(operand.get().getType()));
  if (const SmallVector<Value, 2> targets = analysis::forwardedFrom(operand); !targets.empty())
    return layoutOf(targets.front()); // all have one layout
  for (Value result : op->getResults())
    if (isa<RankedTensorType>(result.getType()))
      return layoutOf(result);
  return {};
}

//--- values in an encoding -----------------------------------------------------------------

void Applier::setEncoding(Value value, LayoutEncoding encoding) { value.setType(encoded(value, encoding)); }

/// A rematerialised tile in another encoding, created beside the original from rematerialised operands.
Value Applier::rematerialise(Value value, LayoutEncoding encoding) {
  Value &entry = versions[{value, encoding}];
  if (entry)
    return entry;
  Operation *op = value.getDefiningOp();
  LayoutEncoding inner = encoding;
  if (auto related = dyn_cast<LayoutRelationOpInterface>(op))
    inner = related.getLayoutRelation().operands.front().transfer.backward(encoding);
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
  return versions[{value, encoding}] = copy->getResult(0);
}

Value Applier::withEncoding(Value value, LayoutEncoding encoding) {
  if (classes.isRematerialised(value))
    return rematerialise(value, encoding);
  if (encodingOf(value.getType()) == encoding)
    return value;
  Value &entry = versions[{value, encoding}];
  if (!entry) {
    builder.setInsertionPointAfterValue(value);
    auto conversion = ConvertLayoutOp::create(builder, value.getLoc(), encoded(value, encoding), value);
    conversions.push_back(conversion);
    entry = conversion;
  }
  return entry;
}

/// Without a required encoding an operand stays as it is, or is rematerialised in that of function signatures.
void Applier::setOperand(OpOperand &operand, LayoutEncoding required) {
  Value value = operand.get();
  if (!required && classes.isRematerialised(value))
    required = signatureLayout(cast<RankedTensorType>(value.getType()));
  if (required)
    operand.set(withEncoding(value, required));
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

/// The encodings in which an op produces its results; conversions may follow.
void Applier::setResults(Operation *op) {
  auto related = dyn_cast<LayoutRelationOpInterface>(op);
  const LayoutRelation relation = related ? related.getLayoutRelation() : LayoutRelation();
  const LayoutEncoding ofOp = relation.tile ? layoutOf(related, relation) : LayoutEncoding();
  for (OpResult result : op->getResults()) {
    auto tile = dyn_cast<RankedTensorType>(result.getType());
    if (!tile)
      continue;
    const LayoutLink link = ofOp ? relation.results[result.getResultNumber()] : LayoutLink();
    if (link.kind == LayoutLink::Kind::Same)
      setEncoding(result, ofOp);
    else if (link.kind == LayoutLink::Kind::FromOp)
      setEncoding(result, link.transfer.forward(ofOp));
    else
      setEncoding(result, isa<tt::CallOp>(op) ? signatureLayout(tile) : layoutOf(result));
  }
}

void Applier::setOperands(Operation *op) {
  auto related = dyn_cast<LayoutRelationOpInterface>(op);
  const LayoutRelation relation = related ? related.getLayoutRelation() : LayoutRelation();
  const LayoutEncoding ofOp = relation.tile ? layoutOf(related, relation) : LayoutEncoding();
  for (OpOperand &operand : op->getOpOperands())
    if (isa<RankedTensorType>(operand.get().getType()))
      setOperand(operand,
                 ofOp ? linked(operand, relation.operands[operand.getOperandNumber()], ofOp) : required(operand));
}

void Applier::run() {
  SmallVector<Operation *> others, rematerialised;
  function.walk<WalkOrder::PreOrder>([&](Operation *op) {
    const bool isRematerialised = op->getNumResults() == 1 && isa<RankedTensorType>(op->getResult(0).getType()) &&
                                  classes.isRematerialised(op->getResult(0));
    (isRematerialised ? rematerialised : others).push_back(op);
  });
  for (Operation *op : others) {
    setResults(op);
    for (Region &region : op->getRegions())
      for (BlockArgument argument : region.getArguments())
        if (isa<RankedTensorType>(argument.getType()) && op != function)
          setEncoding(argument, layoutOf(argument));
  }
  updateSignature();
  for (Operation *op : others)
    setOperands(op);
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
