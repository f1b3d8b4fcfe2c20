// Simulates TMA by PTX ISA's description of tensor maps: element by element, with barriers that count bytes.
// SPDX-License-Identifier: MIT
#include "compiler/target/nvidia/lowering/TmaEmitter.h"
#include "test/unit/lowering/Fibers.h"
#include "test/unit/lowering/HostEmitter.h"

#include "llvm/ADT/STLExtras.h"

#include <cmath>
#include <map>
#include <vector>

using namespace nereid;
using namespace nereid::simt;
using nvidia::BoxCopy;
using nvidia::TensorMap;
using Kind = tt::DescriptorReduceKind;

//--- simulated TMA -------------------------------------------------------------------------

namespace {
enum class Number : uint8_t { Bits, Single, Half, Brain, Double };

struct Dim {
  uint32_t extent, box;
  uint64_t stride; ///< in bytes
};
struct Map {
  static constexpr uint32_t kMagic = 0x7e45;
  uint32_t magic, rank;
  char *base;
  uint8_t elemBytes, swizzle;
  Number number;
  bool isUnsigned, padsWithNan, roundsToTf32;
  Dim dims[5];
};
static_assert(sizeof(Map) <= 128);

struct Copy {
  Map map;
  int32_t begin[5];
  char *shared;
  char *barrier; ///< null for a store
  uint32_t bytes;
  uint32_t kind; ///< how a store combines; 0: plain store
};

struct Barrier {
  int64_t pendingArrivals = 0, count = 0, bytes = 0;
  uint32_t phase = 0;
  std::vector<Copy> waiting;
  std::vector<StartedCopies> arrivals; ///< of threads, after copies that have not run
};

struct TmaState {
  std::map<char *, Barrier> barriers;
  std::map<unsigned, std::vector<std::vector<Copy>>> stores; ///< of each thread, group by group; the last one is open
  char *sharedBegin = nullptr;
};
} // namespace

static TmaState &tmaState() {
  std::shared_ptr<void> &state = Block::current().blockState();
  if (!state)
    state = std::make_shared<TmaState>();
  return *static_cast<TmaState *>(state.get());
}

[[noreturn]] static void stop(const char *message) {
  std::fprintf(stderr, "TMA: %s\n", message);
  std::abort();
}

/// PTX ISA, swizzling modes: chunks of 16 bytes are XORed with the address bits from 7 on.
static uint64_t swizzled(uint64_t address, unsigned span) {
  const uint64_t mask = span ? span / 16 - 1 : 0;
  return address ^ ((address >> 7 & mask) << 4);
}

static void padding(const Map &map, char *to) {
  std::memset(to, 0, map.elemBytes);
  if (!map.padsWithNan)
    return;
  const uint64_t nan = map.number == Number::Single   ? 0x7fffffffu
                       : map.number == Number::Half   ? 0x7fffu
                       : map.number == Number::Brain  ? 0x7fffu
                       : map.number == Number::Double ? 0x7fffffffffffffffu
                                                      : 0u;
  std::memcpy(to, &nan, map.elemBytes);
}

static void roundToTf32(char *at) {
  uint32_t bits;
  std::memcpy(&bits, at, 4);
  if ((bits & 0x7f800000) != 0x7f800000)
    bits = (bits + 0x1000) & 0xffffe000;
  std::memcpy(at, &bits, 4);
}

template <typename T> static T combined(Kind kind, T old, T now) {
  if (kind == Kind::ADD)
    return old + now;
  if (kind == Kind::MIN)
    return std::min(old, now);
  if (kind == Kind::MAX)
    return std::max(old, now);
  if constexpr (std::is_integral_v<T>) {
    if (kind == Kind::AND)
      return old & now;
    return kind == Kind::OR ? old | now : old ^ now;
  }
  stop("floats have no bits to combine");
}

