// Adds and multiplies polynomials.
// SPDX-License-Identifier: MIT
#include "compiler/index/Polynomial.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

using namespace nereid::analysis;

/// Addresses of tiles have a handful of terms; more are not worth the time.
static constexpr unsigned kMostTerms = 24;

Polynomial Polynomial::ofConstant(int64_t number) {
  Polynomial made;
  made.add({}, number);
  return made;
}

Polynomial Polynomial::ofVariable(unsigned variable) {
  Polynomial made;
  made.add({variable}, 1);
  return made;
}

std::optional<int64_t> Polynomial::constant() const {
  if (list.empty())
    return 0;
  return list.size() == 1 && list.front().factors.empty() ? std::optional(list.front().coefficient) : std::nullopt;
}

/// False on overflow.
bool Polynomial::add(llvm::ArrayRef<unsigned> factors, int64_t coefficient) {
  auto found = llvm::find_if(list, [&](const Term &term) { return llvm::ArrayRef(term.factors) == factors; });
  if (found == list.end()) {
    if (coefficient)
      list.push_back({llvm::SmallVector<unsigned, 3>(factors), coefficient});
    return list.size() <= kMostTerms;
  }
  if (llvm::AddOverflow(found->coefficient, coefficient, found->coefficient))
    return false;
  if (!found->coefficient)
    list.erase(found);
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

bool Polynomial::operator==(const Polynomial &other) const {
  return list.size() == other.list.size() &&
         llvm::all_of(list, [&](const Term &term) { return llvm::is_contained(other.list, term); });
}
