// Counts bank conflicts lane by lane.
// SPDX-License-Identifier: MIT
#include "compiler/layout/Swizzle.h"

#include "llvm/ADT/STLExtras.h"

#include <map>
#include <set>

using namespace nereid;
using namespace nereid::layout;

uint32_t SharedAccessPattern::threadMask() const {
  uint32_t mask = 0;
  for (uint32_t base : laneBases)
    mask |= base;
  for (uint32_t base : warpBases)
    mask |= base;
  return mask;
}

bool SharedAccessPattern::isInLaneOrder() const {
  for (auto [bit, base] : llvm::enumerate(laneBases))
    if (base != vectorElems << bit)
      return false;
  const uint32_t laneBits = (vectorElems << laneBases.size()) - vectorElems;
  if (padding.apply(laneBits) != laneBits)
    return false;
  const auto isElsewhere = [&](uint32_t bits) { return (bits & laneBits) == 0; };
  return idleLanes == 0 && llvm::all_of(warpBases, isElsewhere) &&
         llvm::all_of(accesses, [&](const SharedAccess &access) { return isElsewhere(access.offset); });
}

/// The XOR of the bases of a number's bits.
static uint32_t xorOf(llvm::ArrayRef<uint32_t> bases, unsigned number) {
  uint32_t result = 0;
  for (auto [bit, base] : llvm::enumerate(bases))
    if (number >> bit & 1)
      result ^= base;
  return result;
}

/// The largest number of distinct words accessed in one bank; 0 without active lanes.
static unsigned wavefrontsOfPhase(llvm::ArrayRef<uint32_t> byteAddresses, unsigned accessBytes,
                                  const BankModel &banks) {
  std::map<uint32_t, std::set<uint32_t>> wordsOfBank;
  const unsigned numBanks = banks.lineBytes / banks.bankBytes;
  for (uint32_t address : byteAddresses)
    for (uint32_t byte = address; byte < address + accessBytes; ++byte)
      wordsOfBank[byte / banks.bankBytes % numBanks].insert(byte / banks.bankBytes);
  size_t most = 0;
  for (const auto &[bank, words] : wordsOfBank)
    most = std::max(most, words.size());
  return most;
}

Wavefronts layout::countWavefronts(const SharedAccessPattern &side, unsigned elemBytes, unsigned numLanes,
                                   unsigned numWarps, const BankModel &banks) {
  const unsigned accessBytes = side.vectorElems * elemBytes;
  // Sub-word accesses take one phase, as words do.
  const unsigned lanesInPhase = banks.lineBytes / std::max(accessBytes, banks.bankBytes);
  Wavefronts worst;
  for (unsigned warp = 0; warp < numWarps; ++warp) {
    if (warp & side.idleWarps)
      continue;
    for (const SharedAccess &access : side.accesses) {
      Wavefronts sum;
      for (unsigned begin = 0; begin < numLanes; begin += lanesInPhase) {
        llvm::SmallVector<uint32_t, 32> addresses;
        for (unsigned lane = begin; lane < std::min(numLanes, begin + lanesInPhase); ++lane)
          if (!(lane & side.idleLanes)) {
            const uint64_t threads = xorOf(side.laneBases, lane) ^ xorOf(side.warpBases, warp);
            addresses.push_back(side.padding.apply(uint32_t(threads) ^ access.offset) * elemBytes);
          }
        const unsigned wavefronts = wavefrontsOfPhase(addresses, accessBytes, banks);
        sum.total += wavefronts;
        sum.conflicts += wavefronts ? wavefronts - 1 : 0;
      }
      worst.total = std::max(worst.total, sum.total);
      worst.conflicts = std::max(worst.conflicts, sum.conflicts);
    }
  }
  return worst;
}
