// What Python's classes of Gluon's layouts ask of the compiler, which has the one implementation of their rules.
// SPDX-License-Identifier: MIT
#include "compiler/sema/gluon/Layouts.h"
#include "compiler/dialect/ttg/Dialect.h"
#include "python/bindings/IrModule.h"
#include "python/bindings/LayoutText.h"
#include "python/bindings/PyHost.h"

#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "llvm/Support/MathExtras.h"

using namespace nereid;
using namespace nereid::python;
using sema::Value;

/// Encodings that only answer questions live in one context; the GIL, or the caller, guards it.
static mlir::MLIRContext &contextOfLayouts() {
  static auto *context = new IrContext();
  return context->context();
}

static Value layoutOf(nb::handle object) {
  const Value value = PyHost(false).toValue(object);
  if (!sema::layoutClassOf(value))
    raise(PyExc_TypeError, "expected a layout, got " + reprOf(object));
  return value;
}

/// The encoding; a ValueError where its rules are violated.
static mlir::Attribute encodingOf(nb::handle object) {
  std::string reason;
  const Value value = layoutOf(object);
  mlir::Attribute encoding = sema::encodingOf(&contextOfLayouts(), value, [&](std::string text) { reason = text; });
  if (!encoding)
    raise(PyExc_ValueError, reason);
  return encoding;
}

static nb::object completed(nb::handle object) {
  const Value value = layoutOf(object);
  const sema::LayoutClass *known = sema::layoutClassOf(value);
  std::string reason;
  const Value made =
      sema::makeLayout(&contextOfLayouts(), *known, *value.parts(), [&](std::string text) { reason = text; });
  if (made.isPoison())
    raise(PyExc_ValueError, reason);
  PyHost host(false);
  nb::list fields;
  for (const Value &part : *made.parts())
    fields.append(host.toObject(part));
  return fields;
}

static nb::object attributeOf(nb::handle object, const std::string &name) {
  const Value layout = layoutOf(object);
  const sema::LayoutClass *known = sema::layoutClassOf(layout);
  if (std::optional<Value> value = known->record.attribute(*layout.parts(), name))
    return PyHost(false).toObject(*value);
  raise(PyExc_ValueError, "a " + known->record.name.str() + " has no " + name);
}

/// The name of the layout's class.
static std::string nameOf(nb::handle object) { return sema::layoutClassOf(layoutOf(object))->record.name.str(); }

static std::string viewOf(nb::handle object, const std::vector<int64_t> &shape, bool byHardware) {
  auto encoding = llvm::dyn_cast<ttg::LayoutEncoding>(encodingOf(object));
  if (!encoding)
    raise(PyExc_ValueError, nameOf(object) + " cannot be visualized: it is found when a kernel is compiled");
  if (llvm::isa<ttg::PaddedSharedAttr>(encoding))
    raise(PyExc_ValueError, nameOf(object) + " cannot be visualized: its padding has no place in a linear layout");
  if (encoding.getRank() != shape.size())
    raise(PyExc_ValueError, "the layout has " + std::to_string(encoding.getRank()) + " dimensions, the shape " +
                                std::to_string(shape.size()));
  for (int64_t extent : shape)
    if (extent <= 0 || (extent & (extent - 1)))
      raise(PyExc_ValueError, "the shape's extent " + std::to_string(extent) + " is no power of two");
  const layout::LinearLayout layout = encoding.toLinearLayout(shape);
  return encoding.isDistributed() ? distributedView(layout, byHardware) : sharedView(layout, byHardware);
}

/// The bases by which the CTAs of a cluster split a tile: along the dimensions in that order, from the fastest on.
static std::vector<std::vector<unsigned>> clusterBases(const std::vector<unsigned> &ctas,
                                                       const std::vector<unsigned> &split,
                                                       const std::vector<unsigned> &order) {
  if (split.size() != ctas.size() || order.size() != ctas.size())
    raise(PyExc_ValueError, "the numbers of CTAs, of parts and the order differ in length");
  std::vector<std::vector<unsigned>> bases;
  for (unsigned dim : order) {
    if (dim >= ctas.size() || !llvm::isPowerOf2_32(ctas[dim]) || !llvm::isPowerOf2_32(split[dim]))
      raise(PyExc_ValueError, "CTAs and parts are powers of two, and the order names dimensions");
    for (unsigned step = 1; step < ctas[dim]; step *= 2) {
      bases.emplace_back(ctas.size(), 0);
      if (step < split[dim])
        bases.back()[dim] = step;
    }
  }
  return bases;
}

