// Fences. Accesses take effect in order here, so that only observers need them.
// SPDX-License-Identifier: MIT
#include "runtime/sim/machine/SyncEvent.h"
#include "runtime/sim/units/Opcodes.h"

using namespace nereid::sim;

static Step fenceThreads(Warp &warp, const Instruction &instruction) {
  SyncEvent event{SyncKind::Fence, &instruction, warp.mask};
  event.scope = instruction.roles<Scope>();
  tell(warp, event);
  return Step::Next;
}

static Step fenceProxy(Warp &warp, const Instruction &instruction) {
  SyncEvent event{SyncKind::ProxyFence, &instruction, warp.mask};
  event.proxy = instruction.roles<ProxyFence>();
  tell(warp, event);
  return Step::Next;
}

/// `fence.proxy.async.shared::cta`, `fence.proxy.tensormap::generic.acquire.gpu [map], 128`.
static void decodeProxyFence(Decoder &decoder) {
  ProxyFence fence = ProxyFence::Alias;
  if (decoder.take("async") || decoder.take("async::generic")) {
    const Space space = decoder.takeSpace(Space::Generic);
    fence = space == Space::Shared   ? ProxyFence::AsyncShared
            : space == Space::Global ? ProxyFence::AsyncGlobal
                                     : ProxyFence::Async;
  } else if (decoder.take("tensormap::generic")) {
    fence = decoder.take("acquire") ? ProxyFence::TensorMapAcquire : ProxyFence::TensorMapRelease;
  } else if (!decoder.take("alias")) {
    return decoder.fail("this proxy is not known");
  }
  decoder.dropAll();
  decoder.emit(&fenceProxy).setRoles(fence);
}

static void decodeFence(Decoder &decoder) {
  if (decoder.take("proxy"))
    return decodeProxyFence(decoder);
  if (decoder.take("mbarrier_init")) {
    decoder.dropAll();
    decoder.emit(&fenceProxy).setRoles(ProxyFence::MbarrierInit);
    return;
  }
  const std::optional<Scope> scope = decoder.takeScope();
  if (!scope)
    return decoder.fail("a fence has a scope");
  decoder.dropAll();
  decoder.emit(&fenceThreads).setRoles(*scope);
}

void nereid::sim::addFenceOpcodes(OpcodeTable &table) { table.add("fence membar", decodeFence, Kind::Barrier); }
