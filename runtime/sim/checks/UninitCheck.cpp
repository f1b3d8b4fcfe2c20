// Follows undefined values from memory and registers to where they matter.
// SPDX-License-Identifier: MIT
//
// Compilers load vectors with elements that nobody uses, and compute with lanes that a mask discards later. So a read
// is reported only when its value is used.
#include "runtime/sim/checks/UninitCheck.h"

#include "runtime/sim/amd/Matrix.h"
#include "runtime/sim/checks/Checks.h"
#include "runtime/sim/machine/ValueFlow.h"
#include "runtime/sim/machine/Wave.h"

#include <algorithm>
#include <array>
#include <bit>

using namespace nereid::sim;

//--- shadows -------------------------------------------------------------------------------

ShadowRegisters &UninitCheck::shadowOf(const Warp &warp) {
  ShadowRegisters &shadow = registers[&warp];
  if (!shadow.undefined.empty())
    return shadow;
  const Code &code = *cluster.code;
  shadow.undefined.assign(code.fileBytes / kSlotUnit + 1, kAllLanes);
  shadow.origins.assign(shadow.undefined.size(), 0);
  shadow.local.assign(warp.local.size(), 0);
  shadow.constant.assign(shadow.undefined.size(), false);
  for (const Constant &constant : code.constants) {
    shadow.undefined[constant.slot / kSlotUnit] = 0;
    shadow.constant[constant.slot / kSlotUnit] = constant.value != 0;
  }
  for (auto [slot, special] : code.specials)
    shadow.undefined[slot / kSlotUnit] = 0;
  return shadow;
}

uint8_t *UninitCheck::shadowOf(Warp &warp, const MemoryAccess &access, unsigned lane) {
  if (access.space == Space::Local)
    return shadowOf(warp).local.data() + (access.host[lane] - warp.local.data());
  if (access.space != Space::Shared)
    return nullptr;
  const uint32_t rank = uint32_t(access.addresses[lane]) >> kRankShift;
  const Cta &cta = rank ? cluster.ctas[rank - 1] : *warp.cta;
  std::vector<uint8_t> &bytes = shared[&cta];
  if (bytes.empty())
    bytes.assign(cta.sharedBytes, 0);
  return bytes.data() + (access.host[lane] - cta.shared);
}

uint32_t UninitCheck::addOrigin(const Instruction &instruction, std::string text) {
  for (size_t index = origins.size(); index-- > 1;)
    if (origins[index].instruction == &instruction)
      return uint32_t(index);
  origins.push_back({&instruction, std::move(text)});
  return uint32_t(origins.size() - 1);
}

void UninitCheck::set(ShadowRegisters &shadow, uint32_t slot, uint32_t lanes, uint32_t undefined, uint32_t origin) {
  uint32_t &to = shadow.undefined[slot / kSlotUnit];
  to = (to & ~lanes) | (undefined & lanes);
  if (undefined & lanes)
    shadow.origins[slot / kSlotUnit] = origin;
}

//--- uses ----------------------------------------------------------------------------------

bool UninitCheck::checkUse(Warp &warp, const Instruction &instruction, uint32_t slot, uint32_t lanes, const char *use) {
  ShadowRegisters &shadow = shadowOf(warp);
  const uint32_t wrong = shadow.undefined[slot / kSlotUnit] & lanes;
  if (!wrong || hasFailed)
    return !hasFailed;
  hasFailed = true;
  const int lane = std::countr_zero(wrong);
  const uint32_t origin = shadow.origins[slot / kSlotUnit];
  if (!origin) {
    fail(warp, instruction, "sanitize-uninit",
         "a register is read that nobody has written; its value is " + std::string(use), lane);
    return false;
  }
  const Undefined &read = origins[origin];
  if (read.instruction == &instruction)
    fail(warp, instruction, "sanitize-uninit", read.text + "; its value is " + use, lane);
  else
    fail(warp, *read.instruction, "sanitize-uninit", read.text, lane,
         {{&instruction, "its value is " + std::string(use) + " here"}});
  return false;
}

//--- memory --------------------------------------------------------------------------------

static std::string placeOf(const MemoryAccess &access, unsigned lane, const char *how) {
  const uint64_t offset = access.addresses[lane] & ((uint64_t{1} << (access.space == Space::Shared ? 24 : 56)) - 1);
  return "byte " + std::to_string(offset) + " of " + (access.space == Space::Shared ? "shared" : "local") +
         " memory is " + how + ", and nobody has written it";
}

