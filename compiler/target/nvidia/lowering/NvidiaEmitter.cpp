// Implements TargetEmitter for NVIDIA GPUs, except memory accesses.
// SPDX-License-Identifier: MIT
#include "compiler/target/nvidia/lowering/NvidiaEmitter.h"

#include "compiler/dialect/tt/Elements.h"
#include "compiler/target/nvidia/lowering/LibraryBitcode.h"

#include "llvm/IR/ConstantRange.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/IntrinsicsNVPTX.h"

using namespace nereid;
using namespace nereid::nvidia;
using namespace nereid::lowering;

/// PTX ISA, div.full.f32: 2 ulp over the full range.
static llvm::Value *divideFull(llvm::IRBuilderBase &ir, llvm::Value *a, llvm::Value *b) {
  return ir.CreateIntrinsic(llvm::Intrinsic::nvvm_div_full, {}, {a, b});
}

NvidiaEmitter::NvidiaEmitter(const Arch &arch, llvm::ArrayRef<support::ExternLibrary> externLibraries)
    : arch(arch), features{.hasFma = true, .hasLibm = false, .avoidsBranches = true, .approxDivide = divideFull},
      libraries(libraryBitcode(), features, externLibraries) {}

void NvidiaEmitter::addOpEmitters(OpEmitters &table) {
  addBarrierEmitters(table);
  addClusterEmitters(table);
  addMmaDotEmitters(table);
  addTmaEmitters(table);
  addWarpGroupDotEmitters(table);
}

//--- program -------------------------------------------------------------------------------

void NvidiaEmitter::markKernel(llvm::Function &function, const LaunchBounds &bounds) {
  function.setCallingConv(llvm::CallingConv::PTX_Kernel);
  function.addFnAttr("nvvm.reqntid", std::to_string(bounds.numThreads));
  if (bounds.maxRegisters)
    function.addFnAttr("nvvm.maxnreg", std::to_string(bounds.maxRegisters));
  // ptxas ignores setmaxnreg where it does not know the registers with which a thread starts.
  if (bounds.reassignsRegisters)
    function.addFnAttr("nvvm.minctasm", "1");
}

bool NvidiaEmitter::markParameterByValue(llvm::Argument &parameter) {
  if (!tma())
    return false;
  tma()->markTensorMapParameter(parameter);
  return true;
}

static llvm::Value *readRegister(IrBuilder &ir, llvm::Intrinsic::ID id, uint32_t begin, uint64_t end) {
  llvm::CallInst *call = ir.CreateIntrinsic(id, llvm::ArrayRef<llvm::Type *>(), llvm::ArrayRef<llvm::Value *>());
  call->addRangeRetAttr(llvm::ConstantRange(llvm::APInt(32, begin), llvm::APInt(32, end)));
  return call;
}

// CUDA programming guide: a grid has at most 2^31 - 1 blocks along x and 65535 along y and z.
static constexpr uint64_t largestGrid[] = {0x7fffffff, 0xffff, 0xffff};

llvm::Value *NvidiaEmitter::programId(IrBuilder &ir, unsigned axis) {
  static constexpr llvm::Intrinsic::ID ids[] = {llvm::Intrinsic::nvvm_read_ptx_sreg_ctaid_x,
                                                llvm::Intrinsic::nvvm_read_ptx_sreg_ctaid_y,
                                                llvm::Intrinsic::nvvm_read_ptx_sreg_ctaid_z};
  return readRegister(ir, ids[axis], 0, largestGrid[axis]);
}

llvm::Value *NvidiaEmitter::numPrograms(IrBuilder &ir, unsigned axis) {
  static constexpr llvm::Intrinsic::ID ids[] = {llvm::Intrinsic::nvvm_read_ptx_sreg_nctaid_x,
                                                llvm::Intrinsic::nvvm_read_ptx_sreg_nctaid_y,
                                                llvm::Intrinsic::nvvm_read_ptx_sreg_nctaid_z};
  return readRegister(ir, ids[axis], 1, largestGrid[axis] + 1);
}

llvm::Value *NvidiaEmitter::threadId(IrBuilder &ir, unsigned numThreads) {
  return readRegister(ir, llvm::Intrinsic::nvvm_read_ptx_sreg_tid_x, 0, numThreads);
}

void NvidiaEmitter::barrier(IrBuilder &ir, const BarrierScope &scope) {
  if (scope.numThreads)
    ir.CreateIntrinsic(llvm::Intrinsic::nvvm_barrier_cta_sync_aligned_count, {},
                       {ir.getInt32(scope.id), ir.getInt32(scope.numThreads)});
  else
    ir.CreateIntrinsic(llvm::Intrinsic::nvvm_barrier_cta_sync_aligned_all, {}, {ir.getInt32(scope.id)});
}

