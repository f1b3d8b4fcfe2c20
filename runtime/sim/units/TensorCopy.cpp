// Copies of boxes by tensor maps, between global and shared memory, in tile mode.
// SPDX-License-Identifier: MIT
#include "runtime/sim/machine/Access.h"
#include "runtime/sim/machine/Async.h"
#include "runtime/sim/machine/SyncEvent.h"
#include "runtime/sim/units/Opcodes.h"
#include "runtime/sim/units/Reduction.h"
#include "runtime/sim/units/TensorMap.h"

#include <algorithm>
#include <array>

using namespace nereid::sim;

namespace {
/// One copy of a box.
struct BoxCopy : AsyncOperation {
  explicit BoxCopy(const AsyncOperation &issued) : AsyncOperation(issued) {}

  TensorMap map;
  std::array<int32_t, 5> begin{};
  Cta *cta = nullptr; ///< its shared memory is copied to or from
  uint32_t offset = 0;
  bool isLoad = false;
  AtomicOp reduction = AtomicOp::None;

  unsigned width() const { return bytesOf(map.element); }
  uint32_t bytes() const {
    uint32_t total = width();
    for (unsigned dim = 0; dim < map.rank; ++dim)
      total *= map.box[dim];
    return total;
  }
  /// Chunks of 16 bytes are XORed with the address bits from 7 on.
  uint32_t swizzled(uint32_t at) const { return at ^ (at >> 7 & ((1u << map.swizzle) - 1)) << 4; }
  bool perform() const;
  bool tell(Stage stage) const;
  /// Tells that it is issued; `signal`: the mbarrier of a load.
  bool issue(const char *signal) const;
  /// Calls `f(address of column 0, whether the row is inside, offset in the box)` for each row.
  template <typename F> void eachRow(F f) const;
  bool movesWholeRows() const {
    return begin[0] >= 0 && uint64_t(begin[0]) + map.box[0] <= map.extents[0] && reduction == AtomicOp::None &&
           map.element != TensorElement::TF32 && map.element != TensorElement::TF32Ftz;
  }
  void wholeRow(char *memory, uint32_t at) const;
  void row(const char *memory, bool isInside, uint32_t at) const;
  void element(char *memory, char *shared) const;
  void pad(char *shared) const;
};
} // namespace

void BoxCopy::pad(char *shared) const {
  uint64_t bits = 0;
  if (map.padsWithNan)
    bits = width() == 2 ? 0x7fff : width() == 4 ? 0x7fffffff : 0;
  std::memcpy(shared, &bits, width());
}

void BoxCopy::element(char *memory, char *shared) const {
  if (isLoad) {
    std::memcpy(shared, memory, width());
    if (map.element == TensorElement::TF32 || map.element == TensorElement::TF32Ftz) {
      uint32_t bits;
      std::memcpy(&bits, shared, 4);
      bits = (bits & 0x7f800000) != 0x7f800000 ? (bits + 0x1000) & 0xffffe000 : bits;
      std::memcpy(shared, &bits, 4);
    }
    return;
  }
  reduceInto(map.element, reduction, memory, shared);
}

/// A row without padding, conversion or sums, in chunks of 16 bytes.
void BoxCopy::wholeRow(char *memory, uint32_t at) const {
  char *global = memory + int64_t(begin[0]) * width();
  for (uint32_t chunk = 0; chunk < map.box[0] * width(); chunk += 16) {
    char *shared = cta->shared + swizzled(at + chunk);
    isLoad ? std::memcpy(shared, global + chunk, 16) : std::memcpy(global + chunk, shared, 16);
  }
}

/// The fastest dimension; `at` is the row's place in the box without swizzle.
void BoxCopy::row(const char *memory, bool isInside, uint32_t at) const {
  const unsigned size = width(), perChunk = 16 / size;
  if (isInside && movesWholeRows())
    return wholeRow(const_cast<char *>(memory), at);
  for (uint32_t index = 0; index < map.box[0];) {
    const int64_t column = int64_t(begin[0]) + index;
    char *shared = cta->shared + swizzled(at + index * size);
    const bool isWhole = isInside && column >= 0 && column + perChunk <= map.extents[0] &&
                         (at + index * size) % 16 == 0 && index + perChunk <= map.box[0] &&
                         reduction == AtomicOp::None && map.element != TensorElement::TF32 &&
                         map.element != TensorElement::TF32Ftz;
    if (isWhole) {
      char *global = const_cast<char *>(memory) + column * size;
      isLoad ? std::memcpy(shared, global, 16) : std::memcpy(global, shared, 16);
      index += perChunk;
      continue;
    }
    if (isInside && column >= 0 && column < int64_t(map.extents[0]))
      element(const_cast<char *>(memory) + column * size, shared);
    else if (isLoad)
      pad(shared);
    ++index;
  }
}

