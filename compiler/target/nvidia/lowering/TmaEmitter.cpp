// Writes the instructions of TMA copies, tensor maps and mbarriers.
// SPDX-License-Identifier: MIT
#include "compiler/target/nvidia/lowering/TmaEmitter.h"

#include "compiler/target/nvidia/dialect/HostTensorMaps.h"
#include "compiler/target/nvidia/lowering/PtxBuilder.h"

#include "llvm/ADT/StringExtras.h"

using namespace nereid;
using namespace nereid::nvidia;
using namespace nereid::lowering;

/// A shared-memory address in bytes from the start of shared memory.
static llvm::Value *addressOf(IrBuilder &ir, llvm::Value *shared, int64_t offset = 0) {
  llvm::Value *address = ir.CreatePtrToInt(shared, ir.getInt32Ty());
  return offset ? ir.CreateAdd(address, ir.getInt32(offset)) : address;
}

static void emit(IrBuilder &ir, const std::string &text) { PtxBuilder(ir).emit(text, llvm::MemoryEffects::unknown()); }

/// Emits an instruction that all lanes of a warp execute together.
static void emitTogether(PtxBuilder &assembly, const std::string &text) {
  auto *call = llvm::cast<llvm::CallInst>(assembly.emit(text, llvm::MemoryEffects::unknown()).front());
  call->addFnAttr(llvm::Attribute::Convergent);
}

static void syncWarp(IrBuilder &ir) {
  PtxBuilder assembly(ir);
  emitTogether(assembly, "bar.warp.sync 0xffffffff;");
}

//--- tensor maps ---------------------------------------------------------------------------

unsigned nvidia::elementCode(mlir::Type element, bool isUnsigned) {
  if (element.isF16())
    return 6;
  if (element.isF32())
    return 7;
  if (element.isF64())
    return 9;
  if (element.isBF16())
    return 10;
  switch (element.getIntOrFloatBitWidth()) {
  case 8:
    return 0;
  case 16:
    return 1;
  case 32:
    return isUnsigned ? 2 : 3;
  default:
    return isUnsigned ? 4 : 5;
  }
}
static constexpr unsigned kTf32Code = 11;

unsigned nvidia::swizzleMode(unsigned swizzleBytes) {
  return swizzleBytes == 128 ? 3 : swizzleBytes == 64 ? 2 : swizzleBytes == 32 ? 1 : 0;
}

namespace {
/// Writes a tensor map field by field, by the warp's first lane.
class TensorMapWriter {
public:
  TensorMapWriter(IrBuilder &ir, llvm::Value *isFirst, llvm::Value *scratch)
      : ir(ir), isFirst(isFirst), scratch(scratch) {}

  void write(const TensorMap &map) {
    replace("global_address", "b64", "", ir.CreatePtrToInt(map.base, ir.getInt64Ty()));
    replace("rank", "b32", "", ir.getInt32(map.extents.size() - 1));
    for (unsigned dim = 0; dim < map.extents.size(); ++dim) {
      const std::string index = std::to_string(dim);
      replace("box_dim", "b32", index, ir.getInt32(map.box[dim]));
      replace("global_dim", "b32", index, ir.CreateTrunc(map.extents[dim], ir.getInt32Ty()));
      if (dim + 1 < map.extents.size())
        replace("global_stride", "b64", index, map.strides[dim]);
      replace("element_stride", "b32", index, ir.getInt32(1));
    }
    set("elemtype", elementCode(map.element, map.isUnsigned), isFirst);
    if (map.element.isF32())
      set("elemtype", kTf32Code, ir.CreateAnd(isFirst, map.roundsToTf32));
    set("interleave_layout", 0, isFirst);
    set("swizzle_mode", swizzleMode(map.swizzleBytes), isFirst);
    set("fill_mode", 0, isFirst);
    if (map.element.isFloat())
      set("fill_mode", 1, ir.CreateAnd(isFirst, map.padsWithNan));
  }

private:
  void replace(const char *field, const char *type, const std::string &index, llvm::Value *value) {
    PtxBuilder assembly(ir);
    const std::string where = assembly.input(isFirst), to = assembly.input(scratch), what = assembly.input(value);
    assembly.emit("@" + where + " tensormap.replace.tile." + field + ".shared::cta.b1024." + type + " [" + to + "], " +
                      (index.empty() ? "" : index + ", ") + what + ";",
                  llvm::MemoryEffects::unknown());
  }
  /// Sets a field that takes immediates only.
  void set(const char *field, unsigned number, llvm::Value *where) {
    PtxBuilder assembly(ir);
    const std::string condition = assembly.input(where), to = assembly.input(scratch);
    assembly.emit("@" + condition + " tensormap.replace.tile." + field + ".shared::cta.b1024.b32 [" + to + "], " +
                      std::to_string(number) + ";",
                  llvm::MemoryEffects::unknown());
  }

