// Constructs layouts and accesses their dims, bases and values.
// SPDX-License-Identifier: MIT
#include "compiler/layout/Layout.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/raw_ostream.h"

#include <cassert>

using namespace nereid;
using namespace nereid::layout;

static constexpr unsigned kMaxBits = 63, kMaxDimBits = 30;

LinearLayout LinearLayout::identity1D(int32_t size, llvm::StringRef in, llvm::StringRef out) {
  return strided1D(size, 1, in, out);
}

LinearLayout LinearLayout::strided1D(int32_t size, int32_t stride, llvm::StringRef in, llvm::StringRef out) {
  std::vector<Coordinates> bases;
  for (int32_t value = 1; value < size; value *= 2)
    bases.push_back({value * stride});
  return fromBases({{in.str(), bases}}, {{out.str(), size * stride}});
}

LinearLayout LinearLayout::zeros1D(int32_t size, llvm::StringRef in, llvm::StringRef out, int32_t outSize) {
  return fromBases({{in.str(), std::vector<Coordinates>(llvm::Log2_32(size), {0})}}, {{out.str(), outSize}});
}

template <typename Dims> static std::string whyDimsAreWrong(llvm::StringRef kind, const Dims &dims) {
  for (auto [index, dim] : llvm::enumerate(dims))
    for (const auto &earlier : llvm::ArrayRef(dims).take_front(index))
      if (earlier.name == dim.name)
        return kind.str() + " `" + dim.name + "` is given twice";
  return "";
}

static std::string whySizesAreWrong(llvm::ArrayRef<LinearLayout::Input> inputs,
                                    llvm::ArrayRef<LinearLayout::Output> outputs) {
  size_t inBits = 0, outBits = 0;
  for (const LinearLayout::Output &output : outputs) {
    if (output.size <= 0 || !llvm::isPowerOf2_32(output.size))
      return "output `" + output.name + "` has size " + std::to_string(output.size) + "; it must be a power of two";
    outBits += llvm::Log2_32(output.size);
  }
  for (const LinearLayout::Input &input : inputs) {
    if (input.bases.size() > kMaxDimBits)
      return "input `" + input.name + "` has " + std::to_string(input.bases.size()) + " bases; 30 are the most";
    inBits += input.bases.size();
  }
  return inBits > kMaxBits || outBits > kMaxBits ? "inputs or outputs have more than 63 bits" : "";
}

static std::string whyBasesAreWrong(llvm::ArrayRef<LinearLayout::Input> inputs,
                                    llvm::ArrayRef<LinearLayout::Output> outputs) {
  for (const LinearLayout::Input &input : inputs)
    for (const LinearLayout::Coordinates &basis : input.bases) {
      if (basis.size() != outputs.size())
        return "a basis of `" + input.name + "` has " + std::to_string(basis.size()) + " coordinates; there are " +
               std::to_string(outputs.size()) + " outputs";
      for (auto [value, output] : llvm::zip_equal(basis, outputs))
        if (value < 0 || value >= output.size)
          return "a basis of `" + input.name + "` has coordinate " + std::to_string(value) + "; output `" +
                 output.name + "` has size " + std::to_string(output.size);
    }
  return "";
}

std::optional<LinearLayout> LinearLayout::tryFromBases(llvm::ArrayRef<Input> inputs, llvm::ArrayRef<Output> outputs,
                                                       std::string &reason) {
  for (std::string why : {whyDimsAreWrong("input", inputs), whyDimsAreWrong("output", outputs),
                          whySizesAreWrong(inputs, outputs), whyBasesAreWrong(inputs, outputs)})
    if (!why.empty()) {
      reason = std::move(why);
      return std::nullopt;
    }
  LinearLayout layout;
  for (const Output &output : outputs)
    layout.outs.push_back({output.name, llvm::Log2_32(output.size)});
  for (const Input &input : inputs) {
    InDim &in = layout.ins.emplace_back();
    in.name = input.name;
    for (const Coordinates &basis : input.bases)
      in.columns.push_back(layout.flatten(basis));
  }
  return layout;
}

LinearLayout LinearLayout::fromBases(llvm::ArrayRef<Input> inputs, llvm::ArrayRef<Output> outputs) {
  std::string reason;
  std::optional<LinearLayout> layout = tryFromBases(inputs, outputs, reason);
  assert(layout && "bases that are right by construction");
  return std::move(*layout);
}

const LinearLayout::InDim *LinearLayout::findIn(llvm::StringRef name) const {
  const auto *found = llvm::find_if(ins, [&](const InDim &in) { return in.name == name; });
  return found == ins.end() ? nullptr : found;
}

const LinearLayout::OutDim *LinearLayout::findOut(llvm::StringRef name) const {
  const auto *found = llvm::find_if(outs, [&](const OutDim &out) { return out.name == name; });
  return found == outs.end() ? nullptr : found;
}

