// Builds the loop over a CTA's programs; see docs/why/persistence.md.
// SPDX-License-Identifier: MIT
#include "compiler/target/nvidia/passes/warps/ProgramLoop.h"

#include "compiler/passes/ttg/LoopParts.h"
#include "compiler/target/nvidia/dialect/Dialect.h"
#include "compiler/target/nvidia/dialect/HostTensorMaps.h"
#include "compiler/target/nvidia/passes/warps/SpecialLoops.h"

#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace nereid;
using namespace nereid::nvidia;

/// Programs of different lengths are balanced over so many rounds, which read what some rows of the grid share.
static constexpr int64_t kRounds = 2;

/// Spins on memory need the programs that they wait for; prints and asserts name a program; a tensor map that a kernel
/// makes has memory for each CTA.
static bool needsOwnCta(Operation *op) {
  return mayWait(op) ||
         isa<tt::CallOp, tt::PrintOp, tt::AssertOp, tt::ElementwiseInlineAsmOp, ttng::MakeTensorMapOp>(op);
}

bool nvidia::programsMayShareCtas(tt::FuncOp kernel) {
  const WalkResult result = kernel.getBody().walk(
      [](Operation *op) { return needsOwnCta(op) ? WalkResult::interrupt() : WalkResult::advance(); });
  return !result.wasInterrupted();
}

ProgramLoop::ProgramLoop(tt::FuncOp kernel, LengthTrend trend) : kernel(kernel), trend(trend) {
  Builder builder(kernel.getContext());
  auto add = [&](Type type) {
    const unsigned index = kernel.getNumArguments();
    (void)kernel.insertArgument(index, type, builder.getDictionaryAttr({}), kernel.getLoc());
    return kernel.getArgument(index);
  };
  for (int axis = 0; axis < 3; ++axis)
    extents.push_back(add(builder.getI32Type()));
  add(tt::PointerType::get(builder.getI32Type())); // counters, which programs in a fixed order do not need
  kernel->setAttr(ttng::kPersistent, builder.getUnitAttr());
}

template <typename Op> static Value make(OpBuilder &builder, Location loc, Value a, Value b) {
  return Op::create(builder, loc, a, b);
}

/// The position of a CTA in a round: in odd rounds the mirror image.
static Value positionIn(OpBuilder &builder, Location loc, Value round, Value cta, Value ctas) {
  Value one = arith::ConstantIntOp::create(builder, loc, 1, 32);
  Value last = make<arith::SubIOp>(builder, loc, ctas, one);
  Value isOdd = arith::TruncIOp::create(builder, loc, builder.getI1Type(), round);
  Value mirrored = make<arith::SubIOp>(builder, loc, last, cta);
  return arith::SelectOp::create(builder, loc, isOdd, mirrored, cta);
}

/// Round r gives program r * CTAs + c to CTA c, or to its mirror image in odd rounds: where lengths change slowly from
/// program to program, all CTAs have equal work.
scf::ForOp ProgramLoop::create(OpBuilder &builder, ValueRange inits) {
  const Location loc = kernel.getLoc();
  cta = tt::GetProgramIdOp::create(builder, loc, tt::ProgramDim::X);
  ctas = tt::GetNumProgramsOp::create(builder, loc, tt::ProgramDim::X);
  Value ofPlane = make<arith::MulIOp>(builder, loc, extents[0], extents[1]);
  total = make<arith::MulIOp>(builder, loc, ofPlane, extents[2]);
  Value rounds = make<arith::DivUIOp>(builder, loc, total, ctas),
        rest = make<arith::RemUIOp>(builder, loc, total, ctas);
  Value position = positionIn(builder, loc, rounds, cta, ctas);
  Value hasLast = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ult, position, rest);
  Value more = arith::ExtUIOp::create(builder, loc, builder.getI32Type(), hasLast);
  Value count = make<arith::AddIOp>(builder, loc, rounds, more);
  Value none = arith::ConstantIntOp::create(builder, loc, 0, 32),
        one = arith::ConstantIntOp::create(builder, loc, 1, 32);
  auto loop = scf::ForOp::create(builder, loc, none, count, one, inits);
  if (inits.empty())
    ttg::eraseTerminator(*loop.getBody());
  return loop;
}