void NvidiaEmitter::syncWarp(IrBuilder &ir) {
  ir.CreateIntrinsic(llvm::Intrinsic::nvvm_bar_warp_sync, {}, {ir.getInt32(~0u)});
}

llvm::Value *NvidiaEmitter::clusterRank(IrBuilder &ir) {
  return readRegister(ir, llvm::Intrinsic::nvvm_read_ptx_sreg_cluster_ctarank, 0, kMaxClusterCtas);
}

void NvidiaEmitter::arriveAtCluster(IrBuilder &ir) {
  ir.CreateIntrinsic(llvm::Intrinsic::nvvm_barrier_cluster_arrive_aligned, llvm::ArrayRef<llvm::Value *>());
}

void NvidiaEmitter::waitForCluster(IrBuilder &ir) {
  ir.CreateIntrinsic(llvm::Intrinsic::nvvm_barrier_cluster_wait_aligned, llvm::ArrayRef<llvm::Value *>());
}

llvm::Value *NvidiaEmitter::sharedOfCta(IrBuilder &ir, llvm::Value *pointer, llvm::Value *rank) {
  return ir.CreateIntrinsic(llvm::Intrinsic::nvvm_mapa_shared_cluster, {}, {pointer, rank});
}

bool NvidiaEmitter::setRegisters(IrBuilder &ir, unsigned count, bool isIncrease) {
  if (!arch.hasWgmma)
    return false;
  const auto id = isIncrease ? llvm::Intrinsic::nvvm_setmaxnreg_inc_sync_aligned_u32
                             : llvm::Intrinsic::nvvm_setmaxnreg_dec_sync_aligned_u32;
  ir.CreateIntrinsic(id, {}, {ir.getInt32(count)});
  return true;
}

//--- warps ---------------------------------------------------------------------------------

static constexpr uint32_t allLanes = 0xffffffff, lastLane = 31;

llvm::Value *NvidiaEmitter::shuffleXor(IrBuilder &ir, llvm::Value *word, unsigned laneMask) {
  return ir.CreateIntrinsic(llvm::Intrinsic::nvvm_shfl_sync_bfly_i32, {},
                            {ir.getInt32(allLanes), word, ir.getInt32(laneMask), ir.getInt32(lastLane)});
}

llvm::Value *NvidiaEmitter::shuffleIndex(IrBuilder &ir, llvm::Value *word, llvm::Value *lane) {
  return ir.CreateIntrinsic(llvm::Intrinsic::nvvm_shfl_sync_idx_i32, {},
                            {ir.getInt32(allLanes), word, lane, ir.getInt32(lastLane)});
}

static llvm::Intrinsic::ID warpReductionId(WarpReduction kind) {
  switch (kind) {
  case WarpReduction::Add:
    return llvm::Intrinsic::nvvm_redux_sync_add;
  case WarpReduction::MinSigned:
    return llvm::Intrinsic::nvvm_redux_sync_min;
  case WarpReduction::MaxSigned:
    return llvm::Intrinsic::nvvm_redux_sync_max;
  case WarpReduction::MinUnsigned:
    return llvm::Intrinsic::nvvm_redux_sync_umin;
  case WarpReduction::MaxUnsigned:
    return llvm::Intrinsic::nvvm_redux_sync_umax;
  case WarpReduction::And:
    return llvm::Intrinsic::nvvm_redux_sync_and;
  case WarpReduction::Or:
    return llvm::Intrinsic::nvvm_redux_sync_or;
  case WarpReduction::Xor:
    return llvm::Intrinsic::nvvm_redux_sync_xor;
  }
  llvm_unreachable("all kinds are listed");
}

llvm::Value *NvidiaEmitter::reduceWarp(IrBuilder &ir, WarpReduction kind, llvm::Value *word) {
  if (!arch.hasWarpReduce)
    return nullptr;
  return ir.CreateIntrinsic(warpReductionId(kind), {}, {word, ir.getInt32(allLanes)});
}

//--- arithmetic ----------------------------------------------------------------------------

llvm::Value *NvidiaEmitter::mulHigh(IrBuilder &ir, llvm::Value *a, llvm::Value *b, bool isSigned) {
  if (a->getType()->isIntegerTy(32))
    return ir.CreateIntrinsic(isSigned ? llvm::Intrinsic::nvvm_mulhi_i : llvm::Intrinsic::nvvm_mulhi_ui, {}, {a, b});
  if (a->getType()->isIntegerTy(64))
    return ir.CreateIntrinsic(isSigned ? llvm::Intrinsic::nvvm_mulhi_ll : llvm::Intrinsic::nvvm_mulhi_ull, {}, {a, b});
  return nullptr;
}

