// Emits wgmma dots of operands in shared memory, and the waits for them.
// SPDX-License-Identifier: MIT
#include "artifact/ElementType.h"
#include "compiler/lowering/TtgToLlvm/RegisterMap.h"
#include "compiler/target/nvidia/lowering/NvidiaEmitter.h"
#include "compiler/target/nvidia/lowering/Wgmma.h"

#include "compiler/dialect/tt/Elements.h"
#include "compiler/layout/Distributed.h"
#include "compiler/layout/MatrixBuffer.h"
#include "compiler/layout/Mma.h"
#include "compiler/target/nvidia/dialect/Dialect.h"

using namespace mlir;
using namespace nereid;
using namespace nereid::lowering;
using namespace nereid::nvidia;
using layout::LinearLayout;

static WgmmaElement wgmmaElementOf(Type element) {
  if (tt::isOcpFp8(element))
    return tt::isE4m3(element) ? WgmmaElement::E4M3 : WgmmaElement::E5M2;
  return llvm::TypeSwitch<Type, WgmmaElement>(element)
      .Case<Float16Type>([](auto) { return WgmmaElement::F16; })
      .Case<BFloat16Type>([](auto) { return WgmmaElement::BF16; })
      .Case<Float32Type>([](auto) { return WgmmaElement::TF32; })
      .Default([](Type) { return WgmmaElement::Int8; });
}

namespace {
/// A matrix in shared memory, [M, K] or [K, N], addressed in chunks of 16 bytes from its start.
class SharedMatrix {
public:
  explicit SharedMatrix(ttg::MemDescType type)
      : encoding(cast<ttg::NvmmaSharedAttr>(type.getEncoding())), shape(type.getShape()),
        offsets(encoding.toLinearLayout(shape).invert()) {}

