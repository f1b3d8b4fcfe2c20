// Finds the layouts of results from those of operands: the one place that does.
// SPDX-License-Identifier: MIT
#include "artifact/TargetInfo.h"
#include "compiler/dialect/gluon/Dialect.h"
#include "compiler/dialect/ttg/EncodingShape.h"
#include "compiler/sema/Diagnostics.h"
#include "compiler/sema/TileShape.h"
#include "compiler/sema/gluon/Layouts.h"
#include "compiler/sema/gluon/OpRules.h"

#include "mlir/IR/Diagnostics.h"

using mlir::Attribute;
using mlir::RankedTensorType;

namespace nereid::sema {

static Attribute layoutOf(mlir::Type type) {
  auto tile = llvm::dyn_cast<RankedTensorType>(type);
  return tile ? tile.getEncoding() : Attribute();
}

static mlir::Type withLayout(mlir::Type type, Attribute layout) {
  auto tile = llvm::cast<RankedTensorType>(type);
  return RankedTensorType::get(tile.getShape(), tile.getElementType(), layout);
}

//--- Layouts that are still to be found ----------------------------------------------------

/// The tile in that layout, where its own is still to be found.
static mlir::Value withKnownLayout(TtFunctionEmitter &emitter, mlir::Value tile, Attribute layout, SourceRange range) {
  return gluon::SetAutoLayoutOp::create(emitter.builder, emitter.location(range), withLayout(tile.getType(), layout),
                                        tile);
}

/// The layout that tiles of these layouts are computed in: the first known one.
static Attribute joinedLayout(llvm::ArrayRef<Attribute> layouts) {
  const auto *known = llvm::find_if(layouts, [](Attribute each) { return each && !gluon::isOpen(each); });
  if (known != layouts.end())
    return *known;
  const auto *coalesced = llvm::find_if(layouts, [](Attribute each) { return llvm::isa<gluon::CoalescedAttr>(each); });
  return coalesced != layouts.end() ? *coalesced : layouts.front();
}

bool TtFunctionEmitter::uniteLayouts(llvm::MutableArrayRef<Value> tensors, SourceRange range) {
  llvm::SmallVector<Attribute> layouts;
  for (const Value &tensor : tensors)
    if (tensor.tensor() && tensor.tensor()->type.isTile())
      layouts.push_back(tensor.tensor()->type.layout);
  if (layouts.empty())
    return true;
  const Attribute joined = joinedLayout(layouts);
  const TensorValue *first = nullptr;
  for (Value &tensor : tensors) {
    const TensorValue *tile = tensor.tensor();
    if (!tile || !tile->type.isTile())
      continue;
    if (tile->type.layout == joined)
      first = first ? first : tile;
    else if (gluon::isOpen(tile->type.layout))
      tensor = Value::tensor(withKnownLayout(*this, tile->value, joined, range), tile->type);
    else {
      error(diag::LayoutMismatch, range, layoutText(joined), layoutText(tile->type.layout));
      return false;
    }
  }
  return true;
}

bool TtFunctionEmitter::checkTileLayout(Attribute layout, llvm::ArrayRef<int64_t> shape, SourceRange range) {
  auto encoding = llvm::dyn_cast<ttg::LayoutEncoding>(layout);
  if (!encoding)
    return true; // one still to be found
  auto emitError = [&] { return mlir::emitError(location(range)); };
  mlir::Operation *place = builder.getInsertionBlock()->getParentOp();
  const bool hasWarps = !artifact::targetInfo(module.target.backend).isHost;
  bool fits = false;
  const std::string message = errorOf(builder.getContext(), [&] {
    fits = succeeded(ttg::verifyTile(emitError, encoding, shape)) &&
           (!hasWarps ||
            succeeded(ttg::verifyThreads(emitError, encoding, ttg::numWarpsOf(place), ttg::threadsPerWarpOf(place))));
  });
  if (fits)
    return true;
  error(diag::LayoutUnfit, range, layoutText(layout), shapeText(shape), message);
  return false;
}

//--- Results from operands -----------------------------------------------------------------

namespace {
/// The layouts of one op.
struct OpLayouts {
  TtFunctionEmitter &emitter;
  mlir::Operation *op;
  ttg::LayoutRelation relation;
  SourceRange range;
  Attribute own; ///< that in which the op works

