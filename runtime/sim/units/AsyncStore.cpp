// st.async and red.async: stores and reductions to shared memory of the cluster that signal an mbarrier.
// SPDX-License-Identifier: MIT
#include "runtime/sim/machine/Access.h"
#include "runtime/sim/machine/Async.h"
#include "runtime/sim/machine/SyncEvent.h"
#include "runtime/sim/units/Reduction.h"

using namespace nereid::sim;

namespace {
/// What one thread stores.
struct AsyncStore : AsyncOperation {
  uint64_t address;
  char *memory, *barrier;
  TensorElement element;
  AtomicOp reduction;
  uint32_t bytes;
  char values[16];

  bool tell(Stage stage) const;
  bool perform() const;
};

struct AsyncStoreRoles {
  AtomicOp reduction;
  TensorElement element;
};
} // namespace

bool AsyncStore::tell(Stage stage) const {
  if (!isObserved())
    return true;
  MemoryAccess access = this->access(stage, Space::Shared, bytes, Proxy::Generic);
  access.writes = true;
  access.reads = access.isAtomic = reduction != AtomicOp::None;
  access.slot = instruction->slots[0];
  Pieces pieces(*warp, access);
  return pieces.add(address, memory) && pieces.flush();
}

bool AsyncStore::perform() const {
  if (!tell(Stage::Effect))
    return false;
  for (uint32_t at = 0; at < bytes; at += bytesOf(element))
    reduceInto(element, reduction, memory + at, values + at);
  completeBytes(*warp, *instruction, barrier, bytes, operation);
  return true;
}

/// slots: address, mbarrier; list: offsets of both, then the values.
static Step storeAsync(Warp &warp, const Instruction &instruction) {
  const auto [reduction, element] = instruction.roles<AsyncStoreRoles>();
  const uint32_t width = bytesOf(element), count = uint32_t(instruction.list.size() - 2);
  for (unsigned lane = 0; lane < kLanes; ++lane) {
    if (!warp.isActive(lane))
      continue;
    AsyncStore store{{&warp, &instruction, ++warp.cta->cluster->numOperations, lane},
                     0,
                     nullptr,
                     nullptr,
                     element,
                     reduction,
                     width * count,
                     {}};
    store.address = warp.at<uint64_t>(instruction.slots[0])[lane] + uint64_t(int32_t(instruction.list[0]));
    store.memory = translate(warp, instruction, Space::Shared, store.address, lane, store.bytes, store.bytes);
    store.barrier =
        translate(warp, instruction, Space::Shared,
                  warp.at<uint64_t>(instruction.slots[1])[lane] + uint64_t(int32_t(instruction.list[1])), lane, 8, 8);
    if (!store.memory || !store.barrier || !expectMbarrier(warp, instruction, store.barrier, lane))
      return Step::Fail;
    for (uint32_t index = 0; index < count; ++index) {
      const uint32_t slot = instruction.list[index + 2];
      std::memcpy(store.values + index * width, warp.file + slot + lane * width, width);
    }
    SyncEvent event{SyncKind::AsyncIssue, &instruction, 1u << lane, store.barrier, 0, store.operation};
    event.async = AsyncKind::Signalling;
    tell(warp, event);
    if (!store.tell(Stage::Issue) || !startUnordered(warp, [store] { return store.perform(); }))
      return Step::Fail;
  }
  return Step::Next;
}

/// `st.async [address], value, [mbarrier]`.
void nereid::sim::decodeAsyncStore(Decoder &decoder) {
  decoder.take("async"), decoder.take("mbarrier::complete_tx::bytes");
  decoder.takeOrder();
  decoder.takeSpace(Space::Shared);
  decoder.takeOf({"v2", "v4"});
  Instruction instruction;
  const AtomicOp reduction = takeReduction(decoder);
  const std::optional<TensorElement> element = takeElement(decoder);
  const std::vector<Operand> values = elementsOf(decoder.operand(1));
  if (!element || bytesOf(*element) < 4 || values.size() * bytesOf(*element) > 16 ||
      (decoder.opcode() == "red") != (reduction != AtomicOp::None))
    return decoder.fail("this form is not known");
  uint64_t offsets[2] = {};
  instruction.slots[0] = decoder.address(decoder.operand(0), offsets[0]);
  instruction.slots[1] = decoder.address(decoder.operand(2), offsets[1]);
  instruction.list = {uint32_t(offsets[0]), uint32_t(offsets[1])};
  for (const Operand &value : values)
    instruction.list.push_back(decoder.source(value, bytesOf(*element), true));
  instruction.setRoles(AsyncStoreRoles{reduction, *element});
  instruction.execute = &storeAsync;
  decoder.add(std::move(instruction));
}
