// PTX of any compiler for the simulated GPU, for Python: its entries, and launches with packed parameters.
// SPDX-License-Identifier: MIT
#include "python/bindings/Kernel.h"
#include "python/bindings/Python.h"
#include "runtime/sim/Simulator.h"

#include <nanobind/stl/array.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

using namespace nereid;
using namespace nereid::python;

namespace {
using Extents = std::array<uint32_t, 3>;

struct PtxModule {
  std::shared_ptr<const sim::Module> module;
};

sim::Dim dimOf(const Extents &extents) { return {extents[0], extents[1], extents[2]}; }

nb::object extentsOf(const std::optional<sim::Dim> &dim) {
  return dim ? nb::object(nb::make_tuple(dim->x, dim->y, dim->z)) : nb::none();
}
} // namespace

static PtxModule parsePtx(const std::string &text) {
  auto module = sim::parse(text);
  if (!module)
    raiseRuntimeError(module.error());
  return {std::move(*module)};
}

/// (name, [(name, type, bytes, alignment), ...], block or None, cluster or None) of each entry.
static nb::list entriesOf(const PtxModule &self) {
  nb::list result;
  for (const sim::Entry &entry : sim::entriesOf(*self.module)) {
    nb::list params;
    for (const sim::Entry::Parameter &param : entry.params)
      params.append(nb::make_tuple(textOf(param.name), textOf(param.type), param.bytes, param.align));
    result.append(nb::make_tuple(textOf(entry.name), params, extentsOf(entry.block), extentsOf(entry.cluster)));
  }
  return result;
}

/// (name, offset of the parameter, address, bytes, bytes of an element, fill value of new memory, its bytes or 0) of
/// each array.
using Arrays = std::vector<std::tuple<std::string, uint32_t, uint64_t, uint64_t, uint32_t, uint64_t, uint32_t>>;

static std::vector<sim::Buffer> buffersOf(const Arrays &arrays) {
  std::vector<sim::Buffer> result;
  for (const auto &[name, param, begin, bytes, elementBytes, pattern, patternBytes] : arrays)
    result.push_back({name, param, begin, begin, begin + bytes, elementBytes, true, pattern, patternBytes});
  return result;
}

static uint64_t runPtx(const PtxModule &self, const std::string &entry, Extents grid, Extents block, Extents cluster,
                       uint32_t sharedBytes, nb::bytes params, const Arrays &arrays, const std::string &sanitize,
                       uint64_t seed, uint64_t limit) {
  const auto checks = sim::checksOf(sanitize);
  if (!checks)
    raise(PyExc_ValueError, "`" + sanitize + "` has an unknown word; there are " +
                                artifact::sanitizerNames(artifact::kSimulatorSanitizers));
  sim::Launch launch;
  launch.entry = entry;
  launch.grid = dimOf(grid);
  launch.block = dimOf(block);
  launch.cluster = dimOf(cluster);
  launch.sharedBytes = sharedBytes;
  launch.params = {params.c_str(), params.size()};
  launch.seed = seed;
  launch.maxInstructions = limit;
  launch.checks = *checks;
  launch.buffers = buffersOf(arrays);
  const auto done = [&] {
    GilRelease released;
    return sim::run(*self.module, launch);
  }();
  if (!done)
    raiseRuntimeError(done.error());
  return done->threadInstructions;
}

void nereid::python::bindSimPtx(nb::module_ &driver) {
  nb::class_<PtxModule>(driver, "Ptx", "Parsed PTX.")
      .def("__init__", [](PtxModule *self, const std::string &text) { new (self) PtxModule(parsePtx(text)); })
      .def("entries", &entriesOf)
      .def("run", &runPtx, nb::arg("entry"), nb::arg("grid"), nb::arg("block"), nb::arg("cluster"), nb::arg("shared"),
           nb::arg("params"), nb::arg("arrays"), nb::arg("sanitize"), nb::arg("seed"), nb::arg("limit"));
}
