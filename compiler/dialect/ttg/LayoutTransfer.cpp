// Derives layouts from one another across reductions and changes of shape.
// SPDX-License-Identifier: MIT
#include "compiler/dialect/ttg/Dialect.h"
#include "compiler/layout/Distributed.h"

#include "mlir/Dialect/Utils/IndexingUtils.h"

using namespace mlir;
using namespace nereid;
using namespace nereid::ttg;

using layout::LinearLayout;

//--- one more register bit -----------------------------------------------------------------

/// The layout of two tiles joined by one register bit. For a join it is the first register bit and indexes a new last
/// dimension; for a cat it is the last register bit and the highest bit of the only dimension.
static LayoutEncoding withTwice(LayoutEncoding start, ArrayRef<int64_t> from, ArrayRef<int64_t> to) {
  const LinearLayout layout = start.toLinearLayout(from);
  const bool isJoin = to.size() > from.size();
  SmallVector<LinearLayout::Input> inputs;
  for (StringRef name : layout.inputNames()) {
    LinearLayout::Input &input = inputs.emplace_back(LinearLayout::Input{name.str(), {}});
    LinearLayout::Coordinates twice(to.size(), 0);
    twice.back() = isJoin ? 1 : from.back();
    if (isJoin && name == layout::kRegister)
      input.bases.push_back(twice);
    for (unsigned bit = 0; bit < layout.inBits(name); ++bit) {
      LinearLayout::Coordinates basis = layout.basis(name, bit);
      basis.resize(to.size(), 0);
      input.bases.push_back(basis);
    }
    if (!isJoin && name == layout::kRegister)
      input.bases.push_back(twice);
  }
  SmallVector<LinearLayout::Output> outputs;
  for (auto [dim, extent] : llvm::enumerate(to))
    outputs.push_back({layout::dimName(dim), int32_t(extent)});
  return encodingFor(start.getContext(), LinearLayout::fromBases(inputs, outputs), to);
}

/// The layout of each half, where exactly one register bit distinguishes the halves; else null.
static LayoutEncoding ofHalf(LayoutEncoding end, ArrayRef<int64_t> from, ArrayRef<int64_t> to) {
  const LinearLayout layout = end.toLinearLayout(to);
  const bool isJoin = to.size() > from.size();
  const int32_t half = isJoin ? 1 : from.back();
  SmallVector<LinearLayout::Input> inputs;
  unsigned numHalving = 0;
  for (StringRef name : layout.inputNames()) {
    LinearLayout::Input &input = inputs.emplace_back(LinearLayout::Input{name.str(), {}});
    for (unsigned bit = 0; bit < layout.inBits(name); ++bit) {
      LinearLayout::Coordinates basis = layout.basis(name, bit);
      if (basis.back() & half) {
        basis.back() ^= half;
        if (name != layout::kRegister || llvm::any_of(basis, [](int32_t other) { return other != 0; }))
          return {};
        ++numHalving;
        continue;
      }
      basis.resize(from.size());
      input.bases.push_back(basis);
    }
  }
  if (numHalving != 1)
    return {};
  SmallVector<LinearLayout::Output> outputs;
  for (auto [dim, extent] : llvm::enumerate(from))
    outputs.push_back({layout::dimName(dim), int32_t(extent)});
  return encodingFor(end.getContext(), LinearLayout::fromBases(inputs, outputs), from);
}

//--- all relations -------------------------------------------------------------------------

LayoutEncoding LayoutTransfer::forward(LayoutEncoding start) const {
  switch (kind) {
  case Kind::Same:
    return start;
  case Kind::Slice:
    return SliceAttr::get(start.getContext(), axis, start);
  case Kind::Expand:
    return inferExpanded(start, from, axis);
  case Kind::Transpose:
    return inferTransposed(start, from, order);
  case Kind::Reshape:
    return inferReshaped(start, from, to);
  case Kind::Join:
  case Kind::Concatenate:
    return withTwice(start, from, to);
  }
  llvm_unreachable("a transfer of no kind");
}

LayoutEncoding LayoutTransfer::backward(LayoutEncoding end) const {
  switch (kind) {
  case Kind::Same:
    return end;
  case Kind::Slice: {
    auto slice = dyn_cast<SliceAttr>(end);
    return slice && slice.getDim() == axis ? slice.getParent() : LayoutEncoding();
  }
  case Kind::Expand:
    return SliceAttr::get(end.getContext(), axis, end);
  case Kind::Transpose: {
    SmallVector<int32_t> inverse(order.size());
    for (auto [result, source] : llvm::enumerate(order))
      inverse[source] = result;
    return inferTransposed(end, to, inverse);
  }
  case Kind::Reshape:
    return inferReshaped(end, to, from);
  case Kind::Join:
  case Kind::Concatenate:
    return ofHalf(end, from, to);
  }
  llvm_unreachable("a transfer of no kind");
}
