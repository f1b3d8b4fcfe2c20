// Products of matrices in shared memory by groups of four warps, and the waits for them.
// SPDX-License-Identifier: MIT
#include "compiler/lowering/TtgToLlvm/FunctionEmitter.h"
#include "compiler/lowering/TtgToLlvm/RegisterMap.h"
#include "compiler/lowering/WarpGroup.h"

#include "compiler/layout/Distributed.h"
#include "compiler/layout/MatrixBuffer.h"
#include "compiler/layout/Mma.h"

using namespace mlir;
using namespace nereid;
using namespace nereid::lowering;
using layout::LinearLayout;

static GroupElement groupElementOf(Type element) {
  return llvm::TypeSwitch<Type, GroupElement>(element)
      .Case<Float16Type>([](auto) { return GroupElement::F16; })
      .Case<BFloat16Type>([](auto) { return GroupElement::BF16; })
      .Case<Float32Type>([](auto) { return GroupElement::TF32; })
      .Case<Float8E4M3FNType>([](auto) { return GroupElement::E4M3; })
      .Case<Float8E5M2Type>([](auto) { return GroupElement::E5M2; })
      .Default([](Type) { return GroupElement::Int8; });
}

namespace {
/// A matrix in shared memory, [M, K] or [K, N], by chunks from its start.
class MatrixPlace {
public:
  explicit MatrixPlace(ttg::MemDescType type)
      : encoding(cast<ttg::NvmmaSharedAttr>(type.getEncoding())), shape(type.getShape()),
        offsets(encoding.toLinearLayout(shape).invert()) {}

  bool rowsAlong(unsigned dim) const { return (encoding.getTransposed() ? 0u : 1u) == dim; }
  uint32_t chunks(int64_t row, int64_t column) const {
    const int32_t elements =
        offsets.apply({{layout::dimName(0), int32_t(row)}, {layout::dimName(1), int32_t(column)}}).front();
    return elements * encoding.getElementBitWidth() / 8 / layout::kChunkBytes;
  }
  uint64_t descriptor(unsigned depthDim) const {
    const layout::MatrixBuffer buffer = {encoding.getSwizzlingByteWidth(), encoding.getElementBitWidth()};
    return layout::matrixDescriptor(buffer, shape[encoding.getTransposed() ? 1 : 0], rowsAlong(depthDim));
  }

private:
  ttg::NvmmaSharedAttr encoding;
  ArrayRef<int64_t> shape;
  LinearLayout offsets;
};
} // namespace

namespace nereid::lowering {

class WarpGroupDotEmitter {
public:
  WarpGroupDotEmitter(FunctionEmitter &emitter, ttng::WarpGroupDotOp op)
      : emitter(emitter), ir(emitter.ir), op(op), result(cast<RankedTensorType>(op.getType())),
        mma(cast<ttg::NvidiaMmaAttr>(result.getEncoding())), left(dyn_cast<ttg::MemDescType>(op.getA().getType())),
        right(op.getB().getType()) {}

  LogicalResult run();

private:
  GroupProduct describe();
  void addSteps(GroupProduct &product, int64_t from, int64_t to);
  Tile wholeSums(GroupProduct product);
  Tile sumsOfRuns(const GroupProduct &product, int64_t run);
  unsigned addWords(GroupProduct &product, int64_t row, int64_t k);
  llvm::Value *descriptorOf(Value buffer, const MatrixPlace &place, unsigned depthDim, llvm::Value *ofWarps);
  Tile sumsBefore();

  unsigned elemBits() const { return bitsOf(groupElementOf(right.getElementType())); }
  int64_t depth() const { return right.getShape()[0]; }
  int64_t stepDepth() const { return ttng::groupDepth(elemBits()); }
  unsigned columns() const { return mma.getInstrShape()[1]; }

