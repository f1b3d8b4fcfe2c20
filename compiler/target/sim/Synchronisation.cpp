// Barriers, and what only steers the hardware's scheduling.
// SPDX-License-Identifier: MIT
#include "compiler/target/sim/InlineAssembly.h"
#include "compiler/target/sim/Intrinsics.h"

#include "llvm/IR/IntrinsicsAMDGPU.h"
#include "llvm/IR/IntrinsicsNVPTX.h"

using namespace nereid;
using namespace nereid::sim;
using namespace llvm;

static Value *emit(Site &site, const char *text) {
  InlineAssembly call(site.ir, text);
  call.call(Effects::Memory);
  cast<CallInst>(&*std::prev(site.ir.GetInsertPoint()))->addFnAttr(Attribute::Convergent);
  return &site.call;
}

/// "CDNA3" instruction set architecture, S_WAITCNT: how many loads may be pending; the largest number waits for none. A
/// wave waits for the loads of all its lanes.
static Value *waitForLoads(Site &site) {
  const unsigned counts = unsigned(site.number(0)), loads = (counts & 15) | (counts >> 14 & 3) << 4;
  if (loads == 63)
    return &site.call;
  site.ir.CreateIntrinsic(Intrinsic::nvvm_cp_async_wait_group, {}, {site.ir.getInt32(loads)});
  return emit(site, "amd.wave_barrier");
}

Value *sim::replaceSynchronisation(Site &site) {
  switch (site.call.getIntrinsicID()) {
  case Intrinsic::amdgcn_s_barrier:
  case Intrinsic::amdgcn_s_barrier_wait: // its signal has no effect of its own here
    return emit(site, "amd.s_barrier");
  case Intrinsic::amdgcn_wave_barrier:
    return emit(site, "amd.wave_barrier");
  case Intrinsic::amdgcn_s_sleep:
    return emit(site, "nanosleep.u32 100");
  case Intrinsic::amdgcn_endpgm:
    return emit(site, "exit");
  case Intrinsic::amdgcn_s_waitcnt:
    return waitForLoads(site);
  case Intrinsic::amdgcn_s_barrier_signal:
  case Intrinsic::amdgcn_sched_barrier:
  case Intrinsic::amdgcn_sched_group_barrier:
  case Intrinsic::amdgcn_iglp_opt:
  case Intrinsic::amdgcn_s_setprio:
  case Intrinsic::amdgcn_s_wait_asynccnt:
  case Intrinsic::amdgcn_s_wait_dscnt:
  case Intrinsic::amdgcn_s_wait_loadcnt:
  case Intrinsic::amdgcn_s_wait_storecnt:
  case Intrinsic::amdgcn_s_nop:
    return &site.call;
  default:
    return nullptr;
  }
}