  IrBuilder &ir;
  llvm::Value *isFirst, *scratch;
};
} // namespace

void TmaEmitter::markTensorMapParameter(llvm::Argument &parameter) {
  llvm::LLVMContext &context = parameter.getContext();
  auto *type = llvm::ArrayType::get(llvm::Type::getInt8Ty(context), ttng::kTensorMapBytes);
  parameter.addAttr(llvm::Attribute::getWithByValType(context, type));
  parameter.addAttr(llvm::Attribute::getWithAlignment(context, llvm::Align(ttng::kTensorMapAlign)));
  // PTX ISA: TMA reads a tensor map in parameter space through its generic address, without a copy.
  parameter.addAttr(llvm::Attribute::get(context, "nvvm.grid_constant"));
}

/// Waits for stores in flight, which may use an earlier tensor map at that address, then writes the new one in shared
/// memory and copies it to global memory with a fence for the tensor-map proxy.
void TmaEmitter::makeTensorMap(IrBuilder &ir, const TensorMap &map, llvm::Value *scratch, llvm::Value *target,
                               llvm::Value *lane) {
  emit(ir, "cp.async.bulk.wait_group 0;");
  llvm::Value *word = ir.CreatePtrAdd(scratch, ir.CreateMul(lane, ir.getInt32(4)));
  ir.CreateAlignedStore(ir.getInt32(0), word, llvm::Align(4), /*isVolatile=*/true);
  syncWarp(ir);
  // A 64-bit address in the shared window, as the instructions require.
  llvm::Value *shared = ir.CreateZExt(addressOf(ir, scratch), ir.getInt64Ty());
  TensorMapWriter(ir, ir.CreateICmpEQ(lane, ir.getInt32(0)), shared).write(map);
  syncWarp(ir);
  PtxBuilder copy(ir);
  const std::string to = copy.input(ir.CreatePtrToInt(target, ir.getInt64Ty())), from = copy.input(shared);
  emitTogether(copy, "tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu.sync.aligned [" + to +
                         "], [" + from + "], 128;\nfence.proxy.tensormap::generic.acquire.gpu [" + to + "], 128;");
}

void TmaEmitter::acquireTensorMap(IrBuilder &ir, llvm::Value *map) {
  PtxBuilder fence(ir);
  const std::string at = fence.input(ir.CreatePtrToInt(map, ir.getInt64Ty()));
  fence.emit("fence.proxy.tensormap::generic.acquire.gpu [" + at + "], 128;", llvm::MemoryEffects::unknown());
}

//--- barriers ------------------------------------------------------------------------------

void TmaEmitter::initBarrier(IrBuilder &ir, llvm::Value *barrier, int64_t offset, unsigned count) {
  PtxBuilder assembly(ir);
  const std::string at = assembly.input(addressOf(ir, barrier, offset));
  assembly.emit("mbarrier.init.shared::cta.b64 [" + at + "], " + std::to_string(count) + ";",
                llvm::MemoryEffects::unknown());
}

void TmaEmitter::invalidateBarrier(IrBuilder &ir, llvm::Value *barrier, int64_t offset) {
  PtxBuilder assembly(ir);
  const std::string at = assembly.input(addressOf(ir, barrier, offset));
  assembly.emit("mbarrier.inval.shared::cta.b64 [" + at + "];", llvm::MemoryEffects::unknown());
}

void TmaEmitter::fence(IrBuilder &ir, bool ofGlobal) {
  emit(ir, ofGlobal ? "fence.proxy.async;" : "fence.proxy.async.shared::cta;");
}

void TmaEmitter::expect(IrBuilder &ir, llvm::Value *barrier, unsigned bytes) {
  PtxBuilder assembly(ir);
  const std::string at = assembly.input(addressOf(ir, barrier));
  assembly.emit("mbarrier.arrive.expect_tx.shared::cta.b64 _, [" + at + "], " + std::to_string(bytes) + ";",
                llvm::MemoryEffects::unknown());
}

void TmaEmitter::arriveByWarp(IrBuilder &ir, llvm::Value *barrier, llvm::Value *isFirstLane) {
  PtxBuilder assembly(ir);
  const std::string at = assembly.input(addressOf(ir, barrier)), condition = assembly.input(isFirstLane);
  emitTogether(assembly,
               "bar.warp.sync 0xffffffff;\n@" + condition + " mbarrier.arrive.shared::cta.b64 _, [" + at + "];");
}

