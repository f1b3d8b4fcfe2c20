// Selects, orders, reshapes and renames a layout's dims, and computes its properties.
// SPDX-License-Identifier: MIT
#include "compiler/layout/Layout.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVectorExtras.h"
#include "llvm/Support/MathExtras.h"

#include <cassert>

using namespace nereid;
using namespace nereid::layout;

LinearLayout LinearLayout::sublayout(llvm::ArrayRef<llvm::StringRef> keptIns,
                                     llvm::ArrayRef<llvm::StringRef> keptOuts) const {
  LinearLayout part;
  llvm::SmallVector<unsigned, 4> keptDims;
  for (auto [index, out] : llvm::enumerate(outs))
    if (llvm::is_contained(keptOuts, out.name)) {
      keptDims.push_back(index);
      part.outs.push_back(out);
    }
  for (const InDim &in : ins) {
    if (!llvm::is_contained(keptIns, in.name))
      continue;
    InDim &copy = part.ins.emplace_back();
    copy.name = in.name;
    for (BitVector column : in.columns) {
      const Coordinates all = unflatten(column);
      copy.columns.push_back(part.flatten(llvm::map_to_vector(keptDims, [&](unsigned index) { return all[index]; })));
    }
  }
  return part;
}

bool LinearLayout::sublayoutIsZero(llvm::ArrayRef<llvm::StringRef> keptIns,
                                   llvm::ArrayRef<llvm::StringRef> keptOuts) const {
  return llvm::all_of(sublayout(keptIns, keptOuts).allColumns(), [](BitVector column) { return column == 0; });
}

LinearLayout LinearLayout::transposeIns(llvm::ArrayRef<llvm::StringRef> order) const {
  assert(order.size() == ins.size() && "an order names every input");
  LinearLayout result;
  result.outs = outs;
  for (llvm::StringRef name : order) {
    const InDim *in = findIn(name);
    assert(in && "an order names inputs");
    result.ins.push_back(*in);
  }
  return result;
}

LinearLayout LinearLayout::transposeOuts(llvm::ArrayRef<llvm::StringRef> order) const {
  assert(order.size() == outs.size() && "an order names every output");
  LinearLayout result;
  llvm::SmallVector<unsigned, 4> from;
  for (llvm::StringRef name : order) {
    const OutDim *out = findOut(name);
    assert(out && "an order names outputs");
    from.push_back(out - outs.begin());
    result.outs.push_back(*out);
  }
  result.ins = ins;
  for (InDim &in : result.ins)
    for (BitVector &column : in.columns) {
      const Coordinates all = unflatten(column);
      column = result.flatten(llvm::map_to_vector(from, [&](unsigned index) { return all[index]; }));
    }
  return result;
}

LinearLayout LinearLayout::reshapeIns(llvm::ArrayRef<Named> shape) const {
  BitColumns flat;
  for (const InDim &in : llvm::reverse(ins))
    flat.append(in.columns);
  LinearLayout result;
  result.outs = outs;
  size_t taken = 0;
  for (const auto &[name, size] : llvm::reverse(shape)) {
    InDim &in = result.ins.emplace_back();
    in.name = name.str();
    in.columns.assign(flat.begin() + taken, flat.begin() + taken + llvm::Log2_32(size));
    taken += in.columns.size();
  }
  assert(taken == flat.size() && "a reshape keeps the number of elements");
  std::reverse(result.ins.begin(), result.ins.end());
  return result;
}

LinearLayout LinearLayout::reshapeOuts(llvm::ArrayRef<Named> shape) const {
  LinearLayout result;
  result.ins = ins;
  for (const auto &[name, size] : shape)
    result.outs.push_back({name.str(), llvm::Log2_32(size)});
  assert(result.totalOutBits() == totalOutBits() && "a reshape keeps the number of elements");
  return result;
}

LinearLayout LinearLayout::flattenOuts(llvm::StringRef name) const {
  return reshapeOuts(Named(name, int32_t(1) << totalOutBits()));
}

LinearLayout LinearLayout::renameOut(llvm::StringRef from, llvm::StringRef to) const {
  LinearLayout result = *this;
  for (OutDim &out : result.outs)
    if (out.name == from)
      out.name = to.str();
  return result;
}

LinearLayout LinearLayout::removeZeroBases(llvm::StringRef name) const {
  LinearLayout result = *this;
  for (InDim &in : result.ins)
    if (in.name == name)
      llvm::erase(in.columns, BitVector(0));
  return result;
}

bool LinearLayout::isSurjective() const { return rank(allColumns()) == totalOutBits(); }
bool LinearLayout::isInjective() const { return rank(allColumns()) == totalInBits(); }

uint32_t LinearLayout::freeVariableMask(llvm::StringRef name) const {
  const InDim *in = findIn(name);
  if (!in)
    return 0;
  unsigned before = 0;
  for (const InDim *earlier = ins.begin(); earlier != in; ++earlier)
    before += earlier->columns.size();
  return dependentColumns(allColumns()) >> before & ((uint64_t(1) << in->columns.size()) - 1);
}
