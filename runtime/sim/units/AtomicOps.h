// The operations of atomics, asynchronous reductions and redux, on every type of number in memory.
// SPDX-License-Identifier: MIT
#pragma once

#include "runtime/sim/machine/Formats.h"

#include <algorithm>
#include <cmath>

namespace nereid::sim {

enum class AtomicOp : uint8_t { None, Add, Min, Max, Inc, Dec, And, Or, Xor, Exch, Cas };

/// `c` is the new value of a compare-and-swap.
template <typename T> T applyInteger(AtomicOp op, T old, T b, T c = 0) {
  using Unsigned = std::make_unsigned_t<T>;
  switch (op) {
  case AtomicOp::Add:
    return T(Unsigned(old) + Unsigned(b));
  case AtomicOp::Min:
    return std::min(old, b);
  case AtomicOp::Max:
    return std::max(old, b);
  case AtomicOp::Inc:
    return old >= b ? T(0) : T(old + 1);
  case AtomicOp::Dec:
    return old == 0 || old > b ? b : T(old - 1);
  case AtomicOp::And:
    return old & b;
  case AtomicOp::Or:
    return old | b;
  case AtomicOp::Xor:
    return old ^ b;
  case AtomicOp::Cas:
    return old == b ? c : old;
  case AtomicOp::None:
  case AtomicOp::Exch:
    break;
  }
  return b;
}

/// The sum, or the extremum; a NaN loses, and -0 is below +0.
template <typename T> T applyFloat(AtomicOp op, T a, T b) {
  if (op == AtomicOp::Add)
    return a + b;
  if (a != a || b != b)
    return a != a ? b : a;
  const bool isLess = a < b || (a == b && std::signbit(a));
  return isLess == (op == AtomicOp::Min) ? a : b;
}

/// How a word of memory holds a number: `run` is the operation on the word.
template <typename T> struct IntegerWord {
  using Word = std::make_unsigned_t<T>;
  static Word run(AtomicOp op, Word old, Word b, Word c) { return Word(applyInteger<T>(op, T(old), T(b), T(c))); }
};
template <typename F, typename W> struct FloatWord {
  using Word = W;
  static Word run(AtomicOp op, Word old, Word b, Word) {
    return std::bit_cast<W>(applyFloat(op, std::bit_cast<F>(old), std::bit_cast<F>(b)));
  }
};
template <typename T> struct HalfWord {
  using Word = uint16_t;
  static Word run(AtomicOp op, Word old, Word b, Word) {
    return fromFloat<T>(applyFloat(op, toFloat(T{old}), toFloat(T{b}))).bits;
  }
};
template <typename T> struct HalvesWord {
  using Word = uint32_t;
  static Word run(AtomicOp op, Word old, Word b, Word) {
    return uint32_t{HalfWord<T>::run(op, uint16_t(old >> 16), uint16_t(b >> 16), 0)} << 16 |
           HalfWord<T>::run(op, uint16_t(old), uint16_t(b), 0);
  }
};

/// Replaces the word by `f` of it, atomically; returns the old word.
template <typename W, typename F> W update(char *memory, F f) {
  auto *word = reinterpret_cast<W *>(memory);
  W old = __atomic_load_n(word, __ATOMIC_SEQ_CST);
  while (!__atomic_compare_exchange_n(word, &old, W(f(old)), true, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST))
    ;
  return old;
}

} // namespace nereid::sim