template <typename T> static void combine(Kind kind, char *memory, const char *with) {
  T old, now;
  std::memcpy(&old, memory, sizeof(T));
  std::memcpy(&now, with, sizeof(T));
  const T result = combined(kind, old, now);
  std::memcpy(memory, &result, sizeof(T));
}

static void write(const Copy &copy, char *memory, const char *from) {
  const Map &map = copy.map;
  if (copy.kind == 0)
    return void(std::memcpy(memory, from, map.elemBytes));
  const auto kind = static_cast<Kind>(copy.kind);
  if (map.number == Number::Single)
    return combine<float>(kind, memory, from);
  if (map.number != Number::Bits || map.elemBytes < 4)
    stop("a combination that this engine does not know");
  if (map.elemBytes == 4)
    return map.isUnsigned ? combine<uint32_t>(kind, memory, from) : combine<int32_t>(kind, memory, from);
  return map.isUnsigned ? combine<uint64_t>(kind, memory, from) : combine<int64_t>(kind, memory, from);
}

/// Copies every element of the box, the fastest dimension innermost.
static void perform(const Copy &copy) {
  const Map &map = copy.map;
  uint64_t count = 1;
  for (unsigned dim = 0; dim < map.rank; ++dim)
    count *= map.dims[dim].box;
  const uint64_t base = copy.shared - tmaState().sharedBegin;
  for (uint64_t index = 0; index < count; ++index) {
    char *memory = map.base;
    bool isInside = true;
    uint64_t rest = index;
    for (unsigned dim = 0; dim < map.rank; ++dim) {
      const int64_t at = copy.begin[dim] + int64_t(rest % map.dims[dim].box);
      rest /= map.dims[dim].box;
      isInside &= at >= 0 && at < int64_t(map.dims[dim].extent);
      memory += at * int64_t(map.dims[dim].stride);
    }
    char *shared = tmaState().sharedBegin + swizzled(base + index * map.elemBytes, map.swizzle);
    if (!copy.barrier) {
      if (isInside)
        write(copy, memory, shared);
      continue;
    }
    if (isInside)
      std::memcpy(shared, memory, map.elemBytes);
    else
      padding(map, shared);
    if (map.roundsToTf32)
      roundToTf32(shared);
  }
}

static void advance(Barrier &barrier) {
  if (barrier.pendingArrivals > 0 || barrier.bytes != 0)
    return;
  ++barrier.phase;
  barrier.pendingArrivals = barrier.count;
  Block::current().noteProgress();
}

static void arriveAt(Barrier &barrier) {
  --barrier.pendingArrivals;
  advance(barrier);
}

static Barrier &barrierAt(char *address) {
  auto found = tmaState().barriers.find(address);
  if (found == tmaState().barriers.end())
    stop("there is no barrier at this address");
  return found->second;
}

//--- runtime functions ---------------------------------------------------------------------

static void setDim(Map *map, uint32_t lane, uint32_t dim, uint64_t extent, uint64_t stride, uint32_t box) {
  if (lane == 0)
    map->dims[dim] = {uint32_t(extent), box, stride};
}

static void setMap(Map *map, uint32_t lane, char *base, uint32_t rank, uint32_t elemBytes, uint32_t swizzle,
                   uint32_t number, uint32_t isUnsigned, uint32_t padsWithNan, uint32_t roundsToTf32) {
  if (lane)
    return;
  map->magic = Map::kMagic;
  map->rank = rank;
  map->base = base;
  map->elemBytes = uint8_t(elemBytes);
  map->swizzle = uint8_t(swizzle);
  map->number = static_cast<Number>(number);
  map->isUnsigned = isUnsigned;
  map->padsWithNan = padsWithNan;
  map->roundsToTf32 = roundsToTf32;
  if (reinterpret_cast<uintptr_t>(base) % 16)
    stop("a base is no multiple of 16");
  for (uint32_t dim = 0; dim < rank; ++dim)
    if ((dim && map->dims[dim].stride % 16) || map->dims[dim].box > 256 || map->dims[dim].extent == 0)
      stop("a map has a stride, an extent or a box that it cannot have");
  const uint32_t row = map->dims[0].box * elemBytes;
  if (row % 16 || (swizzle && row > swizzle))
    stop("rows of a box are no multiples of 16 bytes, or longer than the swizzle");
}

