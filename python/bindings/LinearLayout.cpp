// `triton.tools.LinearLayout`: the compiler's linear layouts under Triton's interface. A violated precondition raises a
// ValueError here.
// SPDX-License-Identifier: MIT
#include "python/bindings/LayoutText.h"

#include <nanobind/operators.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

using namespace nereid;
using namespace nereid::python;
using layout::LinearLayout;

using Bases = std::vector<std::pair<std::string, std::vector<std::vector<int32_t>>>>;

static constexpr unsigned kMaxBits = 63;

static void require(bool holds, const std::string &otherwise) {
  if (!holds)
    raise(PyExc_ValueError, otherwise);
}

static void requirePowerOfTwo(const char *name, int64_t value) {
  require(value > 0 && llvm::isPowerOf2_64(value) && value <= (1 << 30),
          std::string(name) + " is " + std::to_string(value) + "; it must be a power of two");
}

//--- Making -------------------------------------------------------------------------------------

static LinearLayout strided1D(int32_t size, int32_t stride, const std::string &in, const std::string &out) {
  requirePowerOfTwo("the size", size);
  requirePowerOfTwo("the stride", stride);
  requirePowerOfTwo("the output's size", int64_t(size) * stride);
  return LinearLayout::strided1D(size, stride, in, out);
}

static LinearLayout zeros1D(int32_t size, const std::string &in, const std::string &out, int32_t outSize) {
  requirePowerOfTwo("the size", size);
  requirePowerOfTwo("the output's size", outSize);
  return LinearLayout::zeros1D(size, in, out, outSize);
}

/// For each output the smallest power of two above all of its coordinates.
static std::vector<int32_t> leastSizes(const Bases &bases, size_t outputs) {
  std::vector<int32_t> sizes(outputs, 1);
  for (const auto &[name, vectors] : bases)
    for (const std::vector<int32_t> &basis : vectors)
      for (size_t index = 0; index < std::min(outputs, basis.size()); ++index)
        if (basis[index] > 0)
          sizes[index] = std::max(sizes[index], int32_t(llvm::PowerOf2Ceil(uint64_t(basis[index]) + 1)));
  return sizes;
}

static LinearLayout fromBases(const Bases &bases, const std::vector<std::string> &outNames,
                              const std::optional<std::vector<int32_t>> &outSizes, bool requireSurjective) {
  require(!outSizes || outSizes->size() == outNames.size(),
          "out_dim_names and out_dim_sizes must have the same length");
  require(outSizes || requireSurjective, "out_dim_sizes must be provided when require_surjective is false");
  const std::vector<int32_t> sizes = outSizes ? *outSizes : leastSizes(bases, outNames.size());
  std::vector<LinearLayout::Input> inputs;
  for (const auto &[name, vectors] : bases) {
    LinearLayout::Input &input = inputs.emplace_back(LinearLayout::Input{name, {}});
    for (const std::vector<int32_t> &basis : vectors)
      input.bases.emplace_back(basis.begin(), basis.end());
  }
  std::vector<LinearLayout::Output> outputs;
  for (auto [name, size] : llvm::zip_equal(outNames, sizes))
    outputs.push_back({name, size});
  std::string reason;
  std::optional<LinearLayout> created = LinearLayout::tryFromBases(inputs, outputs, reason);
  require(created.has_value(), reason);
  require(!requireSurjective || created->isSurjective(), "Layout is expected to be surjective, i.e. every `out` "
                                                         "coordinate can be reached by some `in` coordinate, but was "
                                                         "not:" +
                                                             layoutText(*created));
  return *created;
}

//--- Reading ------------------------------------------------------------------------------------

static std::vector<std::string> inNames(const LinearLayout &layout) {
  const auto names = layout.inputNames();
  return {names.begin(), names.end()};
}

static std::vector<std::string> outNames(const LinearLayout &layout) {
  const auto names = layout.outputNames();
  return {names.begin(), names.end()};
}

static Bases basesOf(const LinearLayout &layout) {
  Bases bases;
  for (const std::string &in : inNames(layout)) {
    auto &[name, vectors] = bases.emplace_back(in, std::vector<std::vector<int32_t>>());
    for (unsigned bit = 0; bit < layout.inBits(in); ++bit) {
      const LinearLayout::Coordinates basis = layout.basis(in, bit);
      vectors.emplace_back(basis.begin(), basis.end());
    }
  }
  return bases;
}

static std::vector<std::pair<std::string, int32_t>> outDims(const LinearLayout &layout) {
  std::vector<std::pair<std::string, int32_t>> dims;
  for (const LinearLayout::Output &output : layout.outputs())
    dims.emplace_back(output.name, output.size);
  return dims;
}

static nb::dict coordinatesOf(const LinearLayout &layout, nb::dict values) {
  require(nb::len(values) == layout.numInputs(), "every input has a value, and nothing else has one");
  std::vector<std::string> names;
  std::vector<int32_t> numbers;
  for (auto [name, value] : values) {
    names.push_back(nb::cast<std::string>(name));
    require(layout.hasInput(names.back()), "the layout has no input `" + names.back() + "`");
    numbers.push_back(nb::cast<int32_t>(value) & (layout.inSize(names.back()) - 1));
  }
  std::vector<LinearLayout::Named> inputs;
  for (auto [name, number] : llvm::zip_equal(names, numbers))
    inputs.emplace_back(name, number);
  nb::dict result;
  for (auto [name, value] : llvm::zip_equal(outNames(layout), layout.apply(inputs)))
    result[textOf(name)] = value;
  return result;
}