/// The widest swizzle that rows of a block fill, in bytes; 0 where they fill none, or are too few.
static unsigned swizzleFor(const std::vector<int64_t> &shape, unsigned bits, bool isTransposed, bool isPadded) {
  if (shape.empty())
    raise(PyExc_ValueError, "the shape is empty");
  const int64_t rowBytes = (isTransposed ? shape.front() : shape.back()) * (isPadded ? 2 : 1) * bits / 8;
  int64_t rows = 1;
  for (size_t dim = 0; dim + 1 < shape.size(); ++dim)
    rows *= shape[isTransposed ? dim + 1 : dim];
  if (shape.size() < 2 || rows < 8)
    return 0;
  for (unsigned width : {128, 64, 32})
    if (rowBytes >= width && rowBytes % width == 0)
      return width;
  return 0;
}

/// A layout that follows from another: what `make(operand, error)` gives, as an object of Python.
static nb::object derivedLayout(nb::handle operand, llvm::function_ref<Value(const Value &, sema::LayoutError)> make) {
  std::string reason;
  const Value made = make(PyHost(false).toValue(operand), [&](std::string text) { reason = text; });
  if (made.isPoison())
    raise(PyExc_ValueError, reason);
  return PyHost(false).toObject(made);
}

static nb::object scaleLayout(nb::handle operand, const std::vector<int64_t> &shape, int64_t factor) {
  return derivedLayout(operand, [&](const Value &layout, sema::LayoutError error) {
    return sema::amdScaleLayout(&contextOfLayouts(), layout, shape, factor, error);
  });
}

static nb::object paddedLayout(nb::handle operand, const std::vector<int64_t> &shape, unsigned bits,
                               bool isKContiguous) {
  return derivedLayout(operand, [&](const Value &layout, sema::LayoutError error) {
    return sema::amdPaddedLayout(&contextOfLayouts(), layout, shape, bits, isKContiguous, error);
  });
}

void nereid::python::bindLayouts(nb::module_ &module) {
  module.def("complete_layout", &completed, nb::arg("layout"),
             "The fields of a layout, with those that are None filled in; a ValueError where they break its rules.");
  module.def(
      "layout_text", [](nb::handle layout) { return sema::layoutText(encodingOf(layout)); }, nb::arg("layout"),
      "The layout as a kernel writes it.");
  module.def("nvmma_swizzle", &swizzleFor, nb::arg("shape"), nb::arg("bits"), nb::arg("transposed"),
             nb::arg("fp4_padded"), "The widest swizzle that the rows of a block fill, in bytes.");
  module.def("make_cga_layout", &clusterBases, nb::arg("ctas_per_cga"), nb::arg("cta_split"), nb::arg("cta_order"),
             "The `cga_layout` of a tile that the CTAs of a cluster split.");
  module.def("mfma_scale_layout", &scaleLayout, nb::arg("dot_operand_layout"), nb::arg("shape"), nb::arg("factor"),
             "The layout of the scales of an operand of `mfma_scaled`.");
  module.def("mfma_padded_layout", &paddedLayout, nb::arg("dot_operand_layout"), nb::arg("shape"), nb::arg("bits"),
             nb::arg("is_k_contiguous"), "A padded layout in LDS of an operand of mfma, or None.");
  module.def("layout_attribute", &attributeOf, nb::arg("layout"), nb::arg("name"), "A computed attribute of a layout.");
  module.def("layout_view", &viewOf, nb::arg("layout"), nb::arg("shape"), nb::arg("by_hardware"),
             "A drawing: the threads that hold each element, or the elements of each thread.");
}
