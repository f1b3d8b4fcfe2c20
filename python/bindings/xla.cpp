// Converts payloads of XLA's custom calls to and from plain Python values (python/triton/xla/payload.py names them).
// SPDX-License-Identifier: MIT
#include "xla/Payload.h"

#include "jit/Signature.h"
#include "python/bindings/CompiledData.h"
#include "python/bindings/XlaArrays.h"

#include <bit>
#include <nanobind/stl/array.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

using namespace nereid;
using namespace nereid::python;
using namespace nereid::xla;
using artifact::ElementType;

static nb::object bytesOf(std::string_view bytes) {
  return checked(PyBytes_FromStringAndSize(bytes.data(), static_cast<Py_ssize_t>(bytes.size())));
}

static std::string_view viewOf(const nb::bytes &bytes) { return {bytes.c_str(), bytes.size()}; }

//--- Scalars -----------------------------------------------------------------------------------

/// Payloads spell a bool "i1".
static std::string_view nameOf(ElementType type) {
  return type == ElementType::Int1 ? "i1" : artifact::infoOf(type).signature;
}

template <typename Int> static uint64_t integerBits(nb::handle value, std::string_view type) {
  Int number{};
  if (!nb::try_cast(value, number))
    raise(PyExc_OverflowError, "a scalar is " + reprOf(value) + ", which is no value of type " + std::string(type));
  return static_cast<std::make_unsigned_t<Int>>(number);
}

static ScalarParameter makeScalar(const std::string &name, nb::handle value) {
  const ElementType type = artifact::elementOfSignature(name).value_or(ElementType::Void);
  switch (name == nameOf(type) ? type : ElementType::Void) {
  case ElementType::Int1:
    return {type, nb::cast<bool>(value)};
  case ElementType::Int32:
    return {type, integerBits<int32_t>(value, name)};
  case ElementType::UInt32:
    return {type, integerBits<uint32_t>(value, name)};
  case ElementType::Int64:
    return {type, integerBits<int64_t>(value, name)};
  case ElementType::UInt64:
    return {type, integerBits<uint64_t>(value, name)};
  case ElementType::Float32:
    return {type, std::bit_cast<uint32_t>(static_cast<float>(nb::cast<double>(value)))};
  case ElementType::Float64:
    return {type, std::bit_cast<uint64_t>(nb::cast<double>(value))};
  default:
    raise(PyExc_ValueError,
          "a scalar parameter has the type " + name + "; there are i1, i32, u32, i64, u64, fp32, fp64");
  }
}

static nb::object scalarValue(const ScalarParameter &scalar) {
  const artifact::ElementInfo &info = artifact::infoOf(scalar.type);
  if (info.kind == artifact::ElementKind::Bool)
    return nb::bool_(scalar.bits != 0);
  if (info.isFloat())
    return nb::float_(info.bits == 32 ? std::bit_cast<float>(static_cast<uint32_t>(scalar.bits))
                                      : std::bit_cast<double>(scalar.bits));
  if (info.kind == artifact::ElementKind::Unsigned)
    return nb::int_(scalar.bits);
  return nb::int_(info.bits == 32 ? static_cast<int32_t>(scalar.bits) : static_cast<int64_t>(scalar.bits));
}

//--- Classes -----------------------------------------------------------------------------------

static std::vector<nb::object> parametersOf(const KernelCall &call) {
  std::vector<nb::object> list;
  for (const Parameter &parameter : call.parameters)
    list.push_back(std::holds_alternative<ArrayParameter>(parameter) ? nb::cast(std::get<ArrayParameter>(parameter))
                                                                     : nb::cast(std::get<ScalarParameter>(parameter)));
  return list;
}

static void setParameters(KernelCall &call, nb::sequence list) {
  call.parameters.clear();
  for (nb::handle parameter : list) {
    if (nb::isinstance<ArrayParameter>(parameter))
      call.parameters.emplace_back(nb::cast<ArrayParameter>(parameter));
    else
      call.parameters.emplace_back(nb::cast<ScalarParameter>(parameter));
  }
}

