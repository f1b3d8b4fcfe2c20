// Implements TargetEmitter for AMD GPUs: programs, threads and arithmetic.
// SPDX-License-Identifier: MIT
#include "compiler/target/amd/lowering/AmdEmitter.h"

#include "compiler/dialect/tt/Elements.h"
#include "compiler/target/amd/dialect/MatrixInstruction.h"
#include "compiler/target/amd/lowering/LibraryBitcode.h"

#include "llvm/IR/ConstantRange.h"
#include "llvm/IR/IntrinsicsAMDGPU.h"
#include "llvm/IR/MDBuilder.h"

using namespace nereid;
using namespace nereid::amd;
using namespace nereid::lowering;
using llvm::Intrinsic::ID;

/// Allows LLVM to use the instructions of 1 unit in the last place, scaled where a number is denormal.
static llvm::Value *withinUnits(llvm::IRBuilderBase &ir, llvm::Value *result, float unitsInLastPlace) {
  if (auto *operation = llvm::dyn_cast<llvm::Instruction>(result))
    operation->setMetadata(llvm::LLVMContext::MD_fpmath,
                           llvm::MDBuilder(ir.getContext()).createFPMath(unitsInLastPlace));
  return result;
}

static llvm::Value *divideFast(llvm::IRBuilderBase &ir, llvm::Value *a, llvm::Value *b) {
  return withinUnits(ir, ir.CreateFDiv(a, b), 2.5f);
}

static llvm::Value *sqrtFast(llvm::IRBuilderBase &ir, llvm::Value *x) {
  return withinUnits(ir, ir.CreateUnaryIntrinsic(llvm::Intrinsic::sqrt, x), 2.0f);
}

AmdEmitter::AmdEmitter(const Arch &arch, llvm::ArrayRef<support::ExternLibrary> externLibraries, unsigned wavesPerEu)
    : arch(arch), features{.hasFma = true, .hasLibm = false, .avoidsBranches = true, .approxDivide = divideFast},
      libraries(libraryBitcode(), features, externLibraries), wavesPerEu(wavesPerEu) {}

void AmdEmitter::addOpEmitters(OpEmitters &table) {
  addMatrixDotEmitters(table);
  addAmdgEmitters(table);
}

//--- program -------------------------------------------------------------------------------

void amd::markInputs(llvm::Function &function) {
  static constexpr llvm::StringLiteral unused[] = {
      "amdgpu-no-workitem-id-y", "amdgpu-no-workitem-id-z",     "amdgpu-no-dispatch-ptr",      "amdgpu-no-dispatch-id",
      "amdgpu-no-queue-ptr",     "amdgpu-no-heap-ptr",          "amdgpu-no-lds-kernel-id",     "amdgpu-no-hostcall-ptr",
      "amdgpu-no-default-queue", "amdgpu-no-completion-action", "amdgpu-no-multigrid-sync-arg"};
  for (llvm::StringRef name : unused)
    function.addFnAttr(name);
}

void AmdEmitter::markKernel(llvm::Function &function, const LaunchBounds &bounds) {
  const std::string threads = std::to_string(bounds.numThreads);
  function.setCallingConv(llvm::CallingConv::AMDGPU_KERNEL);
  function.addFnAttr("amdgpu-flat-work-group-size", threads + "," + threads);
  function.addFnAttr("uniform-work-group-size", "true");
  // CDNA's registers are one file: matrix instructions can use those that all others use, without copies. LLVM would
  // else leave half of them to matrix instructions alone.
  if (arch.matrixUnit == MatrixUnit::Mfma)
    function.addFnAttr("amdgpu-agpr-alloc", "0");
  if (wavesPerEu)
    function.addFnAttr("amdgpu-waves-per-eu", std::to_string(wavesPerEu));
  for (llvm::Argument &argument : function.args())
    if (argument.getType()->isPointerTy())
      argument.addAttr(llvm::Attribute::NoUndef);
}

// HIP: a grid has at most 2^31 - 1 workgroups along x and 65535 along y and z.
static constexpr uint64_t largestGrid[] = {0x7fffffff, 0xffff, 0xffff};

static llvm::Value *withRange(llvm::CallInst *call, uint32_t begin, uint64_t end) {
  call->addRangeRetAttr(llvm::ConstantRange(llvm::APInt(32, begin), llvm::APInt(32, end)));
  return call;
}

llvm::Value *AmdEmitter::programId(IrBuilder &ir, unsigned axis) {
  static constexpr ID ids[] = {llvm::Intrinsic::amdgcn_workgroup_id_x, llvm::Intrinsic::amdgcn_workgroup_id_y,
                               llvm::Intrinsic::amdgcn_workgroup_id_z};
  return withRange(ir.CreateIntrinsic(ids[axis], llvm::ArrayRef<llvm::Value *>()), 0, largestGrid[axis]);
}