llvm::Value *NvidiaEmitter::clampMagnitude(IrBuilder &ir, llvm::Value *x, llvm::Value *limit, bool keepsNan) {
  if (!arch.hasXorSign || !x->getType()->isFloatTy())
    return nullptr;
  return ir.CreateIntrinsic(keepsNan ? llvm::Intrinsic::nvvm_fmin_nan_xorsign_abs_f
                                     : llvm::Intrinsic::nvvm_fmin_xorsign_abs_f,
                            {}, {x, limit});
}

llvm::Value *NvidiaEmitter::approxDivide(IrBuilder &ir, llvm::Value *a, llvm::Value *b) { return divideFull(ir, a, b); }

llvm::Value *NvidiaEmitter::approxMath(IrBuilder &ir, ApproxMath function, llvm::Value *x) {
  auto call = [&](llvm::Intrinsic::ID id) { return ir.CreateIntrinsic(id, {}, {x}); };
  constexpr double log2e = 0x1.71547652b82fep0;
  switch (function) {
  case ApproxMath::Exp: {
    llvm::Value *scaled = ir.CreateFMul(x, llvm::ConstantFP::get(x->getType(), log2e));
    return ir.CreateIntrinsic(llvm::Intrinsic::nvvm_ex2_approx, {x->getType()}, {scaled});
  }
  case ApproxMath::Exp2:
    return ir.CreateIntrinsic(llvm::Intrinsic::nvvm_ex2_approx_ftz, {x->getType()}, {x});
  case ApproxMath::Sqrt:
    return call(llvm::Intrinsic::nvvm_sqrt_approx_f);
  case ApproxMath::Rsqrt:
    return call(llvm::Intrinsic::nvvm_rsqrt_approx_f);
  }
  llvm_unreachable("all functions are listed");
}

//--- conversions ---------------------------------------------------------------------------

llvm::Value *NvidiaEmitter::narrow(IrBuilder &ir, llvm::Value *single, mlir::Type to, bool towardZero) {
  if (to.isF16() || to.isBF16()) {
    if (!towardZero || !arch.hasBf16Conversion)
      return nullptr;
    return ir.CreateIntrinsic(to.isF16() ? llvm::Intrinsic::nvvm_f2f16_rz : llvm::Intrinsic::nvvm_f2bf16_rz, {},
                              {single});
  }
  if (!arch.hasFp8Conversion || towardZero || !tt::isOcpFp8(to))
    return nullptr;
  // PTX ISA, cvt: of two operands the second becomes the low byte.
  const llvm::Intrinsic::ID id =
      tt::isE4m3(to) ? llvm::Intrinsic::nvvm_ff_to_e4m3x2_rn : llvm::Intrinsic::nvvm_ff_to_e5m2x2_rn;
  llvm::Value *pair = ir.CreateIntrinsic(id, {}, {llvm::ConstantFP::getZero(single->getType()), single});
  return ir.CreateTrunc(pair, ir.getInt8Ty());
}

/// The conversion by `narrow` whose low byte the value is; null for others.
static llvm::IntrinsicInst *narrowingOf(llvm::Value *byte) {
  auto *low = llvm::dyn_cast<llvm::TruncInst>(byte);
  auto *call = low ? llvm::dyn_cast<llvm::IntrinsicInst>(low->getOperand(0)) : nullptr;
  const bool isConversion = call && (call->getIntrinsicID() == llvm::Intrinsic::nvvm_ff_to_e4m3x2_rn ||
                                     call->getIntrinsicID() == llvm::Intrinsic::nvvm_ff_to_e5m2x2_rn);
  return isConversion ? call : nullptr;
}

llvm::Value *NvidiaEmitter::narrowPair(IrBuilder &ir, llvm::Value *low, llvm::Value *high) {
  llvm::IntrinsicInst *first = narrowingOf(low), *second = narrowingOf(high);
  if (!first || !second || first->getIntrinsicID() != second->getIntrinsicID())
    return nullptr;
  return ir.CreateIntrinsic(first->getIntrinsicID(), {}, {second->getArgOperand(1), first->getArgOperand(1)});
}

llvm::Value *NvidiaEmitter::widenFp8(IrBuilder &ir, llvm::Value *byte, mlir::Type from) {
  llvm::Value *pair = ir.CreateZExt(byte, ir.getInt16Ty());
  // An f16 begins with the bits of an e5m2.
  if (llvm::isa<mlir::Float8E5M2Type>(from))
    return ir.CreateFPExt(ir.CreateBitCast(ir.CreateShl(pair, 8), ir.getHalfTy()), ir.getFloatTy());
  if (!arch.hasFp8Conversion || !tt::isOcpFp8(from))
    return nullptr;
  llvm::Value *halves = ir.CreateIntrinsic(llvm::Intrinsic::nvvm_e4m3x2_to_f16x2_rn, {}, {pair});
  return ir.CreateFPExt(ir.CreateExtractElement(halves, uint64_t{0}), ir.getFloatTy());
}
