// Follows a program's control flow, and counts what its dots cost.
// SPDX-License-Identifier: MIT
#include "compiler/target/cpu/ProgramWork.h"

#include "compiler/target/cpu/NestWork.h"

#include "mlir/Dialect/SCF/IR/SCF.h"

#include "llvm/ADT/TypeSwitch.h"

#include <algorithm>

using namespace mlir;
using namespace nereid;
using namespace nereid::cpu;

/// Of a scalar op, of an iteration of a loop.
static constexpr double kScalarCycles = 0.5, kIterationCycles = 4;
/// From the start of a multiply-add to its result.
static constexpr double kMultiplyLatency = 4;
/// Loads, stores and jumps around one block of accumulators.
static constexpr double kBlockCycles = 12;
/// Of a dot's call and of the ends of its loops.
static constexpr double kDotCycles = 60;

ProgramWork ProgramWork::repeated(double times) const {
  return {vectors * times, dots * times, memory * times, bytes * times};
}

void ProgramWork::add(const ProgramWork &other) {
  vectors += other.vectors;
  dots += other.dots;
  memory += other.memory;
  bytes += other.bytes;
}

double cpu::bytesPerCycle(const CpuFeatures &machine, uint64_t bytes) {
  constexpr uint64_t kFirstCache = 32 << 10, kSecondCache = 1 << 20, kLastCache = 32 << 20;
  if (bytes == 0)
    return 16;
  if (bytes <= kFirstCache)
    return 64;
  if (bytes <= kSecondCache)
    return 32;
  return bytes <= (machine.cacheBytes ? machine.cacheBytes : kLastCache) ? 16 : 4;
}

namespace {
/// A dot as it is emitted: elements along K come in groups as wide as an accumulator.
struct DotShape {
  double batch = 1, rows = 1, columns = 1, depth = 1;
  double lanes = 1;    ///< of a vector
  double size = 4;     ///< of an accumulator, in bytes
  bool isWide = false; ///< 32 registers, not 16
};
} // namespace

/// Cycles of a strip of `vectors` vectors of columns. Of two multiply-adds a cycle, each waits for its accumulator.
static double stripCycles(const DotShape &dot, double vectors, double iterations) {
  const double registers = dot.isWide ? 32 : 16;
  const double rows = std::max(1.0, std::min({std::floor((registers - 2 - vectors) / vectors), 16.0, dot.rows}));
  const double ofEach = std::max({rows * vectors / 2, (rows + vectors) / 2, kMultiplyLatency});
  const double blocks = std::ceil(dot.rows / rows);
  return blocks * (dot.depth * ofEach + (kBlockCycles + 1.5 * rows * vectors) / iterations);
}

/// Cycles of a dot by vectors.
static double vectorCycles(const DotShape &dot, double iterations) {
  const double lanes = std::min(dot.lanes, dot.columns), most = dot.isWide ? 4 : 2;
  const double vectors = std::min(most, std::max(1.0, std::floor(dot.columns / lanes)));
  return dot.batch * std::ceil(dot.columns / (lanes * vectors)) * stripCycles(dot, vectors, iterations);
}

ProgramWork WorkCounter::ofDot(const Step &step) {
  auto op = cast<tt::DotOp>(step.op);
  const TileDot &tile = *step.dot;
  const ArrayRef<int64_t> result = tt::shapeOf(op.getType());
  DotShape dot;
  dot.batch = result.size() == 3 ? double(result.front()) : 1;
  dot.rows = double(result[result.size() - 2]);
  dot.columns = double(result.back());
  dot.depth = double(tt::shapeOf(op.getA().getType()).back()) / tile.form.group;
  dot.size = double(storageBytes(tt::elementOf(op.getType())));
  dot.lanes = kernel.vectors.registerBits / (8 * dot.size);
  dot.isWide = kernel.vectors.hasAvx512;
  const double products = dot.batch * dot.rows * dot.columns * dot.depth;
  ProgramWork work;
  // A tile of 16x16 is multiplied in 16 cycles; loads of tiles take about as long.
  work.dots = kDotCycles + (tile.form.usesTiles ? products / 128 : vectorCycles(dot, tile.iterations));
  if (tile.packed)
    work.vectors += dot.batch * dot.depth * dot.columns * 2 / dot.lanes;
  // Each strip of columns reads all of `a`; each block of rows a strip of `b`, which stays in the first cache.
  const double strips = std::ceil(dot.columns / (dot.lanes * (dot.isWide ? 4 : 2)));
  const double bytesOfA = dot.rows * dot.depth * dot.size, bytesOfB = dot.depth * dot.columns * dot.size;
  const double moved = dot.batch * (strips * bytesOfA + bytesOfB);
  const double rate = bytesPerCycle(kernel.vectors, uint64_t(bytesOfA + bytesOfB));
  work.memory = std::max(0.0, moved / rate - work.dots * 0.7);
  return work;
}

ProgramWork WorkCounter::ofControl(const Step &step) {
  const auto region = [&](size_t index) {
    return index < step.regions.size() ? of(step.regions[index]) : ProgramWork();
  };
  const auto loop = [&](ProgramWork body, double trips) {
    body.vectors += kIterationCycles;
    return body.repeated(trips);
  };
  return llvm::TypeSwitch<Operation *, ProgramWork>(step.op)
      .Case([&](scf::ForOp op) { return loop(region(0), values.tripCount(op)); })
      .Case([&](scf::WhileOp op) {
        ProgramWork both = region(0);
        both.add(region(1));
        return loop(both, values.tripCount(op));
      })
      .Case([&](scf::IfOp op) {
        const std::optional<int64_t> condition = values.of(op.getCondition());
        if (condition)
          return region(*condition ? 0 : 1);
        const ProgramWork first = region(0), second = region(1);
        return first.cycles() >= second.cycles() ? first : second;
      })
      .Default([&](Operation *) {
        ProgramWork all;
        for (size_t index = 0; index < step.regions.size(); ++index)
          all.add(region(index));
        return all;
      });
}

ProgramWork WorkCounter::ofNest(const Nest &nest) {
  const NestWork found = workOf(nest, kernel, values, memoryBytes);
  ProgramWork work;
  work.vectors = found.cycles;
  work.memory = std::max(0.0, found.memoryCycles - 0.7 * found.cycles);
  work.bytes = found.bytes;
  return work;
}

ProgramWork WorkCounter::ofStep(const Step &step) {
  switch (step.kind) {
  case StepKind::Scalar:
    return {.vectors = kScalarCycles};
  case StepKind::Guard: // a comparison of ranges
    return {.vectors = 10 * kScalarCycles};
  case StepKind::Nest:
    return ofNest(*step.nest);
  case StepKind::Dot:
    return ofDot(step);
  case StepKind::Control:
    return ofControl(step);
  }
  llvm_unreachable("all kinds are listed");
}

ProgramWork WorkCounter::of(const Sequence &sequence) {
  ProgramWork work;
  for (const Step &step : sequence.steps)
    work.add(ofStep(step));
  return work;
}
