// Plans shared memory; prints what the passes decided about a kernel, op by op with its source line.
// SPDX-License-Identifier: MIT
#include "compiler/lowering/gpu/GpuPlan.h"

#include "compiler/analysis/Barriers.h"
#include "compiler/analysis/MemoryAccess.h"
#include "compiler/dialect/imported/Dialect.h"
#include "compiler/dialect/tt/LoopAttributes.h"
#include "compiler/dialect/tt/Report.h"
#include "compiler/dialect/ttg/AsyncInterfaces.h"
#include "compiler/dialect/ttg/TargetInterface.h"
#include "compiler/lowering/gpu/TileMoves.h"

#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace nereid;
using namespace nereid::lowering;

namespace {
class PlanText {
public:
  PlanText(ModuleOp module, const analysis::SharedMemoryPlan &shared, llvm::raw_ostream &os)
      : module(module), shared(shared), axes(module), os(os) {}

  void write(tt::FuncOp function);

private:
  void begin(Operation *op);
  void writeMoves(tt::FuncOp function);
  void writeMove(Operation *op);
  void writeAccess(const analysis::MemoryAccess &access);
  void writePattern(const layout::SharedAccessPattern &pattern);
  void writeConversion(ttg::ConvertLayoutOp op);
  void writeSharedAccess(Operation *op, ttg::MemDescType buffer);
  void writeLoops(tt::FuncOp function);
  void writeSharedMemory(tt::FuncOp function);
  void writeBarriers(tt::FuncOp function);
  void writeWarps(ttg::WarpSpecializeOp op);

  ModuleOp module;
  const analysis::SharedMemoryPlan &shared;
  index::AxisInfoAnalysis axes;
  llvm::raw_ostream &os;
};
} // namespace

static unsigned lineOf(Operation *op) {
  auto range = op->getLoc()->findInstanceOf<FileLineColRange>();
  return range ? range.getStartLine() : 0;
}

/// "  12  tt.load"; line 0 stands for ops without a source position.
void PlanText::begin(Operation *op) { os << llvm::format("  %4u  ", lineOf(op)) << op->getName() << " "; }

static void writeShape(llvm::raw_ostream &os, ArrayRef<int64_t> shape, Type element) {
  for (int64_t extent : shape)
    os << extent << "x";
  os << element;
}

//--- layouts -------------------------------------------------------------------------------

void PlanText::writeAccess(const analysis::MemoryAccess &access) {
  RankedTensorType tile = access.tile();
  begin(access.op);
  writeShape(os, tile.getShape(), tt::elementOf(tt::pointeeLike(tile)));
  os << " in vectors of " << access.bytes(analysis::vectorElems(access, axes)) << " bytes, " << tile.getEncoding()
     << "\n";
}

static const char *nameOf(layout::ConversionKind kind) {
  switch (kind) {
  case layout::ConversionKind::None:
    return "nothing";
  case layout::ConversionKind::Registers:
    return "renamed registers";
  case layout::ConversionKind::Shuffle:
    return "shuffles";
  case layout::ConversionKind::Shared:
    return "shared memory";
  }
  return "";
}

void PlanText::writePattern(const layout::SharedAccessPattern &pattern) {
  os << pattern.accesses.size() << " accesses of " << pattern.wavefronts << " wavefronts, " << pattern.conflicts
     << " of them for conflicts";
  if (pattern.matrix != layout::MatrixForm::None)
    os << (pattern.matrix == layout::MatrixForm::Transposed ? ", as transposed matrices" : ", as matrices");
}

void PlanText::writeConversion(ttg::ConvertLayoutOp op) {
  auto from = cast<RankedTensorType>(op.getSrc().getType()), to = cast<RankedTensorType>(op.getType());
  begin(op);
  writeShape(os, to.getShape(), to.getElementType());
  const layout::ConversionPlan plan = ttg::planConversion(op);
  os << " by " << nameOf(plan.kind);
  if (plan.kind == layout::ConversionKind::Shared) {
    os << (plan.shared.isWithinWarps ? " within warps" : "") << ", stores: ";
    writePattern(plan.shared.store);
    os << ", loads: ";
    writePattern(plan.shared.load);
  }
  os << ", " << from.getEncoding() << " -> " << to.getEncoding() << "\n";
}

void PlanText::writeSharedAccess(Operation *op, ttg::MemDescType buffer) {
  const SharedTileAccess access = *sharedTileAccess(op);
  begin(op);
  writeShape(os, access.tile.getShape(), access.tile.getElementType());
  os << " by ";
  writePattern(access.pattern);
  os << ", " << access.tile.getEncoding() << ", " << buffer.getEncoding() << "\n";
}

void PlanText::writeMove(Operation *op) {
  if (auto access = analysis::anyAccessOf(op); access && access->tile())
    return writeAccess(*access);
  if (auto convert = dyn_cast<ttg::ConvertLayoutOp>(op))
    return writeConversion(convert);
  if (auto load = dyn_cast<ttg::LocalLoadOp>(op))
    return writeSharedAccess(op, load.getSrc().getType());
  if (auto store = dyn_cast<ttg::LocalStoreOp>(op))
    return writeSharedAccess(op, store.getDst().getType());
  if (auto allocation = dyn_cast<ttg::LocalAllocOp>(op); allocation && allocation.getSrc())
    return writeSharedAccess(op, allocation.getType());
  auto dot = dyn_cast<tt::DotOpInterface>(op);
  if (!dot)
    return;
  auto accumulator = cast<RankedTensorType>(dot.getD().getType());
  begin(op);
  writeShape(os, accumulator.getShape(), accumulator.getElementType());
  os << ", " << accumulator.getEncoding() << "\n";
}

