// Work-item and work-group ids, implicit arguments, lanes and clocks.
// SPDX-License-Identifier: MIT
#include "compiler/target/sim/Intrinsics.h"

#include "llvm/ADT/SmallVector.h"
#include "llvm/IR/IntrinsicsAMDGPU.h"
#include "llvm/IR/IntrinsicsNVPTX.h"

using namespace nereid;
using namespace nereid::sim;
using namespace llvm;

static Value *readRegister(IRBuilder<> &ir, Intrinsic::ID id) { return ir.CreateIntrinsic(id, ArrayRef<Value *>()); }

//--- implicit arguments --------------------------------------------------------------------

namespace {
/// AMDGPU usage, code object V5 implicit arguments.
struct ImplicitArgument {
  uint64_t offset;
  unsigned bits;
  Intrinsic::ID id;
};
constexpr ImplicitArgument kImplicitArguments[] = {
    {0, 32, Intrinsic::nvvm_read_ptx_sreg_nctaid_x}, {4, 32, Intrinsic::nvvm_read_ptx_sreg_nctaid_y},
    {8, 32, Intrinsic::nvvm_read_ptx_sreg_nctaid_z}, {12, 16, Intrinsic::nvvm_read_ptx_sreg_ntid_x},
    {14, 16, Intrinsic::nvvm_read_ptx_sreg_ntid_y},  {16, 16, Intrinsic::nvvm_read_ptx_sreg_ntid_z},
};
} // namespace

static bool replaceLoad(LoadInst &load, uint64_t offset) {
  for (const ImplicitArgument &argument : kImplicitArguments)
    if (argument.offset == offset && load.getType()->isIntegerTy(argument.bits)) {
      IRBuilder<> ir(&load);
      load.replaceAllUsesWith(ir.CreateTrunc(readRegister(ir, argument.id), load.getType()));
      load.eraseFromParent();
      return true;
    }
  return false;
}

/// Replaces all loads from the pointer; false where it is used otherwise.
static bool replaceLoads(Value &pointer, uint64_t offset, const DataLayout &layout) {
  for (User *user : make_early_inc_range(pointer.users())) {
    if (auto *load = dyn_cast<LoadInst>(user)) {
      if (!replaceLoad(*load, offset))
        return false;
      continue;
    }
    auto *address = dyn_cast<Instruction>(user);
    APInt step(64, 0);
    if (auto *element = dyn_cast_or_null<GetElementPtrInst>(address)) {
      if (!element->accumulateConstantOffset(layout, step))
        return false;
    } else if (!isa_and_nonnull<AddrSpaceCastInst>(address)) {
      return false;
    }
    if (!replaceLoads(*address, offset + step.getZExtValue(), layout))
      return false;
    address->eraseFromParent();
  }
  return true;
}

//--- lanes ---------------------------------------------------------------------------------

/// Blocks have one dimension.
static Value *laneOf(Site &site) {
  return site.ir.CreateAnd(readRegister(site.ir, Intrinsic::nvvm_read_ptx_sreg_tid_x), site.arch.waveSize - 1);
}

/// Adds the number of bits of a mask that belong to lower lanes: of lanes below 32, or of the others.
static Value *countBelow(Site &site, bool isHigh) {
  IRBuilder<> &ir = site.ir;
  Value *lane = laneOf(site);
  if (isHigh)
    lane = ir.CreateBinaryIntrinsic(Intrinsic::usub_sat, lane, ir.getInt32(32));
  Value *below = ir.CreateSub(ir.CreateShl(ir.getInt64(1), ir.CreateZExt(lane, ir.getInt64Ty())), ir.getInt64(1));
  Value *mask = ir.CreateAnd(site.operand(0), ir.CreateTrunc(below, ir.getInt32Ty()));
  return ir.CreateAdd(site.operand(1), ir.CreateUnaryIntrinsic(Intrinsic::ctpop, mask));
}

Value *sim::replaceIds(Site &site) {
  switch (site.call.getIntrinsicID()) {
  case Intrinsic::amdgcn_workitem_id_x:
    return readRegister(site.ir, Intrinsic::nvvm_read_ptx_sreg_tid_x);
  case Intrinsic::amdgcn_workitem_id_y:
    return readRegister(site.ir, Intrinsic::nvvm_read_ptx_sreg_tid_y);
  case Intrinsic::amdgcn_workitem_id_z:
    return readRegister(site.ir, Intrinsic::nvvm_read_ptx_sreg_tid_z);
  case Intrinsic::amdgcn_workgroup_id_x:
    return readRegister(site.ir, Intrinsic::nvvm_read_ptx_sreg_ctaid_x);
  case Intrinsic::amdgcn_workgroup_id_y:
    return readRegister(site.ir, Intrinsic::nvvm_read_ptx_sreg_ctaid_y);
  case Intrinsic::amdgcn_workgroup_id_z:
    return readRegister(site.ir, Intrinsic::nvvm_read_ptx_sreg_ctaid_z);
  case Intrinsic::amdgcn_implicitarg_ptr:
    return replaceLoads(site.call, 0, site.call.getModule()->getDataLayout()) ? &site.call : nullptr;
  case Intrinsic::amdgcn_wavefrontsize:
    return site.ir.getInt32(site.arch.waveSize);
  case Intrinsic::amdgcn_mbcnt_lo:
    return countBelow(site, false);
  case Intrinsic::amdgcn_mbcnt_hi:
    return countBelow(site, true);
  case Intrinsic::amdgcn_s_memtime:
    return readRegister(site.ir, Intrinsic::nvvm_read_ptx_sreg_clock64);
  case Intrinsic::amdgcn_s_memrealtime:
    return readRegister(site.ir, Intrinsic::nvvm_read_ptx_sreg_globaltimer);
  default:
    return nullptr;
  }
}