template <typename F> void BoxCopy::eachRow(F f) const {
  uint32_t rows = 1;
  for (unsigned dim = 1; dim < map.rank; ++dim)
    rows *= map.box[dim];
  for (uint32_t index = 0; index < rows; ++index) {
    uint32_t rest = index;
    uint64_t address = map.base;
    bool isInside = true;
    for (unsigned dim = 1; dim < map.rank; ++dim) {
      const int64_t at = int64_t(begin[dim]) + rest % map.box[dim];
      rest /= map.box[dim];
      isInside &= at >= 0 && at < int64_t(map.extents[dim]);
      address += uint64_t(at) * map.strides[dim - 1];
    }
    f(address, isInside, offset + index * map.box[0] * width());
  }
}

bool BoxCopy::perform() const {
  if (!tell(Stage::Effect))
    return false;
  eachRow([this](uint64_t address, bool isInside, uint32_t at) {
    row(reinterpret_cast<const char *>(address), isInside, at);
  });
  return true;
}

/// Rows that are inside are accesses to global memory, chunks of 16 bytes accesses to shared memory.
bool BoxCopy::tell(Stage stage) const {
  if (!isObserved())
    return true;
  const int64_t first = std::max<int64_t>(begin[0], 0),
                last = std::min<int64_t>(int64_t(begin[0]) + map.box[0], map.extents[0]);
  MemoryAccess shared = access(stage, Space::Shared, 16);
  MemoryAccess global = access(stage, Space::Global, last > first ? uint32_t(last - first) * width() : 0);
  (isLoad ? shared.writes : shared.reads) = true;
  global.map = &map;
  global.isAtomic = reduction != AtomicOp::None;
  (isLoad ? global.reads : global.writes) = true;
  global.reads |= global.isAtomic;
  Pieces rows(*warp, global), chunks(*warp, shared);
  bool isDone = true;
  eachRow([&](uint64_t address, bool isInside, uint32_t at) {
    const uint64_t from = address + uint64_t(first) * width();
    if (isInside && global.bytes)
      isDone = isDone && rows.add(from, reinterpret_cast<char *>(from));
    for (uint32_t chunk = 0; chunk < map.box[0] * width(); chunk += 16) {
      const uint32_t to = swizzled(at + chunk);
      isDone = isDone && chunks.add(to | uint64_t{cta->rank + 1} << kRankShift, cta->shared + to);
    }
  });
  return isDone && rows.flush() && chunks.flush();
}

bool BoxCopy::issue(const char *signal) const {
  SyncEvent event{SyncKind::AsyncIssue, instruction, 1u << lane, signal, 0, operation};
  event.async = isLoad ? AsyncKind::Signalling : AsyncKind::BulkStore;
  nereid::sim::tell(*warp, event);
  return tell(Stage::Issue);
}

//--- execution -----------------------------------------------------------------------------

/// Why a map or a box is not valid; null if it is.
static const char *problemOf(const BoxCopy &copy, unsigned rank) {
  const TensorMap &map = copy.map;
  if (map.magic != TensorMap::kMagic)
    return "there is no tensor map at this address";
  if (map.rank != rank)
    return "the tensor map has another rank";
  if (map.base % 16 || map.interleave || map.swizzle > 3)
    return "the tensor map is not valid: base, interleave or swizzle";
  for (unsigned dim = 0; dim < rank; ++dim)
    if (map.box[dim] == 0 || map.box[dim] > 256 || map.elementStrides[dim] != 1 || (dim && map.strides[dim - 1] % 16))
      return "the tensor map is not valid: box, element strides or strides";
  const uint32_t row = map.box[0] * copy.width();
  if (row % 16 || (map.swizzle && row > 16u << map.swizzle))
    return "rows of the box are no multiples of 16 bytes, or longer than the swizzle";
  if (copy.offset + uint64_t{copy.bytes()} > copy.cta->sharedBytes)
    return "the box reaches beyond shared memory";
  if (!copy.isLoad && std::any_of(copy.begin.begin(), copy.begin.begin() + rank, [](int32_t at) { return at < 0; }))
    return "the stored box begins before the array, where TMA stops the kernel";
  return nullptr;
}

namespace {
struct BoxRoles {
  bool isLoad;
  AtomicOp reduction;
  bool isMulticast;
};
} // namespace