static void bindParameters(nb::module_ &xla) {
  nb::class_<ArrayParameter>(xla, "Array", "A buffer that XLA hands over.")
      .def(
          "__init__",
          [](ArrayParameter *self, uint64_t bytesToZero, uint64_t divisibility,
             std::optional<std::vector<uint64_t>> shape, std::optional<uint32_t> buffer) {
            new (self) ArrayParameter{bytesToZero, divisibility, std::move(shape), buffer};
          },
          nb::arg("bytes_to_zero") = 0, nb::arg("divisibility") = 0, nb::arg("shape") = nb::none(),
          nb::arg("buffer") = nb::none())
      .def_ro("bytes_to_zero", &ArrayParameter::bytesToZero)
      .def_ro("divisibility", &ArrayParameter::divisibility)
      .def_prop_ro("shape", [](const ArrayParameter &array) { return array.shape; })
      .def_prop_ro("buffer", [](const ArrayParameter &array) { return array.buffer; })
      .def("__eq__", [](const ArrayParameter &a, const ArrayParameter &b) { return a == b; });
  nb::class_<ScalarParameter>(xla, "Scalar", "A number that is the same at each launch.")
      .def(
          "__init__",
          [](ScalarParameter *self, nb::object value, const std::string &type) {
            new (self) ScalarParameter(makeScalar(type, value));
          },
          nb::arg("value"), nb::arg("type"))
      .def_prop_ro("value", &scalarValue)
      .def_prop_ro("type", [](const ScalarParameter &scalar) { return textOf(nameOf(scalar.type)); })
      .def("__eq__", [](const ScalarParameter &a, const ScalarParameter &b) { return a == b; });
}

static void bindKernelCode(nb::module_ &xla) {
  nb::class_<KernelCode>(xla, "Kernel", "Code, and what a launch of it needs.")
      .def(nb::init<>())
      .def_rw("name", &KernelCode::name)
      .def_rw("num_warps", &KernelCode::numWarps)
      .def_rw("shared", &KernelCode::sharedBytes)
      .def_rw("ptx", &KernelCode::ptx)
      .def_rw("ttir", &KernelCode::ttir)
      .def_rw("compute_capability", &KernelCode::computeCapability)
      .def_prop_rw(
          "cluster_dims", [](const KernelCode &kernel) { return kernel.cluster; },
          [](KernelCode &kernel, std::optional<std::array<uint32_t, 3>> cluster) { kernel.cluster = cluster; },
          nb::arg("value").none())
      .def_prop_rw(
          "num_ctas", [](const KernelCode &kernel) { return kernel.numCtas; },
          [](KernelCode &kernel, std::optional<uint32_t> count) { kernel.numCtas = count; }, nb::arg("value").none())
      .def_prop_rw(
          "scratch",
          [](const KernelCode &kernel) -> nb::object {
            return kernel.scratch ? nb::object(nb::make_tuple(kernel.scratch->bytes, kernel.scratch->align))
                                  : nb::none();
          },
          [](KernelCode &kernel, std::optional<std::array<uint64_t, 2>> scratch) {
            kernel.scratch.reset();
            if (scratch)
              kernel.scratch = {(*scratch)[0], (*scratch)[1]};
          },
          nb::arg("value").none())
      .def_prop_rw(
          "artifact", [](const KernelCode &kernel) { return bytesOf(kernel.artifact); },
          [](KernelCode &kernel, nb::bytes bytes) { kernel.artifact = viewOf(bytes); })
      .def("__eq__", [](const KernelCode &a, const KernelCode &b) { return a == b; });
}

static void bindCalls(nb::module_ &xla) {
  nb::class_<KernelCall>(xla, "KernelCall", "A kernel with its grid and its parameters.")
      .def(
          "__init__",
          [](KernelCall *self, const KernelCode &kernel, std::array<uint32_t, 3> grid, nb::sequence parameters,
             bool mayWriteOperands) {
            new (self) KernelCall{kernel, grid, {}, mayWriteOperands};
            setParameters(*self, parameters);
          },
          nb::arg("kernel"), nb::arg("grid"), nb::arg("parameters"), nb::arg("may_write_operands") = false)
      .def_ro("kernel", &KernelCall::kernel)
      .def_ro("grid", &KernelCall::grid)
      .def_prop_ro("parameters", &parametersOf)
      .def_ro("may_write_operands", &KernelCall::mayWriteOperands)
      .def("__eq__", [](const KernelCall &a, const KernelCall &b) { return a == b; });
  nb::class_<AutotunedCall>(xla, "AutotunedCall", "Several calls, of which the quickest is to be found.")
      .def(
          "__init__",
          [](AutotunedCall *self, std::string name, std::vector<std::pair<KernelCall, std::string>> configs,
             std::vector<std::array<uint64_t, 3>> aliases) {
            new (self) AutotunedCall{std::move(name), {}, {}};
            for (auto &[call, description] : configs)
              self->configs.push_back({std::move(call), std::move(description)});
            for (const auto &[operand, result, bytes] : aliases)
              self->aliases.push_back({operand, result, bytes});
          },
          nb::arg("name"), nb::arg("configs"), nb::arg("aliases") = nb::list())
      .def_ro("name", &AutotunedCall::name)
      .def_prop_ro("configs",
                   [](const AutotunedCall &call) {
                     nb::list list;
                     for (const AutotunedCall::Config &config : call.configs)
                       list.append(nb::make_tuple(config.call, textOf(config.description)));
                     return list;
                   })
      .def_prop_ro("aliases",
                   [](const AutotunedCall &call) {
                     nb::list list;
                     for (const AutotunedCall::Alias &alias : call.aliases)
                       list.append(nb::make_tuple(alias.operand, alias.result, alias.bytes));
                     return list;
                   })
      .def("__eq__", [](const AutotunedCall &a, const AutotunedCall &b) { return a == b; });
}