  FunctionEmitter &emitter;
  IrBuilder &ir;
  ttng::WarpGroupDotOp op;
  RankedTensorType result;
  ttg::NvidiaMmaAttr mma;
  ttg::MemDescType left; ///< null: a tile
  ttg::MemDescType right;
};

} // namespace nereid::lowering

//--- operands ------------------------------------------------------------------------------

/// Address and strides, with what the thread's warps add to the address.
llvm::Value *WarpGroupDotEmitter::descriptorOf(Value buffer, const MatrixPlace &place, unsigned depthDim,
                                               llvm::Value *ofWarps) {
  // PTX ISA: bits 4 to 17 of the address.
  llvm::Value *address = emitter.target.sharedAddress(ir, emitter.scalar(buffer));
  llvm::Value *chunk = ir.CreateLShr(ir.CreateAnd(address, ir.getInt32(0x3ffff)), 4);
  if (ofWarps)
    chunk = ir.CreateAdd(chunk, ofWarps);
  return ir.CreateOr(ir.CreateZExt(chunk, ir.getInt64Ty()), ir.getInt64(place.descriptor(depthDim)), "",
                     /*IsDisjoint=*/true);
}

/// The four words of a tile `a` that a thread gives an instruction.
unsigned WarpGroupDotEmitter::addWords(GroupProduct &product, int64_t row, int64_t k) {
  const RegisterMap map(cast<RankedTensorType>(op.getA().getType()));
  const Tile &tile = emitter.tile(op.getA());
  const unsigned first = product.leftWords.size(), run = 32 / elemBits();
  for (unsigned half : {0, 1})
    for (unsigned rows : {0, 8}) {
      Tile elements;
      for (unsigned next = 0; next < run; ++next)
        elements.push_back(tile[map.at({int32_t(row + rows), int32_t(k + half * stepDepth() / 2 + next)})]);
      product.leftWords.push_back(emitter.pack(elements).front());
    }
  return first;
}

GroupProduct WarpGroupDotEmitter::describe() {
  GroupProduct product;
  product.leftElement = groupElementOf(left ? left.getElementType() : tt::elementOf(op.getA().getType()));
  product.rightElement = groupElementOf(right.getElementType());
  product.columns = columns();
  product.numSums = numRegisters(result);
  const unsigned warpRows = mma.getWarpsPerCTA()[0], warpColumns = mma.getWarpsPerCTA()[1];
  SmallVector<uint32_t> leftBases, rightBases;
  const MatrixPlace rightPlace(right);
  std::optional<MatrixPlace> leftPlace;
  if (left)
    leftPlace.emplace(left);
  for (unsigned warp = 1; warp < warpRows; warp *= 2) {
    // The four warps of a group start from one place.
    leftBases.push_back(left && warp >= layout::kWarpsPerGroup ? leftPlace->chunks(warp * layout::kMmaRows, 0) : 0);
    rightBases.push_back(0);
  }
  for (unsigned warp = 1; warp < warpColumns; warp *= 2)
    rightBases.push_back(rightPlace.chunks(0, warp * columns()));
  product.rightMatrix = descriptorOf(op.getB(), rightPlace, 0, emitter.warpBits(rightBases));
  product.rightAlongColumns = !rightPlace.rowsAlong(0);
  if (left) {
    product.leftMatrix = descriptorOf(op.getA(), *leftPlace, 1, emitter.warpBits(leftBases));
    product.leftAlongRows = !leftPlace->rowsAlong(1);
  }
  return product;
}

