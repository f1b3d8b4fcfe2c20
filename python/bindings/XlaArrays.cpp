// Describes the target and the arrays of a payload's kernel, so that a call can be checked before it is in a graph.
// SPDX-License-Identifier: MIT
#include "python/bindings/XlaArrays.h"

#include "xla/LoadedCall.h"

using namespace nereid;
using namespace nereid::python;
using namespace nereid::xla;

/// All candidates of an autotuned call take the same arrays.
static const KernelCall &firstCall(const Payload &payload) {
  const auto *single = std::get_if<KernelCall>(&payload.call);
  return single ? *single : std::get<AutotunedCall>(payload.call).configs.front().call;
}

static nb::object shapeOf(const ArrayParameter &array) {
  if (!array.shape)
    return nb::none();
  nb::list extents;
  for (uint64_t extent : *array.shape)
    extents.append(extent);
  return nb::tuple(extents);
}

/// (name, type, shape, is written, index among the buffers) of each array, in the order of the kernel's parameters. For
/// PTX alone the type is "".
static nb::list arraysOf(const KernelCall &call, const artifact::Artifact &artifact) {
  nb::list arrays;
  uint32_t next = 0;
  for (size_t i = 0; i < call.parameters.size(); ++i)
    if (const auto *array = std::get_if<ArrayParameter>(&call.parameters[i])) {
      const artifact::Parameter &parameter = artifact.parameters[i];
      arrays.append(nb::make_tuple(textOf(parameter.name), textOf(parameter.type), shapeOf(*array),
                                   !parameter.type.empty() && parameter.isWritten, array->buffer.value_or(next++)));
    }
  return arrays;
}

static nb::object describe(nb::bytes bytes) {
  const auto fail = [](const artifact::Error &error) { raise(PyExc_ValueError, error.text + " [" + error.code + "]"); };
  auto payload = readPayload({bytes.c_str(), bytes.size()});
  if (!payload)
    fail(payload.error());
  const auto *tuned = std::get_if<AutotunedCall>(&payload->call);
  if (tuned && tuned->configs.empty())
    raise(PyExc_ValueError, "the payload has no candidate to run [payload-empty]");
  const KernelCall &call = firstCall(*payload);
  auto artifact = artifactOf(call);
  if (!artifact)
    fail(artifact.error());
  if (artifact->parameters.size() != call.parameters.size())
    raise(PyExc_ValueError, "kernel `" + artifact->name + "` takes " + std::to_string(artifact->parameters.size()) +
                                " arguments; the payload has " + std::to_string(call.parameters.size()) +
                                " [payload-parameter]");
  return nb::make_tuple(textOf(artifact->name), textOf(artifact->target.backend), textOf(artifact->target.arch),
                        call.mayWriteOperands, tuned != nullptr, arraysOf(call, *artifact));
}

void nereid::python::bindXlaArrays(nb::module_ &xla) {
  xla.def("describe", &describe, nb::arg("payload"),
          "(kernel, backend, arch, may write operands, is autotuned, arrays) of a payload.");
}