/// An element counts as undefined if all of its bytes are: code may load more than it needs.
static bool isUndefined(const uint8_t *shadow, uint32_t bytes) {
  return shadow && std::all_of(shadow, shadow + bytes, [](uint8_t isDefined) { return !isDefined; });
}

void UninitCheck::load(Warp &warp, const MemoryAccess &access) {
  const Instruction &instruction = *access.instruction;
  ShadowRegisters &shadow = shadowOf(warp);
  const uint32_t bytes = access.bytes / uint32_t(access.elements.size());
  for (uint32_t index = 0; index < access.elements.size(); ++index) {
    uint32_t undefined = 0, origin = 0;
    for (unsigned lane = 0; lane < kLanes; ++lane)
      if (access.lanes >> lane & 1)
        if (const uint8_t *from = shadowOf(warp, access, lane); from && isUndefined(from + index * bytes, bytes))
          undefined |= 1u << lane;
    if (undefined)
      origin = addOrigin(instruction, placeOf(access, unsigned(std::countr_zero(undefined)), "read"));
    set(shadow, access.elements[index], access.lanes, undefined, origin);
  }
}

/// Each lane gets four bytes of the row lane / 4; transposed, two of each of two rows.
void UninitCheck::loadMatrices(Warp &warp, const MemoryAccess &access) {
  const Instruction &instruction = *access.instruction;
  ShadowRegisters &shadow = shadowOf(warp);
  for (uint32_t matrix = 0; matrix < instruction.list.size(); ++matrix) {
    uint32_t undefined = 0, origin = 0;
    for (unsigned lane = 0; lane < kLanes; ++lane) {
      const auto at = [&](unsigned row, unsigned byte) { return shadowOf(warp, access, matrix * 8 + row) + byte; };
      const unsigned pair = lane % 4 * 2;
      const bool isWrong = access.isTransposed
                               ? isUndefined(at(pair, lane / 4 * 2), 2) && isUndefined(at(pair + 1, lane / 4 * 2), 2)
                               : isUndefined(at(lane / 4, pair * 2), 4);
      undefined |= uint32_t{isWrong} << lane;
    }
    if (undefined)
      origin = addOrigin(instruction, placeOf(access, matrix * 8, "read"));
    set(shadow, instruction.list[matrix], kAllLanes, undefined, origin);
  }
}

/// Ordinary stores pass the definedness of their registers; all others write defined bytes.
void UninitCheck::store(Warp &warp, const MemoryAccess &access) {
  const bool isOrdinary = access.stage == Stage::Whole && !access.elements.empty() &&
                          operandsOf(warp, *access.instruction).flow == ValueFlow::Store;
  for (unsigned lane = 0; lane < kLanes; ++lane) {
    uint8_t *to = access.lanes >> lane & 1 ? shadowOf(warp, access, lane) : nullptr;
    if (!to)
      continue;
    const uint32_t count = isOrdinary ? uint32_t(access.elements.size()) : 1, bytes = access.bytes / count;
    for (uint32_t index = 0; index < count; ++index) {
      const bool isDefined = !isOrdinary || !(shadowOf(warp).undefined[access.elements[index] / kSlotUnit] >> lane & 1);
      std::fill_n(to + index * bytes, bytes, uint8_t{isDefined});
    }
  }
}

/// Tensor cores and copies read shared memory themselves, and an atomic update needs what is there.
bool UninitCheck::readWhole(Warp &warp, const MemoryAccess &access, const char *how) {
  for (unsigned lane = 0; lane < kLanes && !hasFailed; ++lane)
    if (access.lanes >> lane & 1)
      if (const uint8_t *from = shadowOf(warp, access, lane); isUndefined(from, access.bytes)) {
        hasFailed = true;
        fail(warp, *access.instruction, "sanitize-uninit", placeOf(access, lane, how), int(access.threadOf(lane)));
      }
  return !hasFailed;
}