unsigned LinearLayout::shiftOf(const OutDim &out) const {
  unsigned shift = 0;
  for (const OutDim *faster = &out + 1; faster != outs.end(); ++faster)
    shift += faster->bits;
  return shift;
}

uint64_t LinearLayout::flatten(llvm::ArrayRef<int32_t> coordinates) const {
  uint64_t flat = 0;
  for (auto [value, out] : llvm::zip_equal(coordinates, outs))
    flat = flat << out.bits | uint64_t(value);
  return flat;
}

LinearLayout::Coordinates LinearLayout::unflatten(uint64_t flat) const {
  Coordinates coordinates(outs.size());
  for (unsigned index = outs.size(); index-- > 0; flat >>= outs[index].bits)
    coordinates[index] = flat & ((uint64_t(1) << outs[index].bits) - 1);
  return coordinates;
}

llvm::SmallVector<llvm::StringRef, 4> LinearLayout::inputNames() const {
  llvm::SmallVector<llvm::StringRef, 4> names;
  for (const InDim &in : ins)
    names.push_back(in.name);
  return names;
}

llvm::SmallVector<llvm::StringRef, 4> LinearLayout::outputNames() const {
  llvm::SmallVector<llvm::StringRef, 4> names;
  for (const OutDim &out : outs)
    names.push_back(out.name);
  return names;
}

llvm::SmallVector<LinearLayout::Output, 4> LinearLayout::outputs() const {
  llvm::SmallVector<Output, 4> list;
  for (const OutDim &out : outs)
    list.push_back({out.name, int32_t(1) << out.bits});
  return list;
}

bool LinearLayout::hasInput(llvm::StringRef in) const { return findIn(in); }
bool LinearLayout::hasOutput(llvm::StringRef out) const { return findOut(out); }

unsigned LinearLayout::inBits(llvm::StringRef in) const {
  const InDim *dim = findIn(in);
  return dim ? dim->columns.size() : 0;
}

unsigned LinearLayout::outBits(llvm::StringRef out) const {
  const OutDim *dim = findOut(out);
  return dim ? dim->bits : 0;
}

unsigned LinearLayout::totalInBits() const {
  unsigned bits = 0;
  for (const InDim &in : ins)
    bits += in.columns.size();
  return bits;
}

unsigned LinearLayout::totalOutBits() const {
  unsigned bits = 0;
  for (const OutDim &out : outs)
    bits += out.bits;
  return bits;
}

LinearLayout::Coordinates LinearLayout::basis(llvm::StringRef in, unsigned bit) const {
  return unflatten(columns(in)[bit]);
}

int32_t LinearLayout::basis(llvm::StringRef in, unsigned bit, llvm::StringRef out) const {
  const OutDim *dim = findOut(out);
  return dim ? columns(in)[bit] >> shiftOf(*dim) & ((uint64_t(1) << dim->bits) - 1) : 0;
}

BitColumnsRef LinearLayout::columns(llvm::StringRef in) const {
  const InDim *dim = findIn(in);
  return dim ? BitColumnsRef(dim->columns) : BitColumnsRef();
}

BitColumns LinearLayout::allColumns() const {
  BitColumns all;
  for (const InDim &in : ins)
    all.append(in.columns);
  return all;
}

LinearLayout::Coordinates LinearLayout::apply(llvm::ArrayRef<Named> inputs) const {
  return unflatten(applyFlat(inputs));
}

uint64_t LinearLayout::applyFlat(llvm::ArrayRef<Named> inputs) const {
  uint64_t flat = 0;
  for (const auto &[name, value] : inputs)
    flat ^= multiply(columns(name), uint32_t(value));
  return flat;
}

std::string LinearLayout::toString() const {
  std::string text;
  llvm::raw_string_ostream os(text);
  llvm::interleaveComma(ins, os, [&](const InDim &in) {
    os << in.name << " = [";
    llvm::interleaveComma(in.columns, os, [&](BitVector column) {
      os << "[";
      llvm::interleaveComma(unflatten(column), os);
      os << "]";
    });
    os << "]";
  });
  os << " -> ";
  llvm::interleaveComma(outs, os, [&](const OutDim &out) { os << out.name << ": " << (int32_t(1) << out.bits); });
  return text;
}

namespace nereid::layout {
llvm::hash_code hash_value(const LinearLayout &layout) {
  llvm::hash_code hash = llvm::hash_value(layout.ins.size());
  for (const LinearLayout::InDim &in : layout.ins)
    hash = llvm::hash_combine(hash, in.name, llvm::hash_combine_range(in.columns));
  for (const LinearLayout::OutDim &out : layout.outs)
    hash = llvm::hash_combine(hash, out.name, out.bits);
  return hash;
}
} // namespace nereid::layout