  OpLayouts(TtFunctionEmitter &emitter, mlir::Operation *op, SourceRange range)
      : emitter(emitter), op(op), range(range) {
    if (auto related = llvm::dyn_cast<ttg::LayoutRelationOpInterface>(op)) {
      relation = related.getLayoutRelation();
      return;
    }
    relation = ttg::LayoutRelation(op, {});
    relation.uniteOperands(op);
    relation.uniteResults(op);
  }

  /// What the layout becomes along a link; null after an error.
  Attribute follow(const ttg::LayoutLink &link, Attribute layout) const {
    auto encoding = llvm::dyn_cast<ttg::LayoutEncoding>(layout);
    if (!encoding || link.kind == ttg::LayoutLink::Kind::Same)
      return layout;
    using Kind = ttg::LayoutTransfer::Kind;
    auto slice = llvm::dyn_cast<ttg::SliceAttr>(layout);
    if (link.transfer.kind == Kind::Expand && (!slice || slice.getDim() != link.transfer.axis))
      return emitter.error(diag::ExpandLayout, range, link.transfer.axis, layoutText(layout)), Attribute();
    return link.transfer.forward(encoding);
  }

  /// The layout that becomes `layout` along a link; null after an error.
  Attribute back(const ttg::LayoutLink &link, Attribute layout) const {
    auto encoding = llvm::dyn_cast<ttg::LayoutEncoding>(layout);
    const Attribute start = encoding ? Attribute(link.transfer.backward(encoding)) : layout;
    if (!start)
      emitter.error(diag::SplitLayout, range, layoutText(layout));
    return start;
  }

  bool readOperand(unsigned index) {
    using Kind = ttg::LayoutLink::Kind;
    const ttg::LayoutLink &link = relation.operands[index];
    const Attribute layout = layoutOf(op->getOperand(index).getType());
    if (!layout || (link.kind != Kind::Same && link.kind != Kind::ToOp && link.kind != Kind::FromOp))
      return true;
    const Attribute found = link.kind == Kind::FromOp ? back(link, layout) : follow(link, layout);
    if (!found)
      return false;
    if (!own || (gluon::isOpen(own) && !gluon::isOpen(found)))
      own = found;
    if (own == found || gluon::isOpen(found))
      return true;
    emitter.error(diag::LayoutMismatch, range, layoutText(own), layoutText(found));
    return false;
  }

  /// Operands whose layout was still to be found get the op's own.
  void settleOperands() {
    for (auto [index, link] : llvm::enumerate(relation.operands)) {
      const Attribute layout = layoutOf(op->getOperand(index).getType());
      if (link.kind != ttg::LayoutLink::Kind::Same || !layout || layout == own)
        continue;
      mlir::OpBuilder::InsertionGuard guard(emitter.builder);
      emitter.builder.setInsertionPoint(op);
      op->setOperand(index, withKnownLayout(emitter, op->getOperand(index), own, range));
    }
  }

  bool settleResult(unsigned index) {
    using Kind = ttg::LayoutLink::Kind;
    mlir::Value result = op->getResult(index);
    if (!llvm::isa<RankedTensorType>(result.getType()))
      return true;
    Attribute layout = layoutOf(result.getType());
    const ttg::LayoutLink &link = relation.results[index];
    if (own && (link.kind == Kind::Same || link.kind == Kind::FromOp))
      layout = follow(link, own);
    else if (!layout)
      layout = gluon::AutoAttr::get(op->getContext());
    if (layout)
      result.setType(withLayout(result.getType(), layout));
    return layout != nullptr;
  }
};
} // namespace

bool TtFunctionEmitter::settleLayouts(mlir::Operation *op, SourceRange range) {
  OpLayouts layouts(*this, op, range);
  bool isGood = true;
  for (unsigned index = 0; isGood && index < op->getNumOperands(); ++index)
    isGood = layouts.readOperand(index);
  if (isGood && layouts.own)
    layouts.settleOperands();
  for (unsigned index = 0; isGood && index < op->getNumResults(); ++index)
    isGood = layouts.settleResult(index);
  if (!isGood)
    op->erase();
  return isGood;
}

} // namespace nereid::sema