void PlanText::writeMoves(tt::FuncOp function) {
  os << "\nlayouts, by line\n";
  function.walk([&](Operation *op) { writeMove(op); });
}

//--- loops ---------------------------------------------------------------------------------

/// Ops that show when things happen in an iteration.
static bool isScheduledOp(Operation *op) {
  return isa<ttg::AsyncCopyGlobalToLocalOp, ttg::AsyncCommitGroupOp, ttg::AsyncWaitOp, ttg::LocalLoadOp,
             ttg::LocalAllocOp, ttg::LocalStoreOp, tt::DotOp, tt::DotScaledOp, tt::LoadOp, tt::StoreOp, tt::ReduceOp,
             ttg::ConvertLayoutOp>(op) ||
         (op->getDialect() && op->getDialect()->getRegisteredInterface<ttg::TargetInterface>());
}

void PlanText::writeLoops(tt::FuncOp function) {
  function.walk<WalkOrder::PreOrder>([&](scf::ForOp loop) {
    auto ahead = loop->getAttrOfType<IntegerAttr>(tt::kScheduledStage);
    os << "\nloop at line " << lineOf(loop) << ": ";
    if (ahead)
      os << "loads run up to " << ahead.getInt() << " iterations ahead; an iteration\n";
    else
      os << "an iteration\n";
    for (Operation &op : *loop.getBody()) {
      if (!isScheduledOp(&op))
        continue;
      begin(&op);
      for (StringRef detail : {"num", "pendings"})
        if (auto value = op.getAttrOfType<IntegerAttr>(detail))
          os << "until " << value.getInt() << " are pending";
      if (auto dot = dyn_cast<tt::DotOpInterface>(op); dot && dot.isAsynchronous())
        os << "asynchronously";
      os << "\n";
    }
  });
}

//--- shared memory -------------------------------------------------------------------------

void PlanText::writeSharedMemory(tt::FuncOp function) {
  SmallVector<Operation *> owners;
  function.walk([&](Operation *op) {
    if (shared.offsetOf.contains(op))
      owners.push_back(op);
  });
  auto offsetAndLine = [&](Operation *op) {
    const analysis::SharedRange range = shared.rangeOf(op);
    return std::tuple(range.begin, range.end, lineOf(op));
  };
  llvm::sort(owners, [&](Operation *a, Operation *b) { return offsetAndLine(a) < offsetAndLine(b); });
  os << "\nshared memory, " << shared.bytes << " bytes\n";
  for (Operation *op : owners) {
    const analysis::SharedRange range = shared.rangeOf(op);
    os << llvm::format("  [%6u, %6u)", range.begin, range.end);
    begin(op);
    if (auto allocation = dyn_cast<ttg::LocalAllocOp>(op)) {
      const ttg::MemDescType buffer = allocation.getType();
      writeShape(os, buffer.getShape(), buffer.getElementType());
      os << ", " << buffer.getEncoding();
    }
    os << "\n";
  }
}

void PlanText::writeBarriers(tt::FuncOp function) {
  const analysis::BarrierPlan plan = analysis::planBarriers(function, shared);
  unsigned asked = 0, within = 0;
  function.walk([&](Operation *op) {
    asked += isa<ttg::BarrierOp, imported::BarrierOp>(op);
    within += analysis::barriersWithin(op);
  });
  const unsigned between = plan.needsBarrierBefore.size();
  os << "\nbarriers, " << between + asked + within << ": within ops " << within << ", written by hand " << asked
     << ", between ops " << between << "\n";
  function.walk([&](Operation *op) {
    if (!plan.needsBarrierBefore.contains(op))
      return;
    os << "  before";
    begin(op);
    os << "\n";
  });
}

void PlanText::writeWarps(ttg::WarpSpecializeOp op) {
  for (unsigned region = 0; region < op->getNumRegions(); ++region) {
    const auto [first, count] = op.warpsOf(region);
    os << "  " << (region ? "partition " + std::to_string(region - 1) : "default") << ": warps " << first << " to "
       << first + count - 1;
    if (auto registers = op.getActualRegisters())
      os << ", " << (*registers)[region] << " registers";
    os << "\n";
  }
}

void PlanText::write(tt::FuncOp function) {
  os << (function.isPublic() ? "kernel " : "function ") << function.getSymName() << ", " << ttg::totalWarpsOf(module)
     << " warps\n";
  function.walk([&](ttg::WarpSpecializeOp op) { writeWarps(op); });
  writeMoves(function);
  writeLoops(function);
  writeSharedMemory(function);
  writeBarriers(function);
}

analysis::SharedMemoryPlan lowering::planSharedMemory(ModuleOp module, tt::FuncOp kernel,
                                                      const SharedMemoryLimit &limit) {
  analysis::SharedMemoryPlan shared = analysis::planSharedMemory(module);
  if (shared.bytes > limit.bytes) {
    const auto [op, bytes] = analysis::largestBuffer(kernel, shared);
    tt::report(op->getLoc(), limit.exceeded, kernel.getSymName(), shared.bytes, bytes, limit.gpu, limit.bytes);
  }
  return shared;
}

std::string lowering::printTtg(ModuleOp module) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  module.print(stream, OpPrintingFlags().enableDebugInfo());
  return text;
}

std::string lowering::printPlan(ModuleOp module, const analysis::SharedMemoryPlan &shared) {
  std::string text;
  llvm::raw_string_ostream os(text);
  PlanText plan(module, shared, os);
  for (auto function : module.getOps<tt::FuncOp>())
    if (!function.isExternal())
      plan.write(function);
  return text;
}
