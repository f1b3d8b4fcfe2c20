// Polynomials with integer coefficients whose variables are numbers that stand for scalars of a kernel.
// SPDX-License-Identifier: MIT
#pragma once

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/SmallVector.h"

#include <cstdint>
#include <optional>

namespace nereid::index {

class Polynomial {
public:
  struct Term {
    llvm::SmallVector<unsigned, 3> factors; ///< variables, in ascending order; one occurs as often as its power
    int64_t coefficient = 0;
    bool operator==(const Term &) const = default;
  };

  static Polynomial ofConstant(int64_t number);
  static Polynomial ofVariable(unsigned variable);

  /// In the order of their factors, the constant first; no two have the same factors, and no coefficient is zero.
  llvm::ArrayRef<Term> terms() const { return list; }
  bool isZero() const { return list.empty(); }
  std::optional<int64_t> constant() const;
  /// Whether the predicate holds for every variable.
  bool allVariables(llvm::function_ref<bool(unsigned)> predicate) const;

  /// Sums and products; nothing where a coefficient overflows or there are too many terms.
  std::optional<Polynomial> plus(const Polynomial &other, int64_t scale = 1) const;
  std::optional<Polynomial> times(const Polynomial &other) const;
  /// Nothing where a coefficient is no multiple of the divisor.
  std::optional<Polynomial> dividedBy(int64_t divisor) const;

  bool operator==(const Polynomial &) const = default;

private:
  bool add(llvm::ArrayRef<unsigned> factors, int64_t coefficient);

  llvm::SmallVector<Term, 2> list;
};

} // namespace nereid::index
