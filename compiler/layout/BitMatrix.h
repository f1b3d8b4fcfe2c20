// Linear algebra over GF(2) on vectors packed in 64-bit words: spans, solutions, null spaces, complements.
// SPDX-License-Identifier: MIT
#pragma once

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"

#include <cstdint>
#include <optional>

namespace nereid::layout {

/// A vector over GF(2): bit i is coordinate i.
using BitVector = uint64_t;
/// A matrix as its columns, or a list of vectors that spans a space.
using BitColumns = llvm::SmallVector<BitVector, 16>;
using BitColumnsRef = llvm::ArrayRef<BitVector>;

/// A growing set of vectors in echelon form; it records how each vector of the span is a sum of inserted vectors.
class BitSpan {
public:
  BitSpan() = default;
  explicit BitSpan(BitColumnsRef vectors);

  /// True if `vector` was not in the span before. At most 64 vectors may be inserted.
  bool insert(BitVector vector);
  bool contains(BitVector vector) const { return reduce(vector).vector == 0; }
  /// The set of inserted vectors (bit i: the i-th) that sums to `vector`; only independent ones are used.
  std::optional<uint64_t> express(BitVector vector) const;
  unsigned rank() const { return rows.size(); }

private:
  struct Row {
    BitVector vector;  ///< its highest bit is in no other row
    uint64_t combines; ///< the inserted vectors that it is the sum of
  };
  Row reduce(BitVector vector) const;

  llvm::SmallVector<Row, 16> rows;
  unsigned inserted = 0;
};

/// The sum of the columns in `selection`.
BitVector multiply(BitColumnsRef columns, uint64_t selection);
unsigned rank(BitColumnsRef columns);
/// Bit i is set where column i depends on the columns before it.
uint64_t dependentColumns(BitColumnsRef columns);
/// A selection whose sum is `target`.
std::optional<uint64_t> solve(BitColumnsRef columns, BitVector target);
/// A basis of the selections whose sum is zero.
BitColumns nullSpace(BitColumnsRef columns);
/// A basis of the intersection of two spans.
BitColumns intersect(BitColumnsRef a, BitColumnsRef b);
/// The vectors of `candidates` that extend `space`, in order, until the span of both is reached.
BitColumns extend(BitColumnsRef space, BitColumnsRef candidates);
/// The columns of the inverse of a square, invertible matrix.
BitColumns invert(BitColumnsRef columns);
/// The unit vectors of `bits` coordinates.
BitColumns unitVectors(unsigned bits);

} // namespace nereid::layout