static void initBarrier(char *address, uint32_t count) {
  if (tmaState().barriers.contains(address))
    stop("a barrier is made where one is");
  Barrier &barrier = tmaState().barriers[address];
  barrier.count = barrier.pendingArrivals = count;
}

static void invalidateBarrier(char *address) {
  if (!barrierAt(address).waiting.empty())
    stop("a barrier ends while copies are under way");
  tmaState().barriers.erase(address);
}

static void arriveByWarp(char *address, uint32_t isFirstLane) {
  Block::current().exchange(0);
  if (isFirstLane)
    arriveAt(barrierAt(address));
}

/// Late copies of the thread run when some thread waits at the barrier.
static void arriveAfterCopies(char *address) {
  Barrier &barrier = barrierAt(address);
  if (Block::current().copiesEarly())
    return arriveAt(barrier);
  barrier.arrivals.push_back(Block::current().pendingCopies());
}

static void expectBytes(char *address, uint32_t bytes) {
  Barrier &barrier = barrierAt(address);
  --barrier.pendingArrivals;
  barrier.bytes += bytes;
  advance(barrier);
}

/// The copies run at their wait, or at once, depending on the order of threads.
static uint32_t waitForBarrier(char *address, uint32_t parity) {
  while ((barrierAt(address).phase & 1) == parity) {
    Barrier &barrier = barrierAt(address);
    std::vector<Copy> copies;
    copies.swap(barrier.waiting);
    for (const Copy &copy : copies) {
      perform(copy);
      barrier.bytes -= copy.bytes;
    }
    if (!copies.empty())
      advance(barrier);
    std::vector<StartedCopies> arrivals;
    arrivals.swap(barrier.arrivals);
    for (const StartedCopies &started : arrivals) {
      for (const std::shared_ptr<StartedCopy> &copy : started)
        simt::perform(*copy);
      arriveAt(barrier);
    }
    if (copies.empty() && arrivals.empty())
      Block::current().yield();
  }
  return 0;
}

static uint32_t waitForBarrierByWarp(char *address, uint32_t parity) {
  waitForBarrier(address, parity);
  Block::current().exchange(0);
  return 0;
}

static bool runsEarly() {
  const Order order = Block::current().threadOrder();
  static unsigned next = 0;
  return order == Order::Descending || (order == Order::Mixed && ++next % 3 == 0);
}

static Copy copyOf(const Map *map, const int32_t *begin, char *shared, char *sharedBegin, uint32_t bytes) {
  tmaState().sharedBegin = sharedBegin;
  if (map->magic != Map::kMagic)
    stop("there is no tensor map at this address");
  Copy copy = {*map, {}, shared, nullptr, bytes, 0};
  std::copy_n(begin, map->rank, copy.begin);
  if (int64_t(begin[0]) * map->elemBytes % 16)
    stop("a box does not begin at a multiple of 16 bytes");
  if ((shared - sharedBegin) % (map->swizzle ? 8 * map->swizzle : 128))
    stop("a box begins inside of a swizzle's pattern");
  return copy;
}

static void startLoad(const Map *map, const int32_t *begin, char *shared, char *sharedBegin, uint32_t bytes,
                      char *address) {
  Copy copy = copyOf(map, begin, shared, sharedBegin, bytes);
  copy.barrier = address;
  Barrier &barrier = barrierAt(address);
  if (!runsEarly())
    return barrier.waiting.push_back(copy);
  perform(copy);
  barrier.bytes -= bytes;
  advance(barrier);
}