/// One row for each output bit, one column for each input bit.
static std::vector<std::vector<int32_t>> matrix(const LinearLayout &layout) {
  std::vector<std::vector<int32_t>> rows;
  for (const LinearLayout::Output &output : layout.outputs())
    for (unsigned outBit = 0; outBit < layout.outBits(output.name); ++outBit) {
      std::vector<int32_t> &row = rows.emplace_back();
      for (const std::string &in : inNames(layout))
        for (unsigned bit = 0; bit < layout.inBits(in); ++bit)
          row.push_back(layout.basis(in, bit, output.name) >> outBit & 1);
    }
  return rows;
}

//--- Algebra ------------------------------------------------------------------------------------

static LinearLayout multiply(const LinearLayout &left, const LinearLayout &right) {
  require(left.totalInBits() + right.totalInBits() <= kMaxBits &&
              left.totalOutBits() + right.totalOutBits() <= kMaxBits,
          "the result would have more than 63 bits");
  return left * right;
}

static LinearLayout compose(const LinearLayout &inner, const LinearLayout &outer) {
  require(inner.numOutputs() == outer.numInputs(),
          "the outer layout takes the outputs of the inner one, and nothing else");
  for (const LinearLayout::Output &output : inner.outputs())
    require(outer.hasInput(output.name) && output.size <= outer.inSize(output.name),
            "output `" + output.name + "` of size " + std::to_string(output.size) + " is no input of the outer layout");
  return inner.compose(outer);
}

static LinearLayout invert(const LinearLayout &layout) {
  require(layout.isInvertible(), "A linear layout must be surjective and square to be invertible");
  return layout.invert();
}

static LinearLayout pseudoInvert(const LinearLayout &layout) {
  require(layout.isSurjective(), "only a surjective layout has a pseudo-inverse");
  return layout.pseudoInvert();
}

static LinearLayout invertAndCompose(const LinearLayout &layout, const LinearLayout &other) {
  require(layout.numOutputs() == other.numOutputs(), "both layouts have the same outputs");
  for (const LinearLayout::Output &output : layout.outputs())
    require(other.hasOutput(output.name) && output.size <= other.outSize(output.name),
            "output `" + output.name + "` of size " + std::to_string(output.size) + " does not fit the other layout");
  require(other.isSurjective(), "the other layout does not cover all of its outputs");
  // Both need outputs of one size: zero columns do not change the bases of either.
  LinearLayout widened = layout;
  for (const LinearLayout::Output &output : layout.outputs())
    widened = widened * LinearLayout::zeros1D(1, layout.numInputs() > 0 ? inNames(layout).front() : "in", output.name,
                                              other.outSize(output.name) / output.size);
  return widened.invertAndCompose(other);
}

//--- The class ----------------------------------------------------------------------------------

void nereid::python::bindLinearLayout(nb::module_ &module) {
  nb::class_<LinearLayout>(module, "LinearLayout", "A map over GF(2) from named inputs to named coordinates.")
      .def(nb::init<>())
      .def_static(
          "identity_1d",
          [](int32_t size, const std::string &in, const std::string &out) { return strided1D(size, 1, in, out); },
          nb::arg("size"), nb::arg("inDim"), nb::arg("outDim"))
      .def_static("strided_1d", &strided1D, nb::arg("size"), nb::arg("stride"), nb::arg("inDim"), nb::arg("outDim"))
      .def_static("zeros_1d", &zeros1D, nb::arg("size"), nb::arg("inDim"), nb::arg("outDim"), nb::arg("outDimSize") = 1)
      .def_static("from_bases", &fromBases, nb::arg("bases"), nb::arg("out_dim_names"),
                  nb::arg("out_dim_sizes") = nb::none(), nb::arg("require_surjective") = true,
                  "Each input with the coordinates that each of its bits adds.")
      .def("compose", &compose, nb::arg("outer"), "outer(self(x)).")
      .def("invert", &invert)
      .def("pseudoinvert", &pseudoInvert, "One input for each output.")
      .def("invert_and_compose", &invertAndCompose, nb::arg("other"), "The x with other(x) = self(input).")
      .def("is_surjective", &LinearLayout::isSurjective)
      .def("is_injective", &LinearLayout::isInjective)
      .def("is_invertible", &LinearLayout::isInvertible)
      .def("get_in_dim_names", &inNames)
      .def("get_out_dim_names", &outNames)
      .def_prop_ro("bases", &basesOf)
      .def_prop_ro("out_dims", &outDims)
      .def_prop_ro("num_in_dims", &LinearLayout::numInputs)
      .def_prop_ro("num_out_dims", &LinearLayout::numOutputs)
      .def("apply", &coordinatesOf, nb::arg("inputs"), "The coordinates of one input; all inputs are given.")
      .def("get_matrix_view", &matrix, "Rows are bits of the outputs, columns bits of the inputs.")
      .def("get_shared_view", &sharedView, nb::arg("useHWPointOfView"), "What each offset of shared memory holds.")
      .def("get_distributed_view", &distributedView, nb::arg("useHWPointOfView"), "What each thread holds.")
      .def("__mul__", &multiply, nb::is_operator())
      .def("__imul__", &multiply, nb::is_operator())
      .def(
          "__eq__", [](const LinearLayout &left, const LinearLayout &right) { return left == right; },
          nb::is_operator())
      .def(
          "__ne__", [](const LinearLayout &left, const LinearLayout &right) { return !(left == right); },
          nb::is_operator())
      .def("__hash__", [](const LinearLayout &layout) { return Py_hash_t(size_t(hash_value(layout)) >> 1); })
      .def("__str__", &layoutText)
      .def("__repr__", &layoutText);
}