bool UninitCheck::onAccess(Warp &warp, const MemoryAccess &access) {
  const Instruction &instruction = *access.instruction;
  if (access.stage == Stage::Issue)
    return access.slot < 0 ||
           checkUse(warp, instruction, uint32_t(access.slot), access.threadMask(), "used as an address");
  if (access.stage == Stage::Effect) {
    if (access.writes)
      store(warp, access);
    return !access.reads || readWhole(warp, access, "read");
  }
  if (access.slot >= 0 && !checkUse(warp, instruction, uint32_t(access.slot), access.lanes, "used as an address"))
    return false;
  const OperandSlots &operands = operandsOf(warp, instruction);
  if (access.writes && access.space == Space::Global)
    for (uint32_t slot : operands.sources)
      if (!checkUse(warp, instruction, slot, access.lanes, "written to global memory"))
        return false;
  // The operations on mbarriers are checked by `sync`.
  if (access.isAtomic && !access.replaces && operands.flow == ValueFlow::Defined && !readWhole(warp, access, "updated"))
    return false;
  if (access.writes)
    store(warp, access);
  else if (operands.flow == ValueFlow::Load)
    load(warp, access);
  else if (operands.flow == ValueFlow::Matrices)
    loadMatrices(warp, access);
  return true;
}

//--- registers -----------------------------------------------------------------------------

void UninitCheck::onIssue(Warp &warp, const Instruction &instruction) {
  if (hasFailed)
    return;
  if (instruction.guard >= 0 &&
      !checkUse(warp, instruction, uint32_t(instruction.guard), warp.candidates, "used as a predicate"))
    return;
  if (warp.mask)
    flow(warp, instruction, shadowOf(warp));
}

void UninitCheck::flow(Warp &warp, const Instruction &instruction, ShadowRegisters &shadow) {
  const OperandSlots &operands = operandsOf(warp, instruction);
  const auto of = [&](uint32_t slot) { return shadow.undefined[slot / kSlotUnit]; };
  uint32_t any = 0, all = kAllLanes, origin = 0;
  bool hasConstant = false;
  for (uint32_t slot : operands.sources) {
    const uint32_t undefined = of(slot) & warp.mask;
    any |= undefined, all &= undefined;
    hasConstant |= shadow.constant[slot / kSlotUnit];
    if (undefined && !origin) {
      uint32_t &known = shadow.origins[slot / kSlotUnit];
      origin = known = known ? known : addOrigin(instruction, "a register is read that nobody has written");
    }
  }
  uint32_t result = any;
  switch (operands.flow) {
  case ValueFlow::Load:
  case ValueFlow::Store:
  case ValueFlow::Matrices:
  case ValueFlow::Wave:
    return;
  case ValueFlow::Product:
    return multiply(instruction, shadow);
  case ValueFlow::Any:
    break;
  case ValueFlow::Defined:
    result = 0;
    break;
  case ValueFlow::Lanes:
    result = operands.sources.size() && of(operands.sources[0]) & warp.mask && !(warp.mask & ~of(operands.sources[0]))
                 ? kAllLanes
                 : 0;
    break;
  case ValueFlow::All:
    result = operands.sources.empty() ? 0 : all;
    break;
  case ValueFlow::Mask:
    result = hasConstant ? any : all;
    break;
  case ValueFlow::Select:
    if (operands.sources.size() == 3) {
      const uint32_t chosen = warp.predicate(operands.sources[2]);
      result = ((of(operands.sources[0]) & chosen) | (of(operands.sources[1]) & ~chosen)) & warp.mask;
    }
    break;
  }
  for (uint32_t slot : operands.destinations)
    set(shadow, slot, warp.mask, result, origin);
}

/// Rows of the left matrix and columns of the right one that have an undefined element make those of the result so.
/// Fragments as in TensorCore.cpp: a lane has the rows lane / 4 and lane / 4 + 8, and columns of lane % 4.
void UninitCheck::multiply(const Instruction &instruction, ShadowRegisters &shadow) {
  const auto [numResults, numLeft, numRight, numSums, metadataLanes, unused] = instruction.slots;
  const unsigned numFactors = numLeft + numRight;
  const unsigned halves = metadataLanes ? 2 : numLeft / numRight; // of 16 rows; a sparse left matrix has half of them
  const auto of = [&](size_t index) { return shadow.undefined[instruction.list[index] / kSlotUnit]; };
  uint32_t rows = 0, columns = 0, origin = 0;
  for (size_t index = numResults; index < instruction.list.size(); ++index)
    if (of(index) && !origin)
      origin = shadow.origins[instruction.list[index] / kSlotUnit];
  for (size_t index = 0; index < numFactors; ++index)
    for (unsigned lane = 0; lane < kLanes; ++lane)
      if (of(numResults + index) >> lane & 1)
        index < numLeft ? rows |= 1u << (lane / 4 + index % halves * 8) : columns |= 1u << lane / 4;
  for (unsigned lane = 0; lane < kLanes; ++lane)
    if (metadataLanes >> lane & 1 && of(instruction.list.size() - 1) >> lane & 1)
      rows |= 0x101u << lane / 4;
  std::vector<uint32_t> results(numResults);
  for (size_t index = 0; index < numResults; ++index) {
    results[index] = of(numResults + numFactors + index * numSums / numResults);
    const size_t perHalf = std::max<size_t>(numResults / halves, 1), half = index / perHalf;
    for (unsigned lane = 0; lane < kLanes; ++lane) {
      const uint32_t pair = columns >> lane % 4 * 2 & 3; // one register each, or both in one
      const bool isColumnWrong = perHalf == 1 ? pair == 3 : pair >> index % perHalf & 1;
      const bool isWrong = rows >> (lane / 4 + half * 8) & 1 || isColumnWrong;
      results[index] |= uint32_t{isWrong} << lane;
    }
  }
  for (size_t index = 0; index < numResults; ++index)
    set(shadow, instruction.list[index], kAllLanes, results[index], origin);
}