/// The program's indices in the order of the grid.
ProgramLoop::Indices ProgramLoop::indicesOf(OpBuilder &builder, Value program) {
  const Location loc = kernel.getLoc();
  Value row = make<arith::DivUIOp>(builder, loc, program, extents[0]);
  return {make<arith::RemUIOp>(builder, loc, program, extents[0]), make<arith::RemUIOp>(builder, loc, row, extents[1]),
          make<arith::DivUIOp>(builder, loc, row, extents[1])};
}

/// The program's indices where lengths change along the first axis. The rows of the grid form groups of some rounds; in
/// a group programs of one length follow each other, alternately from the longest and from the shortest on, and the
/// last group ends with the shortest. Counted from the end, so that the group with the fewest rows comes first. Where
/// the grid has a row for every other CTA, rounds are many and nearly balanced: each row is a group then, in the grid's
/// order.
ProgramLoop::Indices ProgramLoop::indicesByLength(OpBuilder &builder, Value program) {
  const Location loc = kernel.getLoc();
  auto number = [&](int64_t value) -> Value { return arith::ConstantIntOp::create(builder, loc, value, 32); };
  Value one = number(1), length = extents[0], rows = make<arith::MulIOp>(builder, loc, extents[1], extents[2]);
  Value half = make<arith::DivUIOp>(builder, loc, ctas, number(2));
  Value isLarge = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ugt, rows, half);
  Value programs = make<arith::MulIOp>(builder, loc, ctas, number(kRounds));
  Value enough = make<arith::MaxUIOp>(builder, loc, make<arith::DivUIOp>(builder, loc, programs, length), one);
  Value ofGroup = arith::SelectOp::create(builder, loc, isLarge, one, make<arith::MinUIOp>(builder, loc, enough, rows));
  Value inGroup = make<arith::MulIOp>(builder, loc, ofGroup, length);

  Value fromEnd = make<arith::SubIOp>(builder, loc, make<arith::SubIOp>(builder, loc, total, one), program);
  Value group = make<arith::DivUIOp>(builder, loc, fromEnd, inGroup);
  Value rest = make<arith::RemUIOp>(builder, loc, fromEnd, inGroup);
  Value first = make<arith::MulIOp>(builder, loc, group, ofGroup);
  Value size = make<arith::MinUIOp>(builder, loc, ofGroup, make<arith::SubIOp>(builder, loc, rows, first));
  Value rank = make<arith::DivUIOp>(builder, loc, rest, size);
  Value row = make<arith::AddIOp>(builder, loc, first, make<arith::RemUIOp>(builder, loc, rest, size));
  Value reversed = make<arith::SubIOp>(builder, loc, make<arith::SubIOp>(builder, loc, length, one), rank);
  Value isOdd = arith::TruncIOp::create(builder, loc, builder.getI1Type(), group);
  if (trend == LengthTrend::Shrinks)
    isOdd = make<arith::XOrIOp>(builder, loc, isOdd, arith::ConstantIntOp::create(builder, loc, 1, 1));
  Value isReversed = make<arith::OrIOp>(builder, loc, isOdd, isLarge);
  return {arith::SelectOp::create(builder, loc, isReversed, reversed, rank),
          make<arith::RemUIOp>(builder, loc, row, extents[1]), make<arith::DivUIOp>(builder, loc, row, extents[1])};
}

void ProgramLoop::useIndices(scf::ForOp loop, RewriterBase &rewriter) {
  const Location loc = kernel.getLoc();
  SmallVector<Operation *> uses;
  loop->walk([&](Operation *op) {
    if (isa<tt::GetProgramIdOp, tt::GetNumProgramsOp>(op))
      uses.push_back(op);
  });
  rewriter.setInsertionPointToStart(loop.getBody());
  Value round = loop.getInductionVar();
  Value before = make<arith::MulIOp>(rewriter, loc, round, ctas);
  Value program = make<arith::AddIOp>(rewriter, loc, before, positionIn(rewriter, loc, round, cta, ctas));
  const Indices indices =
      trend == LengthTrend::Equal ? indicesOf(rewriter, program) : indicesByLength(rewriter, program);
  for (Operation *op : uses) {
    auto id = dyn_cast<tt::GetProgramIdOp>(op);
    const auto axis = static_cast<unsigned>(id ? id.getAxis() : cast<tt::GetNumProgramsOp>(op).getAxis());
    rewriter.replaceOp(op, id ? indices[axis] : extents[axis]);
  }
}
