// Who has accessed each word of memory, for the search for races.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <memory>
#include <unordered_map>
#include <vector>

namespace nereid::sim {

/// An access to a word of four bytes, or to some of its bytes.
struct Touch {
  uint32_t cluster = 0, clock = 0; ///< clock 0: none
  uint32_t instruction = 0;        ///< index into the code
  uint16_t thread = 0;             ///< of the analysis
  uint8_t lane : 5 = 0;
  uint8_t scope : 3 = 0;
  uint8_t bytes : 4 = 0; ///< a bit for each
  bool isWrite : 1 = false;
  bool isStrong : 1 = false;
  bool isAtomic : 1 = false;
  bool isAsync : 1 = false; ///< by the async proxy
};
static_assert(sizeof(Touch) == 20 || sizeof(Touch) == 16);

/// The accesses to a word that a later one may race with: nearly always a write and a read.
class Cell {
public:
  /// Calls `f` for each; those for which it returns true are forgotten.
  template <typename F> void sift(F f) {
    for (Touch &touch : first)
      if (touch.clock && f(touch))
        touch.clock = 0;
    if (more)
      std::erase_if(*more, f);
  }
  void add(const Touch &touch) {
    for (Touch &each : first)
      if (!each.clock) {
        each = touch;
        return;
      }
    if (!more)
      more = std::make_unique<std::vector<Touch>>();
    more->push_back(touch);
  }
  size_t size() const { return (first[0].clock != 0) + (first[1].clock != 0) + (more ? more->size() : 0); }

private:
  Touch first[2];
  std::unique_ptr<std::vector<Touch>> more;
};

class Shadow {
public:
  /// The cell of the word that contains `address`.
  Cell &at(uint64_t address) {
    const uint64_t number = address / kPageBytes;
    if (number != lastNumber) {
      std::unique_ptr<Cell[]> &page = pages[number];
      if (!page)
        page = std::make_unique<Cell[]>(kPageBytes / 4);
      last = page.get();
      lastNumber = number;
    }
    return last[address % kPageBytes / 4];
  }

private:
  static constexpr uint64_t kPageBytes = 4096;
  std::unordered_map<uint64_t, std::unique_ptr<Cell[]>> pages;
  uint64_t lastNumber = ~uint64_t{0};
  Cell *last = nullptr;
};

} // namespace nereid::sim