void TmaEmitter::arrive(IrBuilder &ir, llvm::Value *barrier, unsigned count) {
  PtxBuilder assembly(ir);
  const std::string at = assembly.input(addressOf(ir, barrier));
  // PTX ISA: a count requires compute capability 9.0.
  assembly.emit("mbarrier.arrive.shared::cta.b64 _, [" + at + "]" + (count == 1 ? "" : ", " + std::to_string(count)) +
                    ";",
                llvm::MemoryEffects::unknown());
}

void TmaEmitter::arriveAfterCopies(IrBuilder &ir, llvm::Value *barrier, bool isCounted) {
  PtxBuilder assembly(ir);
  const std::string at = assembly.input(addressOf(ir, barrier));
  assembly.emit(std::string("cp.async.mbarrier.arrive") + (isCounted ? ".noinc" : "") + ".shared::cta.b64 [" + at +
                    "];",
                llvm::MemoryEffects::unknown());
}

void TmaEmitter::waitForBarrier(IrBuilder &ir, llvm::Value *barrier, llvm::Value *parity, bool byWarp, bool suspends) {
  PtxBuilder assembly(ir);
  const std::string at = assembly.input(addressOf(ir, barrier)), phase = assembly.input(parity);
  emitTogether(assembly, std::string("{\n.reg .pred done;\nagain:\nmbarrier.") + (suspends ? "try" : "test") +
                             "_wait.parity.shared::cta.b64 done, [" + at + "], " + phase + ";\n@!done bra again;\n" +
                             (byWarp ? "bar.warp.sync 0xffffffff;\n" : "") + "}");
}

//--- copies --------------------------------------------------------------------------------

/// "[$0, {$1, $2}]"
static std::string boxText(IrBuilder &ir, PtxBuilder &assembly, const BoxCopy &copy) {
  std::string text = "[" + assembly.input(ir.CreatePtrToInt(copy.map, ir.getInt64Ty())) + ", {";
  for (auto [index, begin] : llvm::enumerate(copy.begin))
    text += (index ? ", " : "") + assembly.input(begin);
  return text + "}]";
}

static std::string dimsText(const BoxCopy &copy) { return std::to_string(copy.begin.size()) + "d"; }

/// The L2 cache policy of an eviction class; empty for the default one.
static const char *policyOf(tt::EvictionPolicy evict) {
  switch (evict) {
  case tt::EvictionPolicy::EVICT_FIRST:
    return "evict_first";
  case tt::EvictionPolicy::EVICT_LAST:
    return "evict_last";
  case tt::EvictionPolicy::NORMAL:
    return "";
  }
  llvm_unreachable("all policies are listed");
}

void TmaEmitter::load(IrBuilder &ir, const BoxCopy &copy, llvm::Value *barrier, tt::EvictionPolicy evict) {
  PtxBuilder assembly(ir);
  const std::string to = assembly.input(addressOf(ir, copy.shared, copy.sharedOffset));
  const std::string box = boxText(ir, assembly, copy), counter = assembly.input(addressOf(ir, barrier));
  const std::string policy = policyOf(evict);
  std::string text =
      "cp.async.bulk.tensor." + dimsText(copy) + ".shared::cluster.global.tile.mbarrier::complete_tx::bytes";
  if (policy.empty())
    text += " [" + to + "], " + box + ", [" + counter + "];";
  else
    text = "{\n.reg .b64 policy;\ncreatepolicy.fractional.L2::" + policy + ".b64 policy, 1.0;\n" + text +
           ".L2::cache_hint [" + to + "], " + box + ", [" + counter + "], policy;\n}";
  assembly.emit(text, llvm::MemoryEffects::unknown());
}

void TmaEmitter::store(IrBuilder &ir, const BoxCopy &copy, std::optional<tt::DescriptorReduceKind> kind) {
  PtxBuilder assembly(ir);
  const std::string box = boxText(ir, assembly, copy),
                    from = assembly.input(addressOf(ir, copy.shared, copy.sharedOffset));
  std::string text = kind ? "cp.reduce.async.bulk.tensor." : "cp.async.bulk.tensor.";
  text += dimsText(copy) + ".global.shared::cta";
  if (kind)
    text += "." + llvm::StringRef(tt::stringifyDescriptorReduceKind(*kind)).lower();
  text += ".tile.bulk_group " + box + ", [" + from + "];";
  assembly.emit(text, llvm::MemoryEffects::unknown());
}

void TmaEmitter::commitStores(IrBuilder &ir) { emit(ir, "cp.async.bulk.commit_group;"); }

void TmaEmitter::waitForStores(IrBuilder &ir, unsigned pending, bool readOnly) {
  emit(ir, std::string("cp.async.bulk.wait_group") + (readOnly ? ".read " : " ") + std::to_string(pending) + ";");
}