// "User Guide for AMDGPU Backend", code object v5: hidden_block_count_x, _y, _z.
llvm::Value *AmdEmitter::numPrograms(IrBuilder &ir, unsigned axis) {
  llvm::Value *hidden = ir.CreateIntrinsic(llvm::Intrinsic::amdgcn_implicitarg_ptr, llvm::ArrayRef<llvm::Value *>());
  llvm::LoadInst *count =
      ir.CreateAlignedLoad(ir.getInt32Ty(), ir.CreateConstGEP1_32(ir.getInt8Ty(), hidden, 4 * axis), llvm::Align(4));
  llvm::MDBuilder metadata(ir.getContext());
  count->setMetadata(llvm::LLVMContext::MD_invariant_load, llvm::MDNode::get(ir.getContext(), {}));
  count->setMetadata(llvm::LLVMContext::MD_range,
                     metadata.createRange(llvm::APInt(32, 1), llvm::APInt(32, largestGrid[axis] + 1)));
  return count;
}

llvm::Value *AmdEmitter::threadId(IrBuilder &ir, unsigned numThreads) {
  return withRange(ir.CreateIntrinsic(llvm::Intrinsic::amdgcn_workitem_id_x, llvm::ArrayRef<llvm::Value *>()), 0,
                   numThreads);
}

static void fence(IrBuilder &ir, llvm::AtomicOrdering order, llvm::StringRef scope) {
  ir.CreateFence(order, ir.getContext().getOrInsertSyncScopeID(scope));
}

// CDNA3 ISA, S_WAITCNT: vmcnt is bits 3:0 and 15:14, expcnt 6:4, lgkmcnt 11:8.
uint32_t amd::immediateOf(const WaitCounts &counts) {
  return (counts.loads & 15) | (counts.loads >> 4) << 14 | 7 << 4 | counts.lds << 8;
}

llvm::CallInst *amd::wait(IrBuilder &ir, const WaitCounts &counts) {
  return ir.CreateIntrinsic(llvm::Intrinsic::amdgcn_s_waitcnt, {}, {ir.getInt32(immediateOf(counts))});
}

void AmdEmitter::barrier(IrBuilder &ir, const BarrierScope &scope) {
  assert(scope.numThreads == 0 && "a workgroup has one barrier");
  // "User Guide for AMDGPU Backend", memory model of gfx942: to release to a workgroup waits for LDS alone, where its
  // waves share a cache. LLVM's fence also waits for loads to LDS, which may stay in flight.
  const llvm::StringRef fenceScope = hasLoadsToLds ? "wavefront" : "workgroup";
  fence(ir, llvm::AtomicOrdering::Release, fenceScope);
  if (hasLoadsToLds)
    wait(ir, {.lds = 0});
  ir.CreateIntrinsic(llvm::Intrinsic::amdgcn_s_barrier, llvm::ArrayRef<llvm::Value *>());
  fence(ir, llvm::AtomicOrdering::Acquire, fenceScope);
}

void AmdEmitter::syncWarp(IrBuilder &ir) {
  fence(ir, llvm::AtomicOrdering::Release, "wavefront");
  ir.CreateIntrinsic(llvm::Intrinsic::amdgcn_wave_barrier, llvm::ArrayRef<llvm::Value *>());
  fence(ir, llvm::AtomicOrdering::Acquire, "wavefront");
}

//--- arithmetic ----------------------------------------------------------------------------

llvm::Value *AmdEmitter::approxDivide(IrBuilder &ir, llvm::Value *a, llvm::Value *b) { return divideFast(ir, a, b); }

llvm::Value *AmdEmitter::approxMath(IrBuilder &ir, ApproxMath function, llvm::Value *x) {
  constexpr double log2e = 0x1.71547652b82fep0;
  switch (function) {
  case ApproxMath::Exp:
    return ir.CreateUnaryIntrinsic(llvm::Intrinsic::exp2, ir.CreateFMul(x, llvm::ConstantFP::get(x->getType(), log2e)));
  case ApproxMath::Exp2: // denormal results become zero, as on other GPUs
    return ir.CreateIntrinsic(llvm::Intrinsic::amdgcn_exp2, {x->getType()}, {x});
  case ApproxMath::Sqrt:
    return sqrtFast(ir, x);
  case ApproxMath::Rsqrt:
    return divideFast(ir, llvm::ConstantFP::get(x->getType(), 1.0), sqrtFast(ir, x));
  }
  llvm_unreachable("all functions are listed");
}

//--- conversions ---------------------------------------------------------------------------

/// The conversions to fp8 give NaN or infinity for what is out of range, where the language wants the largest number.
llvm::Value *AmdEmitter::narrow(IrBuilder &ir, llvm::Value *single, mlir::Type to, bool towardZero) {
  if (to.isBF16() && !towardZero && arch.hasBf16Conversion)
    return ir.CreateFPTrunc(single, ir.getBFloatTy());
  return nullptr;
}

llvm::Value *AmdEmitter::widenFp8(IrBuilder &ir, llvm::Value *byte, mlir::Type from) {
  if (computesWith(arch.fp8, from)) {
    const auto id = tt::isE4m3(from) ? llvm::Intrinsic::amdgcn_cvt_f32_fp8 : llvm::Intrinsic::amdgcn_cvt_f32_bf8;
    return ir.CreateIntrinsic(id, {}, {ir.CreateZExt(byte, ir.getInt32Ty()), ir.getInt32(0)});
  }
  // An f16 begins with the bits of an e5m2.
  if (llvm::isa<mlir::Float8E5M2Type>(from))
    return ir.CreateFPExt(ir.CreateBitCast(ir.CreateShl(ir.CreateZExt(byte, ir.getInt16Ty()), 8), ir.getHalfTy()),
                          ir.getFloatTy());
  return nullptr;
}
