// Adds and multiplies polynomials.
// SPDX-License-Identifier: MIT
#include "compiler/index/Polynomial.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

using namespace nereid::index;

/// Addresses of tiles have a handful of terms; more are not worth the time.
static constexpr unsigned kMostTerms = 24;

Polynomial Polynomial::ofConstant(int64_t number) {
  Polynomial result;
  result.add({}, number);
  return result;
}

Polynomial Polynomial::ofVariable(unsigned variable) {
  Polynomial result;
  result.add({variable}, 1);
  return result;
}

std::optional<int64_t> Polynomial::constant() const {
  if (list.empty())
    return 0;
  return list.size() == 1 && list.front().factors.empty() ? std::optional(list.front().coefficient) : std::nullopt;
}

bool Polynomial::allVariables(llvm::function_ref<bool(unsigned)> predicate) const {
  return llvm::all_of(list, [&](const Term &term) { return llvm::all_of(term.factors, predicate); });
}

/// False on overflow.
bool Polynomial::add(llvm::ArrayRef<unsigned> factors, int64_t coefficient) {
  if (!coefficient)
    return true;
  auto place = llvm::lower_bound(list, factors, [](const Term &term, llvm::ArrayRef<unsigned> factors) {
    return llvm::ArrayRef(term.factors) < factors;
  });
  if (place == list.end() || llvm::ArrayRef(place->factors) != factors) {
    list.insert(place, {llvm::SmallVector<unsigned, 3>(factors), coefficient});
    return list.size() <= kMostTerms;
  }
  if (llvm::AddOverflow(place->coefficient, coefficient, place->coefficient))
    return false;
  if (!place->coefficient)
    list.erase(place);
  return true;
}

std::optional<Polynomial> Polynomial::plus(const Polynomial &other, int64_t scale) const {
  Polynomial sum = *this;
  for (const Term &term : other.list) {
    int64_t scaled;
    if (llvm::MulOverflow(term.coefficient, scale, scaled) || !sum.add(term.factors, scaled))
      return std::nullopt;
  }
  return sum;
}

std::optional<Polynomial> Polynomial::times(const Polynomial &other) const {
  Polynomial product;
  for (const Term &a : list)
    for (const Term &b : other.list) {
      llvm::SmallVector<unsigned, 3> factors(a.factors);
      llvm::append_range(factors, b.factors);
      llvm::sort(factors);
      int64_t coefficient;
      if (llvm::MulOverflow(a.coefficient, b.coefficient, coefficient) || !product.add(factors, coefficient))
        return std::nullopt;
    }
  return product;
}

std::optional<Polynomial> Polynomial::dividedBy(int64_t divisor) const {
  Polynomial quotient = *this;
  for (Term &term : quotient.list) {
    if (term.coefficient % divisor)
      return std::nullopt;
    term.coefficient /= divisor;
  }
  return quotient;
}