namespace {
/// The undefined registers of a wave, and where one of them comes from.
class WaveShadow {
public:
  WaveShadow(Wave &wave, ShadowRegisters *(&shadows)[2]) : wave(wave), shadows(shadows) {}

  bool isUndefined(uint32_t slot, unsigned lane) {
    const ShadowRegisters &shadow = *shadows[lane / kLanes];
    const bool isWrong = wave.isActive(lane) && shadow.undefined[slot / kSlotUnit] >> lane % kLanes & 1;
    hasUndefined |= isWrong;
    if (isWrong && !origin)
      origin = shadow.origins[slot / kSlotUnit];
    return isWrong;
  }
  /// Rows (columns) of which a register is undefined.
  uint32_t majorsOf(std::span<const uint32_t> slots, unsigned rows) {
    uint32_t majors = 0;
    for (uint32_t slot : slots)
      for (unsigned lane = 0; lane < wave.lanes(); ++lane)
        majors |= uint32_t{isUndefined(slot, lane)} << lane % rows;
    return majors;
  }

  uint32_t origin = 0;
  bool hasUndefined = false;

private:
  Wave &wave;
  ShadowRegisters *(&shadows)[2];
};
} // namespace

/// As `multiply`. Of two results in a register both must be undefined.
void UninitCheck::onWaveProduct(Wave &wave, const Instruction &instruction, const WaveProduct &product) {
  if (hasFailed)
    return;
  ShadowRegisters *shadows[2] = {};
  for (unsigned index = 0; index < wave.size(); ++index)
    shadows[index] = &shadowOf(wave.warp(index));
  WaveShadow shadow(wave, shadows);
  const MatrixShape &shape = product.shape;
  uint32_t rows = shadow.majorsOf(product.left, shape.rows), columns = shadow.majorsOf(product.right, shape.columns);
  if (!product.scales.empty()) {
    rows |= shadow.majorsOf(product.scales.first(1), shape.rows);
    columns |= shadow.majorsOf(product.scales.last(1), shape.columns);
  }
  const unsigned perRegister = product.hasPackedResults ? 2 : 1;
  std::vector<std::array<uint32_t, 2>> results(product.results.size());
  for (size_t index = 0; index < results.size(); ++index)
    for (unsigned lane = 0; lane < wave.lanes(); ++lane) {
      bool isWrong = true;
      for (unsigned element = 0; element < perRegister; ++element) {
        const ResultPlace place = shape.resultPlace(lane, unsigned(index) * perRegister + element);
        isWrong &= rows >> place.row & 1 || columns >> place.column & 1;
      }
      isWrong |= shadow.isUndefined(product.sums[index], lane);
      results[index][lane / kLanes] |= uint32_t{isWrong} << lane % kLanes;
    }
  if (shadow.hasUndefined && !shadow.origin)
    shadow.origin = addOrigin(instruction, "a register is read that nobody has written");
  for (size_t index = 0; index < results.size(); ++index)
    for (unsigned warp = 0; warp < wave.size(); ++warp)
      set(*shadows[warp], product.results[index], wave.mask(warp), results[index][warp], shadow.origin);
}

std::shared_ptr<Observer> nereid::sim::makeUninitCheck(Cluster &cluster) {
  return std::make_shared<UninitCheck>(cluster);
}
