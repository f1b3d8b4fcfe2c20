// Implements row reduction over GF(2).
// SPDX-License-Identifier: MIT
#include "compiler/layout/BitMatrix.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/bit.h"

#include <cassert>

using namespace nereid;
using namespace nereid::layout;

static BitVector highestBit(BitVector vector) { return llvm::bit_floor(vector); }

BitSpan::BitSpan(BitColumnsRef vectors) {
  for (BitVector vector : vectors)
    insert(vector);
}

BitSpan::Row BitSpan::reduce(BitVector vector) const {
  Row reduced{vector, 0};
  for (const Row &row : rows)
    if (reduced.vector & highestBit(row.vector)) {
      reduced.vector ^= row.vector;
      reduced.combines ^= row.combines;
    }
  return reduced;
}

bool BitSpan::insert(BitVector vector) {
  assert(inserted < 64 && "a span holds 64 vectors at most");
  Row fresh = reduce(vector);
  fresh.combines ^= uint64_t(1) << inserted++;
  if (!fresh.vector)
    return false;
  for (Row &row : rows)
    if (row.vector & highestBit(fresh.vector)) {
      row.vector ^= fresh.vector;
      row.combines ^= fresh.combines;
    }
  rows.push_back(fresh);
  return true;
}

std::optional<uint64_t> BitSpan::express(BitVector vector) const {
  const Row reduced = reduce(vector);
  if (reduced.vector)
    return std::nullopt;
  return reduced.combines;
}

BitVector layout::multiply(BitColumnsRef columns, uint64_t selection) {
  BitVector sum = 0;
  for (; selection; selection &= selection - 1)
    sum ^= columns[llvm::countr_zero(selection)];
  return sum;
}

unsigned layout::rank(BitColumnsRef columns) { return BitSpan(columns).rank(); }

uint64_t layout::dependentColumns(BitColumnsRef columns) {
  BitSpan span;
  uint64_t dependent = 0;
  for (auto [index, column] : llvm::enumerate(columns))
    if (!span.insert(column))
      dependent |= uint64_t(1) << index;
  return dependent;
}

std::optional<uint64_t> layout::solve(BitColumnsRef columns, BitVector target) {
  return BitSpan(columns).express(target);
}

BitColumns layout::nullSpace(BitColumnsRef columns) {
  BitSpan span;
  BitColumns space;
  for (auto [index, column] : llvm::enumerate(columns)) {
    const std::optional<uint64_t> sum = span.express(column);
    span.insert(column);
    if (sum)
      space.push_back(*sum | uint64_t(1) << index);
  }
  return space;
}

BitColumns layout::intersect(BitColumnsRef a, BitColumnsRef b) {
  // Where a sum of vectors of a and b is zero, its part from a lies in both spans.
  const BitColumns basisA = extend({}, a), basisB = extend({}, b);
  BitColumns both = basisA;
  both.append(basisB);
  const uint64_t partOfA = (uint64_t(1) << basisA.size()) - 1;
  BitColumns common;
  for (uint64_t selection : nullSpace(both))
    common.push_back(multiply(basisA, selection & partOfA));
  return common;
}

BitColumns layout::extend(BitColumnsRef space, BitColumnsRef candidates) {
  BitSpan span;
  // Dependent vectors are skipped, so that long lists fit.
  for (BitVector vector : space)
    if (!span.contains(vector))
      span.insert(vector);
  BitColumns added;
  for (BitVector vector : candidates)
    if (!span.contains(vector)) {
      span.insert(vector);
      added.push_back(vector);
    }
  return added;
}

BitColumns layout::invert(BitColumnsRef columns) {
  const BitSpan span(columns);
  BitColumns inverse;
  for (BitVector unit : unitVectors(columns.size())) {
    const std::optional<uint64_t> selection = span.express(unit);
    assert(selection && "only a regular matrix has an inverse");
    inverse.push_back(selection.value_or(0));
  }
  return inverse;
}

BitColumns layout::unitVectors(unsigned bits) {
  BitColumns units;
  for (unsigned bit = 0; bit < bits; ++bit)
    units.push_back(uint64_t(1) << bit);
  return units;
}