//--- Functions ---------------------------------------------------------------------------------

static nb::object bytesOfCall(nb::object call, const std::string &name, nb::bytes metadata, bool compressed) {
  Payload payload;
  if (nb::isinstance<AutotunedCall>(call))
    payload.call = nb::cast<AutotunedCall>(call);
  else
    payload.call = nb::cast<KernelCall>(call);
  payload.name = name;
  payload.metadata = viewOf(metadata);
  return bytesOf(compressed ? writePayload(payload) : writeMessage(payload));
}

static nb::object callOfBytes(nb::bytes bytes, bool compressed) {
  auto payload = compressed ? readPayload(viewOf(bytes)) : readMessage(viewOf(bytes));
  if (!payload)
    raise(PyExc_ValueError, payload.error().text + " [" + payload.error().code + "]");
  nb::object call = std::holds_alternative<KernelCall>(payload->call)
                        ? nb::cast(std::get<KernelCall>(payload->call))
                        : nb::cast(std::get<AutotunedCall>(payload->call));
  return nb::make_tuple(call, textOf(payload->name), bytesOf(payload->metadata));
}

/// Adds the code's preconditions on its arguments from the signature: no launcher of this project has checked them.
static void addPreconditions(artifact::Artifact &artifact) {
  const auto parsed = jit::Signature::parse(artifact.signature);
  const auto *signature = std::get_if<jit::Signature>(&parsed);
  if (!signature)
    return;
  for (uint32_t i = 0; i < artifact.parameters.size(); ++i)
    if (const uint32_t at = artifact.parameters[i].position;
        at < signature->arguments.size() && signature->arguments[at].divisibility > 1)
      artifact.preconditions.push_back(
          {artifact::PreconditionKind::Divisible, i, static_cast<uint64_t>(signature->arguments[at].divisibility)});
}

/// The parts of the artifact that a launch needs, without the stages for readers.
static nb::object launchable(const CompiledData &code) {
  artifact::Artifact small = code.artifact;
  addPreconditions(small);
  small.stages.clear();
  small.sourceMap = {};
  return bytesOf(artifact::serialize(small));
}

/// Per run-time parameter, whether the kernel may write through it.
static std::vector<bool> written(const CompiledData &code) {
  std::vector<bool> flags;
  for (const artifact::Parameter &parameter : code.artifact.parameters)
    flags.push_back(parameter.isWritten && parameter.kind == artifact::ParameterKind::Pointer);
  return flags;
}

void nereid::python::bindXla(nb::module_ &module) {
  nb::module_ xla = module.def_submodule("xla", "Payloads of XLA's custom calls.");
  bindParameters(xla);
  bindKernelCode(xla);
  bindCalls(xla);
  bindXlaArrays(xla);
  xla.def("write", &bytesOfCall, nb::arg("call"), nb::arg("name"), nb::arg("metadata"), nb::arg("compressed"),
          "A call as bytes.");
  xla.def("read", &callOfBytes, nb::arg("payload"), nb::arg("compressed"), "(call, name, metadata) of a payload.");
  xla.def("written", &written, nb::arg("code"), "Per run-time parameter, whether the kernel may write through it.");
  xla.def("launchable", &launchable, nb::arg("code"), "The part of a compiled kernel that a launch needs, as bytes.");
}