static void startStore(const Map *map, const int32_t *begin, char *shared, char *sharedBegin, uint32_t bytes,
                       uint32_t kind) {
  Copy copy = copyOf(map, begin, shared, sharedBegin, bytes);
  copy.kind = kind;
  if (std::any_of(begin, begin + map->rank, [](int32_t index) { return index < 0; }))
    stop("a box that is stored begins before the array");
  // TMA writes rows up to a multiple of 16 bytes.
  copy.map.dims[0].extent = (copy.map.dims[0].extent * map->elemBytes + 15) / 16 * 16 / map->elemBytes;
  if (runsEarly())
    return perform(copy);
  auto &groups = tmaState().stores[Block::current().thread()];
  if (groups.empty())
    groups.emplace_back();
  groups.back().push_back(copy);
}

static void commitStores() {
  auto &groups = tmaState().stores[Block::current().thread()];
  if (groups.empty())
    groups.emplace_back();
  groups.emplace_back();
}

static void waitForStores(uint32_t pending) {
  auto &groups = tmaState().stores[Block::current().thread()];
  while (groups.size() > pending + 1) {
    for (const Copy &copy : groups.front())
      perform(copy);
    groups.erase(groups.begin());
  }
}

llvm::ArrayRef<HostFunction> simt::tmaFunctions() {
  static const HostFunction functions[] = {
      {"simt_map_dim", reinterpret_cast<void *>(&setDim)},
      {"simt_map", reinterpret_cast<void *>(&setMap)},
      {"simt_barrier_init", reinterpret_cast<void *>(&initBarrier)},
      {"simt_barrier_end", reinterpret_cast<void *>(&invalidateBarrier)},
      {"simt_barrier_arrive_by_warp", reinterpret_cast<void *>(&arriveByWarp)},
      {"simt_barrier_arrive_after_copies", reinterpret_cast<void *>(&arriveAfterCopies)},
      {"simt_barrier_expect", reinterpret_cast<void *>(&expectBytes)},
      {"simt_barrier_wait", reinterpret_cast<void *>(&waitForBarrier)},
      {"simt_barrier_wait_by_warp", reinterpret_cast<void *>(&waitForBarrierByWarp)},
      {"simt_load_box", reinterpret_cast<void *>(&startLoad)},
      {"simt_store_box", reinterpret_cast<void *>(&startStore)},
      {"simt_commit_boxes", reinterpret_cast<void *>(&commitStores)},
      {"simt_wait_for_boxes", reinterpret_cast<void *>(&waitForStores)},
  };
  return functions;
}

//--- calls ---------------------------------------------------------------------------------

