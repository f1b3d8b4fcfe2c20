// Makes an instruction of 32 lanes out of a function of one lane.
// SPDX-License-Identifier: MIT
#pragma once

#include "runtime/sim/machine/Machine.h"

#include <bit>
#include <cstring>
#include <type_traits>

namespace nereid::sim {

struct Bits128 {
  uint64_t low = 0, high = 0;
};

/// 16-bit floats, so that they differ from integers.
struct Half {
  uint16_t bits;
};
struct Brain {
  uint16_t bits;
};

/// How one lane of a register holds a `T`.
template <size_t Bytes> struct SlotOf {
  using Type = uint32_t;
};
template <> struct SlotOf<8> {
  using Type = uint64_t;
};
template <> struct SlotOf<16> {
  using Type = Bits128;
};
template <typename T> using Slot = typename SlotOf<sizeof(T)>::Type;
template <size_t Bytes>
using Word =
    std::conditional_t<Bytes == 1, uint8_t,
                       std::conditional_t<Bytes == 2, uint16_t, std::conditional_t<Bytes == 4, uint32_t, uint64_t>>>;

template <typename T> T fromSlot(Slot<T> slot) {
  if constexpr (sizeof(T) == 16)
    return slot;
  else
    return std::bit_cast<T>(static_cast<Word<sizeof(T)>>(slot));
}
template <typename T> Slot<T> toSlot(T value) {
  if constexpr (sizeof(T) == 16)
    return value;
  else
    return std::bit_cast<Word<sizeof(T)>>(value);
}

/// A source operand: a register of 32 lanes, or a predicate.
template <typename T> struct Source {
  const Slot<T> *lanes;
  Source(const Warp &warp, uint32_t slot) : lanes(warp.at<Slot<T>>(slot)) {}
  T operator[](unsigned lane) const { return fromSlot<T>(lanes[lane]); }
};
template <> struct Source<bool> {
  uint32_t mask;
  Source(const Warp &warp, uint32_t slot) : mask(warp.predicate(slot)) {}
  bool operator[](unsigned lane) const { return mask >> lane & 1; }
};

/// Writes the lanes of `warp.mask`.
template <typename S> void writeLanes(Warp &warp, uint32_t slot, const S (&values)[kLanes]) {
  S *to = warp.at<S>(slot);
  if (warp.mask == kAllLanes) {
    std::memcpy(to, values, sizeof(values));
    return;
  }
  for (unsigned lane = 0; lane < kLanes; ++lane)
    if (warp.isActive(lane))
      to[lane] = values[lane];
}
inline void writePredicate(Warp &warp, uint32_t slot, uint32_t values) {
  uint32_t &to = *warp.at<uint32_t>(slot);
  to = (to & ~warp.mask) | (values & warp.mask);
}

/// `Lanes<&f>::run` stores f of the operands of each lane in the first slot.
template <auto Function> struct Lanes;
template <typename R, typename... A, R (*Function)(A...)> struct Lanes<Function> {
  using Result = R;
  static constexpr size_t kSources = sizeof...(A);

  template <size_t... I> static Step apply(Warp &warp, const Instruction &instruction, std::index_sequence<I...>) {
    const std::tuple<Source<A>...> sources(Source<A>(warp, instruction.slots[I + 1])...);
    if constexpr (std::is_same_v<R, bool>) {
      uint32_t values = 0;
      for (unsigned lane = 0; lane < kLanes; ++lane)
        values |= uint32_t{Function(std::get<I>(sources)[lane]...)} << lane;
      writePredicate(warp, instruction.slots[0], values);
    } else {
      Slot<R> values[kLanes];
      for (unsigned lane = 0; lane < kLanes; ++lane)
        values[lane] = toSlot<R>(Function(std::get<I>(sources)[lane]...));
      writeLanes(warp, instruction.slots[0], values);
    }
    return Step::Next;
  }
  static Step run(Warp &warp, const Instruction &instruction) {
    return apply(warp, instruction, std::index_sequence_for<A...>());
  }
};

} // namespace nereid::sim