  bool rowsAlong(unsigned dim) const { return (encoding.getTransposed() ? 0u : 1u) == dim; }
  uint32_t chunks(int64_t row, int64_t column) const {
    const int32_t elements =
        offsets.apply({{layout::dimName(0), int32_t(row)}, {layout::dimName(1), int32_t(column)}}).front();
    return artifact::bytesOfBits(elements * encoding.getElementBitWidth()) / layout::kChunkBytes;
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

namespace {

class WarpGroupDotEmitter {
public:
  WarpGroupDotEmitter(TtgFunctionEmitter &emitter, ttng::WarpGroupDotOp op)
      : emitter(emitter), ir(emitter.ir), op(op), result(cast<RankedTensorType>(op.getType())),
        mma(cast<ttg::NvidiaMmaAttr>(result.getEncoding())), left(dyn_cast<ttg::MemDescType>(op.getA().getType())),
        right(op.getB().getType()) {}

  LogicalResult run();

private:
  WgmmaDot describe();
  void addInstructions(WgmmaDot &dot, int64_t from, int64_t to);
  Tile accumulateAll(WgmmaDot dot);
  Tile accumulateInRuns(const WgmmaDot &dot, int64_t run);
  unsigned addWords(WgmmaDot &dot, int64_t row, int64_t k);
  llvm::Value *descriptorOf(Value buffer, const SharedMatrix &matrix, unsigned depthDim, llvm::Value *ofWarps);
  Tile initialAccumulators();

  unsigned elemBits() const { return bitsOf(wgmmaElementOf(right.getElementType())); }
  int64_t depth() const { return right.getShape()[0]; }
  int64_t stepDepth() const { return ttng::wgmmaDepth(elemBits()); }
  unsigned columns() const { return mma.getInstrShape()[1]; }

  TtgFunctionEmitter &emitter;
  IrBuilder &ir;
  ttng::WarpGroupDotOp op;
  RankedTensorType result;
  ttg::NvidiaMmaAttr mma;
  ttg::MemDescType left; ///< null: the operand is in registers
  ttg::MemDescType right;
};

} // namespace

//--- operands ------------------------------------------------------------------------------

/// The wgmma matrix descriptor: address and strides, plus the offset of the thread's warp.
llvm::Value *WarpGroupDotEmitter::descriptorOf(Value buffer, const SharedMatrix &matrix, unsigned depthDim,
                                               llvm::Value *ofWarps) {
  // PTX ISA: bits 4 to 17 of the address.
  llvm::Value *address = instructionsOf(emitter).sharedAddress(ir, emitter.scalar(buffer));
  llvm::Value *chunk = ir.CreateLShr(ir.CreateAnd(address, ir.getInt32(0x3ffff)), 4);
  if (ofWarps)
    chunk = ir.CreateAdd(chunk, ofWarps);
  return ir.CreateOr(ir.CreateZExt(chunk, ir.getInt64Ty()), ir.getInt64(matrix.descriptor(depthDim)), "",
                     /*IsDisjoint=*/true);
}

/// Adds the four words of the tile `a` that a thread passes to an instruction; returns the index of the first.
unsigned WarpGroupDotEmitter::addWords(WgmmaDot &dot, int64_t row, int64_t k) {
  const RegisterMap map(cast<RankedTensorType>(op.getA().getType()));
  const Tile &tile = emitter.tile(op.getA());
  const unsigned first = dot.leftWords.size(), run = 32 / elemBits();
  for (unsigned half : {0, 1})
    for (unsigned rows : {0, 8}) {
      Tile elements;
      for (unsigned next = 0; next < run; ++next)
        elements.push_back(tile[map.at({int32_t(row + rows), int32_t(k + half * stepDepth() / 2 + next)})]);
      dot.leftWords.push_back(emitter.pack(elements).front());
    }
  return first;
}

WgmmaDot WarpGroupDotEmitter::describe() {
  WgmmaDot dot;
  dot.leftElement = wgmmaElementOf(left ? left.getElementType() : tt::elementOf(op.getA().getType()));
  dot.rightElement = wgmmaElementOf(right.getElementType());
  dot.columns = columns();
  dot.numAccumulators = numRegisters(result);
  const unsigned warpRows = mma.getWarpsPerCTA()[0], warpColumns = mma.getWarpsPerCTA()[1];
  SmallVector<uint32_t> leftBases, rightBases;
  const SharedMatrix rightShared(right);
  std::optional<SharedMatrix> leftShared;
  if (left)
    leftShared.emplace(left);
  for (unsigned warp = 1; warp < warpRows; warp *= 2) {
    // The four warps of a group share one start.
    leftBases.push_back(left && warp >= layout::kWarpsPerWarpGroup ? leftShared->chunks(warp * layout::kMmaRows, 0)
                                                                   : 0);
    rightBases.push_back(0);
  }
  for (unsigned warp = 1; warp < warpColumns; warp *= 2)
    rightBases.push_back(rightShared.chunks(0, warp * columns()));
  dot.rightDescriptor = descriptorOf(op.getB(), rightShared, 0, emitter.warpBits(rightBases));
  dot.isRightNMajor = !rightShared.rowsAlong(0);
  if (left) {
    dot.leftDescriptor = descriptorOf(op.getA(), *leftShared, 1, emitter.warpBits(leftBases));
    dot.isLeftMMajor = !leftShared->rowsAlong(1);
  }
  return dot;
}

/// Adds the instructions for all accumulators of a warp group, over [from, to) along k.
void WarpGroupDotEmitter::addInstructions(WgmmaDot &dot, int64_t from, int64_t to) {
  const LinearLayout &accumulatorLayout = ttg::linearLayoutOf(result);
  const SharedMatrix rightShared(right);
  std::optional<SharedMatrix> leftShared;
  if (left)
    leftShared.emplace(left);
  std::map<std::pair<int64_t, int64_t>, unsigned> words; // by row and k
  for (unsigned first = 0; first < dot.numAccumulators; first += columns() / 2) {
    const LinearLayout::Coordinates coordinates = accumulatorLayout.apply({{layout::kRegister, int32_t(first)}});
    for (int64_t k = from; k < to; k += stepDepth()) {
      WgmmaInstruction step = {first, 0, rightShared.chunks(k, coordinates[1]), k == from};
      if (left) {
        step.left = leftShared->chunks(coordinates[0], k);
      } else {
        auto [found, isNew] = words.try_emplace({coordinates[0], k});
        if (isNew)
          found->second = addWords(dot, coordinates[0], k);
        step.left = found->second;
      }
      dot.steps.push_back(step);
    }
  }
}

//--- accumulators --------------------------------------------------------------------------

static std::optional<bool> knownFlag(llvm::Value *flag) {
  auto *constant = dyn_cast_or_null<llvm::ConstantInt>(flag);
  return constant ? std::optional(constant->isOne()) : std::nullopt;
}

Tile WarpGroupDotEmitter::accumulateAll(WgmmaDot dot) {
  llvm::Value *useAccumulators = op.getUseC() ? emitter.scalar(op.getUseC()) : ir.getTrue();
  const std::optional<bool> known = knownFlag(useAccumulators);
  if (known.value_or(true))
    dot.accumulators = emitter.tile(op.getC());
  dot.useAccumulators = known ? nullptr : useAccumulators;
  dot.waits = !op.getIsAsync();
  addInstructions(dot, 0, depth());
  return Tile(instructionsOf(emitter).emitWgmma(ir, dot));
}

/// The initial accumulators; zero where useC is false.
Tile WarpGroupDotEmitter::initialAccumulators() {
  Tile accumulators = emitter.tile(op.getC());
  if (op.getUseC())
    for (llvm::Value *&sum : accumulators)
      sum = ir.CreateSelect(emitter.scalar(op.getUseC()), sum, llvm::Constant::getNullValue(sum->getType()));
  return accumulators;
}

/// Accumulates runs along k separately, then adds them in full precision.
Tile WarpGroupDotEmitter::accumulateInRuns(const WgmmaDot &dot, int64_t run) {
  Tile accumulators = initialAccumulators();
  for (int64_t from = 0; from < depth(); from += run) {
    WgmmaDot part = dot;
    addInstructions(part, from, std::min(from + run, depth()));
    for (auto [sum, value] : llvm::zip_equal(accumulators, instructionsOf(emitter).emitWgmma(ir, part)))
      sum = ir.CreateFAdd(sum, value);
  }
  return accumulators;
}

LogicalResult WarpGroupDotEmitter::run() {
  const WgmmaDot dot = describe();
  const int64_t mostImprecise = op.getMaxNumImpreciseAcc();
  if (tt::isFp8(right.getElementType()) && mostImprecise <= depth())
    emitter.define(op,
                   accumulateInRuns(dot, std::max<int64_t>(llvm::alignTo(mostImprecise, stepDepth()), stepDepth())));
  else
    emitter.define(op, accumulateAll(dot));
  return success();
}

static LogicalResult emitWarpGroupDot(TtgFunctionEmitter &emitter, ttng::WarpGroupDotOp op) {
  return WarpGroupDotEmitter(emitter, op).run();
}

/// The registers of a tile that dots use: accumulators one by one, elements of an operand packed into words.
static Tile registersInFlight(TtgFunctionEmitter &emitter, Value tile) {
  const Tile &elements = emitter.tile(tile);
  const unsigned bits = tt::elementOf(tile.getType()).getIntOrFloatBitWidth();
  if (bits >= 32)
    return elements;
  Tile words;
  for (ArrayRef<llvm::Value *> rest = elements; !rest.empty(); rest = rest.drop_front(32 / bits))
    words.push_back(emitter.pack(rest.take_front(32 / bits)).front());
  return words;
}

static LogicalResult emitWarpGroupDotWait(TtgFunctionEmitter &emitter, ttng::WarpGroupDotWaitOp op) {
  Tile inFlight;
  SmallVector<size_t> counts;
  for (Value input : op.getInputs()) {
    const Tile registers = isa<RankedTensorType>(input.getType()) ? registersInFlight(emitter, input) : Tile();
    counts.push_back(registers.size());
    llvm::append_range(inFlight, registers);
  }
  const auto waited = instructionsOf(emitter).waitForWgmma(emitter.ir, op.getPendings(), inFlight);
  ArrayRef<llvm::Value *> rest = waited;
  for (auto [input, output, count] : llvm::zip_equal(op.getInputs(), op.getOutputs(), counts)) {
    const size_t elements = emitter.tile(input).size();
    Tile registers(rest.take_front(count));
    rest = rest.drop_front(count);
    if (count == 0)
      registers = emitter.tile(input);
    else if (count < elements)
      registers = emitter.unpack(registers, tt::elementOf(input.getType()), elements);
    emitter.define(output, std::move(registers));
  }
  return success();
}

static LogicalResult emitFence(TtgFunctionEmitter &emitter, ttng::FenceAsyncSharedOp) {
  instructionsOf(emitter).fenceAsyncShared(emitter.ir);
  return success();
}

void nvidia::addWarpGroupDotEmitters(OpEmitters &table) {
  table.add<emitWarpGroupDot, ttng::WarpGroupDotOp>();
  table.add<emitWarpGroupDotWait, ttng::WarpGroupDotWaitOp>();
  table.add<emitFence, ttng::FenceAsyncSharedOp>();
}