/// Instructions for all sums of a warp group, over [from, to) of the depth.
void WarpGroupDotEmitter::addSteps(GroupProduct &product, int64_t from, int64_t to) {
  const LinearLayout &sums = ttg::linearLayoutOf(result);
  const MatrixPlace rightPlace(right);
  std::optional<MatrixPlace> leftPlace;
  if (left)
    leftPlace.emplace(left);
  std::map<std::pair<int64_t, int64_t>, unsigned> words; // by row and k
  for (unsigned first = 0; first < product.numSums; first += columns() / 2) {
    const LinearLayout::Coordinates place = sums.apply({{layout::kRegister, int32_t(first)}});
    for (int64_t k = from; k < to; k += stepDepth()) {
      GroupStep step = {first, 0, rightPlace.chunks(k, place[1]), k == from};
      if (left) {
        step.left = leftPlace->chunks(place[0], k);
      } else {
        auto [found, isNew] = words.try_emplace({place[0], k});
        if (isNew)
          found->second = addWords(product, place[0], k);
        step.left = found->second;
      }
      product.steps.push_back(step);
    }
  }
}

//--- sums ----------------------------------------------------------------------------------

static std::optional<bool> knownFlag(llvm::Value *flag) {
  auto *constant = dyn_cast_or_null<llvm::ConstantInt>(flag);
  return constant ? std::optional(constant->isOne()) : std::nullopt;
}

Tile WarpGroupDotEmitter::wholeSums(GroupProduct product) {
  llvm::Value *adds = op.getUseC() ? emitter.scalar(op.getUseC()) : ir.getTrue();
  const std::optional<bool> known = knownFlag(adds);
  if (known.value_or(true))
    product.sums = emitter.tile(op.getC());
  product.adds = known ? nullptr : adds;
  product.waits = !op.getIsAsync();
  addSteps(product, 0, depth());
  return Tile(emitter.target.multiplyByGroups(ir, product));
}

/// What products are added to, zero where they are not.
Tile WarpGroupDotEmitter::sumsBefore() {
  Tile sums = emitter.tile(op.getC());
  if (op.getUseC())
    for (llvm::Value *&sum : sums)
      sum = ir.CreateSelect(emitter.scalar(op.getUseC()), sum, llvm::Constant::getNullValue(sum->getType()));
  return sums;
}

/// Runs of the depth are summed by themselves, then added in full precision.
Tile WarpGroupDotEmitter::sumsOfRuns(const GroupProduct &product, int64_t run) {
  Tile sums = sumsBefore();
  for (int64_t from = 0; from < depth(); from += run) {
    GroupProduct part = product;
    addSteps(part, from, std::min(from + run, depth()));
    for (auto [sum, value] : llvm::zip_equal(sums, emitter.target.multiplyByGroups(ir, part)))
      sum = ir.CreateFAdd(sum, value);
  }
  return sums;
}

LogicalResult WarpGroupDotEmitter::run() {
  const GroupProduct product = describe();
  const bool isByteFloat = isa<FloatType>(right.getElementType()) && elemBits() == 8;
  const int64_t mostImprecise = op.getMaxNumImpreciseAcc();
  if (isByteFloat && mostImprecise <= depth())
    emitter.define(op, sumsOfRuns(product, std::max<int64_t>(llvm::alignTo(mostImprecise, stepDepth()), stepDepth())));
  else
    emitter.define(op, wholeSums(product));
  return success();
}

LogicalResult FunctionEmitter::emitWarpGroupDot(ttng::WarpGroupDotOp op) {
  return WarpGroupDotEmitter(*this, op).run();
}

LogicalResult FunctionEmitter::emitWarpGroupDotWait(ttng::WarpGroupDotWaitOp op) {
  Tile sums;
  for (Value input : op.getInputs())
    if (isa<RankedTensorType>(input.getType()))
      llvm::append_range(sums, tile(input));
  const auto waited = target.waitForGroups(ir, op.getPendings(), sums);
  ArrayRef<llvm::Value *> rest = waited;
  for (auto [input, output] : llvm::zip_equal(op.getInputs(), op.getOutputs())) {
    const size_t count = isa<RankedTensorType>(input.getType()) ? tile(input).size() : 0;
    define(output, count ? Tile(rest.take_front(count)) : tile(input));
    rest = rest.drop_front(count);
  }
  return success();
}