namespace {
class HostTmaEmitter final : public nvidia::TmaEmitter {
public:
  void markTensorMapParameter(llvm::Argument &) override {} // the pointer itself
  void makeTensorMap(IrBuilder &ir, const TensorMap &map, llvm::Value *, llvm::Value *target,
                     llvm::Value *lane) override {
    const unsigned bytes = map.element.getIntOrFloatBitWidth() / 8;
    for (unsigned dim = 0; dim < map.extents.size(); ++dim)
      call(ir, "simt_map_dim",
           {plain(ir, target), lane, ir.getInt32(dim), map.extents[dim],
            dim ? map.strides[dim - 1] : ir.getInt64(bytes), ir.getInt32(map.box[dim])});
    auto flag = [&](llvm::Value *truth) { return ir.CreateZExt(truth, ir.getInt32Ty()); };
    call(ir, "simt_map",
         {plain(ir, target), lane, plain(ir, map.base), ir.getInt32(map.extents.size()), ir.getInt32(bytes),
          ir.getInt32(map.swizzleBytes), ir.getInt32(uint32_t(numberOf(map.element))), ir.getInt32(map.isUnsigned),
          flag(map.padsWithNan), flag(map.roundsToTf32)});
  }
  void initBarrier(IrBuilder &ir, llvm::Value *barrier, int64_t offset, unsigned count) override {
    call(ir, "simt_barrier_init", {plain(ir, barrier, offset), ir.getInt32(count)});
  }
  void invalidateBarrier(IrBuilder &ir, llvm::Value *barrier, int64_t offset) override {
    call(ir, "simt_barrier_end", {plain(ir, barrier, offset)});
  }
  void fence(IrBuilder &, bool) override {}
  void expect(IrBuilder &ir, llvm::Value *barrier, unsigned bytes) override {
    call(ir, "simt_barrier_expect", {plain(ir, barrier), ir.getInt32(bytes)});
  }
  void arriveByWarp(IrBuilder &ir, llvm::Value *barrier, llvm::Value *isFirstLane) override {
    call(ir, "simt_barrier_arrive_by_warp", {plain(ir, barrier), ir.CreateZExt(isFirstLane, ir.getInt32Ty())});
  }
  void arriveAfterCopies(IrBuilder &ir, llvm::Value *barrier) override {
    call(ir, "simt_barrier_arrive_after_copies", {plain(ir, barrier)});
  }
  void waitForBarrier(IrBuilder &ir, llvm::Value *barrier, llvm::Value *parity, bool byWarp) override {
    call(ir, byWarp ? "simt_barrier_wait_by_warp" : "simt_barrier_wait", {plain(ir, barrier), parity});
  }
  void load(IrBuilder &ir, const BoxCopy &copy, llvm::Value *barrier, tt::EvictionPolicy) override {
    callCopy(ir, "simt_load_box", copy, plain(ir, barrier));
  }
  void store(IrBuilder &ir, const BoxCopy &copy, std::optional<Kind> kind) override {
    callCopy(ir, "simt_store_box", copy, ir.getInt32(kind ? uint32_t(*kind) : 0));
  }
  void commitStores(IrBuilder &ir) override { call(ir, "simt_commit_boxes", {}); }
  void waitForStores(IrBuilder &ir, unsigned pending, bool) override {
    call(ir, "simt_wait_for_boxes", {ir.getInt32(pending)});
  }

private:
  static Number numberOf(mlir::Type element) {
    return element.isF32()    ? Number::Single
           : element.isF16()  ? Number::Half
           : element.isBF16() ? Number::Brain
           : element.isF64()  ? Number::Double
                              : Number::Bits;
  }
  static llvm::Value *plain(IrBuilder &ir, llvm::Value *pointer, int64_t offset = 0) {
    return ir.CreateAddrSpaceCast(ir.CreatePtrAdd(pointer, ir.getInt64(offset)), ir.getPtrTy());
  }
  static void call(IrBuilder &ir, const char *name, llvm::ArrayRef<llvm::Value *> arguments) {
    auto types = llvm::map_to_vector(arguments, [](llvm::Value *value) { return value->getType(); });
    auto *type = llvm::FunctionType::get(ir.getVoidTy(), types, false);
    llvm::CallInst *made = ir.CreateCall(ir.GetInsertBlock()->getModule()->getOrInsertFunction(name, type), arguments);
    made->addFnAttr(llvm::Attribute::Convergent);
    made->addFnAttr(llvm::Attribute::NoDuplicate);
  }
  static void callCopy(IrBuilder &ir, const char *name, const BoxCopy &copy, llvm::Value *last) {
    llvm::Function *function = ir.GetInsertBlock()->getParent();
    IrBuilder entry(&function->getEntryBlock(), function->getEntryBlock().begin());
    auto *type = llvm::ArrayType::get(ir.getInt32Ty(), copy.begin.size());
    llvm::Value *list = entry.CreateAlloca(type);
    for (auto [index, begin] : llvm::enumerate(copy.begin))
      ir.CreateStore(begin, ir.CreateConstGEP2_32(type, list, 0, index));
    llvm::Value *shared = ir.GetInsertBlock()->getModule()->getNamedValue("nereid_shared");
    call(ir, name,
         {plain(ir, copy.map), list, plain(ir, copy.shared, copy.sharedOffset), plain(ir, shared),
          ir.getInt32(copy.bytes), last});
  }
};
} // namespace

nvidia::TmaEmitter *HostEmitter::tma() {
  static HostTmaEmitter copies;
  return &copies;
}