/// slots: map, shared memory, mbarrier, CTA mask; list: coordinates, then offsets of the addresses.
static Step copyBox(Warp &warp, const Instruction &instruction) {
  const BoxRoles roles = instruction.roles<BoxRoles>();
  const unsigned rank = unsigned(instruction.list.size()) - 2;
  LaneAccess maps(warp, instruction, Space::Generic, instruction.slots[0], instruction.immediate, 128);
  maps.proxy = Proxy::TensorMap;
  if (!maps.reading().resolve(warp, kTensorMapAlignment))
    return Step::Fail;
  Cluster &cluster = *warp.cta->cluster;
  for (unsigned lane = 0; lane < kLanes; ++lane) {
    if (!warp.isActive(lane))
      continue;
    BoxCopy copy({&warp, &instruction, ++cluster.numOperations, lane});
    std::memcpy(&copy.map, maps.memory[lane], sizeof(TensorMap));
    for (unsigned dim = 0; dim < rank; ++dim)
      copy.begin[dim] = int32_t(warp.at<uint32_t>(instruction.list[dim])[lane]);
    const uint64_t shared = warp.at<uint64_t>(instruction.slots[1])[lane] + int32_t(instruction.list[rank]);
    const uint64_t barrier = warp.at<uint64_t>(instruction.slots[2])[lane] + int32_t(instruction.list[rank + 1]);
    const uint32_t ranks = roles.isMulticast ? warp.at<uint32_t>(instruction.slots[3])[lane] & 0xffff : 0;
    const uint32_t target = uint32_t(shared) >> kRankShift & 0xff, offset = uint32_t(shared) & ((1u << kRankShift) - 1);
    copy.cta = warp.cta;
    copy.offset = offset;
    copy.isLoad = roles.isLoad;
    copy.reduction = roles.reduction;
    if (target > cluster.ctas.size())
      return fail(warp, instruction, "sim-fault", "there is no such CTA in the cluster", int(lane));
    if (offset % 128)
      return fail(warp, instruction, "sim-misaligned", "the box in shared memory is not aligned to 128 bytes",
                  int(lane));
    if (const char *problem = problemOf(copy, rank))
      return fail(warp, instruction, "sim-fault", problem, int(lane));
    if (!copy.isLoad) {
      if (!copy.issue(nullptr) || !start(warp, groupsOf(warp.bulkStores, lane), [copy] { return copy.perform(); }))
        return Step::Fail;
      continue;
    }
    // Every CTA of a multicast gets the box and the signal at the same offsets of its own shared memory.
    for (uint32_t cta = 0; cta < cluster.ctas.size(); ++cta) {
      if (roles.isMulticast ? !(ranks >> cta & 1) : target ? cta != target - 1 : cta != warp.cta->rank)
        continue;
      copy.cta = &cluster.ctas[cta];
      const uint64_t own =
          roles.isMulticast ? (barrier & ((1u << kRankShift) - 1)) | uint64_t{cta + 1} << kRankShift : barrier;
      char *signal = translate(warp, instruction, Space::Shared, own, lane, 8, 8);
      const auto perform = [copy, signal] {
        return copy.perform() &&
               (completeBytes(*copy.warp, *copy.instruction, signal, copy.bytes(), copy.operation), true);
      };
      if (!signal || !expectMbarrier(warp, instruction, signal, lane) || !copy.issue(signal) ||
          !startUnordered(warp, perform))
        return Step::Fail;
    }
  }
  return Step::Next;
}

void nereid::sim::decodeTensorCopy(Decoder &decoder) {
  const std::string dims = decoder.takeOf({"1d", "2d", "3d", "4d", "5d"});
  const bool isLoad = decoder.take("mbarrier::complete_tx::bytes"), isMulticast = decoder.take("multicast::cluster");
  Instruction instruction;
  instruction.setRoles(BoxRoles{isLoad, takeReduction(decoder), isMulticast});
  decoder.take("tile"), decoder.take("bulk_group");
  decoder.takeSpace(Space::Global), decoder.takeSpace(Space::Global);
  decoder.dropCacheHints();
  const Operand &map = decoder.operand(isLoad ? 1 : 0);
  if (dims.empty() || map.parts.size() != 2 || map.parts[1].parts.size() != size_t(dims[0] - '0'))
    return decoder.fail("this form of a tensor copy is not known");
  uint64_t offsets[2] = {};
  for (const Operand &coordinate : map.parts[1].parts)
    instruction.list.push_back(decoder.source(coordinate, 4));
  instruction.slots[0] = decoder.address(map, instruction.immediate);
  instruction.slots[1] = decoder.address(decoder.operand(isLoad ? 0 : 1), offsets[0]);
  instruction.slots[2] = isLoad ? decoder.address(decoder.operand(2), offsets[1]) : decoder.constant(0, 8);
  if (isMulticast)
    instruction.slots[3] = decoder.source(decoder.operand(3), 4);
  instruction.list.push_back(uint32_t(offsets[0]));
  instruction.list.push_back(uint32_t(offsets[1]));
  instruction.execute = &copyBox;
  decoder.add(std::move(instruction));
}
