// Assigns tile directions to registers, lanes and warps at random.
// SPDX-License-Identifier: MIT
#include "test/unit/layout/RandomLayouts.h"

#include "compiler/layout/Distributed.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

#include <algorithm>
#include <numeric>

using namespace nereid;
using namespace nereid::test;
using layout::LinearLayout;

unsigned TileSpec::tileBits() const {
  unsigned bits = 0;
  for (int64_t extent : shape)
    bits += llvm::Log2_64(extent);
  return bits;
}

TileSpec RandomLayouts::spec(unsigned maxBits) {
  TileSpec spec;
  unsigned bits = below(maxBits + 1);
  const unsigned rank = 1 + below(4);
  for (unsigned dim = 0; dim < rank; ++dim) {
    const unsigned own = dim + 1 == rank ? bits : below(bits + 1);
    spec.shape.push_back(int64_t(1) << own);
    bits -= own;
  }
  std::shuffle(spec.shape.begin(), spec.shape.end(), engine);
  spec.laneBits = below(8) == 0 ? 6 : 5;
  spec.warpBits = below(6);
  return spec;
}

LinearLayout RandomLayouts::any(const TileSpec &spec) {
  switch (below(6)) {
  case 0:
  case 1:
    return blocked(spec);
  case 2:
    return slice(spec);
  case 3:
    return dealt(spec, /*onlyUnits=*/true);
  case 4:
    return dealt(spec, /*onlyUnits=*/false);
  default:
    return withDependentCopies(spec);
  }
}

llvm::SmallVector<unsigned, 4> RandomLayouts::split(unsigned bits, unsigned rank) {
  llvm::SmallVector<unsigned, 4> extents(rank, 1);
  while (bits--)
    extents[below(rank)] *= 2;
  return extents;
}

LinearLayout RandomLayouts::blocked(const TileSpec &spec) {
  const unsigned rank = spec.shape.size();
  llvm::SmallVector<unsigned, 4> order(rank);
  std::iota(order.begin(), order.end(), 0);
  std::shuffle(order.begin(), order.end(), engine);
  return layout::blockedLayout(split(below(5), rank), split(spec.laneBits, rank), split(spec.warpBits, rank), order,
                               spec.shape);
}

LinearLayout RandomLayouts::slice(const TileSpec &spec) {
  TileSpec parent = spec;
  const unsigned dim = below(spec.shape.size() + 1);
  parent.shape.insert(parent.shape.begin() + dim, int64_t(1) << below(6));
  return layout::sliceLayout(below(2) ? blocked(parent) : dealt(parent, below(2)), dim);
}

llvm::SmallVector<uint64_t, 16> RandomLayouts::regularColumns(unsigned bits, bool onlyUnits) {
  layout::BitColumns columns = layout::unitVectors(bits);
  std::shuffle(columns.begin(), columns.end(), engine);
  if (!onlyUnits)
    for (unsigned step = 0; bits > 1 && step < 3 * bits; ++step)
      if (unsigned a = below(bits), b = below(bits); a != b)
        columns[a] ^= columns[b];
  return columns;
}

LinearLayout RandomLayouts::dealt(const TileSpec &spec, bool onlyUnits) {
  const unsigned threadBits = spec.laneBits + spec.warpBits;
  llvm::SmallVector<uint64_t, 16> columns = regularColumns(spec.tileBits(), onlyUnits);
  const unsigned copies = below(4) ? 0 : below(4);
  columns.append(std::max<int>(copies, int(threadBits) - int(columns.size())), 0);
  std::shuffle(columns.begin(), columns.end(), engine);
  const LinearLayout flat = LinearLayout::identity1D(1 << spec.tileBits(), "x", "x");
  std::vector<layout::LinearLayout::Output> outs;
  llvm::SmallVector<LinearLayout::Named, 4> shape;
  llvm::SmallVector<std::string, 4> names;
  for (unsigned dim = 0; dim < spec.shape.size(); ++dim)
    names.push_back(layout::dimName(dim));
  for (auto [name, extent] : llvm::zip(names, spec.shape))
    shape.push_back({name, int32_t(extent)});
  auto take = [&](llvm::StringRef name, unsigned count) {
    LinearLayout::Input input{name.str(), {}};
    for (; count; --count)
      input.bases.push_back({int32_t(columns.pop_back_val())});
    return input;
  };
  const LinearLayout::Input lanes = take("lane", spec.laneBits), warps = take("warp", spec.warpBits),
                            registers = take("register", columns.size());
  return LinearLayout::fromBases({registers, lanes, warps, {"block", {}}}, {{"x", int32_t(1) << spec.tileBits()}})
      .reshapeOuts(shape);
}

LinearLayout RandomLayouts::withDependentCopies(const TileSpec &spec) {
  const LinearLayout base = dealt(spec, below(2));
  const layout::BitColumns all = base.allColumns();
  std::vector<LinearLayout::Input> inputs;
  std::vector<LinearLayout::Output> outputs;
  llvm::append_range(outputs, base.outputs());
  for (llvm::StringRef name : base.inputNames()) {
    LinearLayout::Input &input = inputs.emplace_back();
    input.name = name.str();
    for (auto [bit, column] : llvm::enumerate(base.columns(name))) {
      LinearLayout::Coordinates basis = base.basis(name, bit);
      // A copy may become a copy of any other element: the span stays the same.
      if (!column && below(2)) {
        const uint64_t element = layout::multiply(all, word() & ((uint64_t(1) << all.size()) - 1));
        uint64_t rest = element;
        for (unsigned dim = outputs.size(); dim-- > 0; rest /= outputs[dim].size)
          basis[dim] = rest % outputs[dim].size;
      }
      input.bases.push_back(basis);
    }
  }
  return LinearLayout::fromBases(inputs, outputs);
}
