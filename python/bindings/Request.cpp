// Reads signatures, constants, attributes, options and targets out of Python's objects.
// SPDX-License-Identifier: MIT
#include "python/bindings/Request.h"

#include "jit/Signature.h"

#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"

#include <atomic>
#include <cerrno>
#include <chrono>

using namespace nereid;
using namespace nereid::python;
using sema::Value;

//--- Options and targets -----------------------------------------------------------------------

/// The entry, with constexpr taken off; null where it is missing or None.
static nb::object optionOf(nb::dict options, const char *name) {
  nb::object value = nb::borrow(PyDict_GetItemString(options.ptr(), name));
  if (value.is_valid() && isConstexpr(value))
    value = checked(PyObject_GetAttrString(value.ptr(), "value"));
  return value.is_valid() && !value.is_none() ? value : nb::object();
}

bool nereid::python::flagOf(nb::dict options, const char *name, bool otherwise) {
  nb::object value = optionOf(options, name);
  if (!value.is_valid())
    return otherwise;
  const int truth = PyObject_IsTrue(value.ptr());
  if (truth < 0)
    throw nb::python_error();
  return truth != 0;
}

static uint32_t numberOf(nb::dict options, const char *name, uint32_t otherwise) {
  nb::object value = optionOf(options, name);
  if (!value.is_valid())
    return otherwise;
  nb::object index = nb::steal(PyNumber_Index(value.ptr()));
  PyErr_Clear();
  int overflow = 0;
  const long long number = index.is_valid() ? PyLong_AsLongLongAndOverflow(index.ptr(), &overflow) : -1;
  if (overflow || number < 0 || number > INT32_MAX)
    raise(PyExc_ValueError, std::string(name) + " must be a number that is not negative, got " + reprOf(value));
  return static_cast<uint32_t>(number);
}

static std::string textOfOption(nb::dict options, const char *name, const std::string &otherwise) {
  nb::object value = optionOf(options, name);
  if (!value.is_valid())
    return otherwise;
  if (!PyUnicode_Check(value.ptr()))
    raise(PyExc_TypeError, std::string(name) + " must be a str, got " + reprOf(value));
  return std::string(utf8(value));
}

support::Options nereid::python::optionsOf(nb::dict given) {
  support::Options options;
  options.numWarps = numberOf(given, "num_warps", options.numWarps);
  options.numStages = numberOf(given, "num_stages", options.numStages);
  options.numCtas = numberOf(given, "num_ctas", options.numCtas);
  options.maxRegisters = numberOf(given, "maxnreg", options.maxRegisters);
  options.enableFpFusion = flagOf(given, "enable_fp_fusion", options.enableFpFusion);
  options.debug = flagOf(given, "debug", options.debug);
  options.sanitizeOverflow = flagOf(given, "sanitize_overflow", options.sanitizeOverflow);
  options.cooperativeGrid = flagOf(given, "launch_cooperative_grid", options.cooperativeGrid);
  options.programmaticLaunch = flagOf(given, "launch_pdl", options.programmaticLaunch);
  if (nb::object names = optionOf(given, "supported_fp8_dtypes"); names.is_valid()) {
    nb::object tuple = checked(PySequence_Tuple(names.ptr()));
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(tuple.ptr()); ++i)
      options.supportedFp8.emplace_back(utf8(PyTuple_GET_ITEM(tuple.ptr(), i)));
  }
  options.inputPrecision = textOfOption(given, "default_dot_input_precision", options.inputPrecision);
  options.ptxVersion = numberOf(given, "ptx_version", options.ptxVersion);
  options.ptxOptions = textOfOption(given, "ptx_options", options.ptxOptions);
  return options;
}

std::optional<driver::Request::Replacement> nereid::python::replacementOf(nb::dict options) {
  const std::string path = textOfOption(options, "ir_override", "");
  if (path.empty())
    return std::nullopt;
  const auto buffer = llvm::MemoryBuffer::getFile(path);
  if (!buffer) {
    errno = buffer.getError().value();
    PyErr_SetFromErrnoWithFilename(PyExc_OSError, path.c_str());
    throw nb::python_error();
  }
  const std::string stage = llvm::sys::path::extension(path).ltrim('.').str();
  return driver::Request::Replacement{stage, (*buffer)->getBuffer().str(), path};
}

NativeTools nereid::python::toolsOf(nb::dict options) {
  NativeTools tools;
  nb::object given = optionOf(options, "tools");
  if (!given.is_valid() || !PyDict_Check(given.ptr()))
    return tools;
  for (auto [name, text] : {std::pair{"ptxas", &tools.ptxas}, std::pair{"nvjitlink", &tools.nvJitLink},
                            std::pair{"key", &tools.key}})
    if (PyObject *value = PyDict_GetItemString(given.ptr(), name))
      *text = utf8(value);
  return tools;
}

support::TargetSpec nereid::python::targetOf(nb::handle target) {
  nb::object backend = checked(PyObject_GetAttrString(target.ptr(), "backend"));
  nb::object arch = checked(PyObject_GetAttrString(target.ptr(), "arch"));
  nb::object archText = arch.is_none() ? textOf("") : checked(PyObject_Str(arch.ptr()));
  std::string whyNot;
  auto spec = driver::resolveTarget(std::string(utf8(backend)), std::string(utf8(archText)), whyNot);
  if (!spec)
    raise(PyExc_ValueError, whyNot);
  return *spec;
}

//--- Keys --------------------------------------------------------------------------------------

/// Text that no other compilation has: for constants that have no text of their own.
static std::string uniqueText() {
  static std::atomic<uint64_t> count{0};
  const auto now = std::chrono::system_clock::now().time_since_epoch().count();
  return "unique " + std::to_string(now) + " " + std::to_string(count.fetch_add(1));
}

/// Whether the repr of such an object says all of it: types and scalars of libraries that keep to that.
static bool isSaidByRepr(nb::handle constant) {
  nb::object module = attributeOrNull(nb::handle(reinterpret_cast<PyObject *>(Py_TYPE(constant.ptr()))), "__module__");
  if (!module.is_valid() || !PyUnicode_Check(module.ptr()))
    return false;
  const std::string_view name = utf8(module);
  const bool isKnown = name == "torch" || name == "numpy" || name.starts_with("numpy.") || name.starts_with("triton.");
  const std::string text = reprOf(constant);
  return isKnown && Py_TYPE(constant.ptr())->tp_repr != PyBaseObject_Type.tp_repr &&
         text.find(" at 0x") == std::string::npos && text.find("...") == std::string::npos;
}

static std::string keyText(nb::handle constant);

/// The parts of an object whose class says what they are: an enum's member, a dataclass; none of others.
static std::optional<std::string> partsText(nb::handle constant) {
  nb::handle type(reinterpret_cast<PyObject *>(Py_TYPE(constant.ptr())));
  const std::string name = reprOf(type);
  if (nb::object members = attributeOrNull(type, "__members__"); members.is_valid())
    if (nb::object value = attributeOrNull(constant, "_value_"); value.is_valid())
      return name + " " + keyText(value);
  nb::object fields = attributeOrNull(constant, "__dataclass_fields__");
  if (!fields.is_valid() || !PyDict_Check(fields.ptr()))
    return std::nullopt;
  std::string text = name + "{";
  for (auto [field, unused] : nb::borrow<nb::dict>(fields))
    text += std::string(utf8(field)) + "=" + keyText(checked(PyObject_GetAttr(constant.ptr(), field.ptr()))) + ",";
  return text + "}";
}

/// Equal texts only for constants that compile alike, in every process.
static std::string keyText(nb::handle constant) {
  if (nb::object key = attributeOrNull(constant, "cache_key"); key.is_valid() && PyUnicode_Check(key.ptr()))
    return reprOf(constant) + " " + std::string(utf8(key));
  if (isConstexpr(constant))
    return keyText(checked(PyObject_GetAttrString(constant.ptr(), "value")));
  if (PyTuple_Check(constant.ptr()) || PyList_Check(constant.ptr())) {
    std::string text = "(";
    const Py_ssize_t size = PySequence_Size(constant.ptr());
    for (Py_ssize_t i = 0; i < size; ++i)
      text += keyText(checked(PySequence_GetItem(constant.ptr(), i))) + ",";
    return text + ")";
  }
  const bool isPlain = constant.is_none() || PyLong_Check(constant.ptr()) || PyFloat_Check(constant.ptr()) ||
                       PyUnicode_Check(constant.ptr()) || PyBytes_Check(constant.ptr());
  if (auto parts = partsText(constant))
    return *parts;
  if (isPlain)
    return reprOf(constant);
  // Two objects of one repr may differ in what the repr does not show.
  return isSaidByRepr(constant) ? std::string(Py_TYPE(constant.ptr())->tp_name) + " " + reprOf(constant)
                                : uniqueText();
}

//--- Arguments ---------------------------------------------------------------------------------

namespace {
/// What the signature says of one parameter, in all the forms that are needed.
struct ParsedArgument {
  sema::KernelArgument argument;
  jit::Argument signature;
};

class ArgumentReader {
public:
  ArgumentReader(PyHost &host, const KernelDescription &description) : host(host), description(description) {}
  ParsedArgument read(nb::handle type, nb::tuple path, const std::string &name);

private:
  ParsedArgument constant(nb::handle value);
  ParsedArgument tuple(nb::handle types, nb::tuple path, const std::string &name);
  int64_t divisibilityAt(nb::handle path);

  PyHost &host;
  const KernelDescription &description;
};
} // namespace

ParsedArgument ArgumentReader::constant(nb::handle value) {
  ParsedArgument parsed;
  parsed.argument.constant = host.toValue(value);
  parsed.signature = jit::Argument::constant(keyText(value));
  return parsed;
}

ParsedArgument ArgumentReader::tuple(nb::handle types, nb::tuple path, const std::string &name) {
  std::vector<Value> elements;
  std::vector<jit::Argument> signatures;
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(types.ptr()); ++i) {
    nb::object at = checked(PySequence_Concat(path.ptr(), nb::make_tuple(i).ptr()));
    ParsedArgument element = read(PyTuple_GET_ITEM(types.ptr(), i), nb::borrow<nb::tuple>(at), name);
    if (!element.argument.constant)
      raise(PyExc_NotImplementedError, "parameter `" + name +
                                           "` is a tuple that holds tensors or numbers; tuples of constants are all "
                                           "that a kernel can be given yet");
    elements.push_back(*element.argument.constant);
    signatures.push_back(std::move(element.signature));
  }
  ParsedArgument parsed;
  parsed.argument.constant = Value::tuple(std::move(elements));
  if (isNamedTuple(types)) {
    nb::object fields = checked(PyObject_GetAttrString(types.ptr(), "_fields"));
    auto names = std::make_shared<std::vector<std::string>>();
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(fields.ptr()); ++i)
      names->emplace_back(utf8(PyTuple_GET_ITEM(fields.ptr(), i)));
    auto hostClass = std::make_shared<PyHostObject>(types.type());
    parsed.argument.constant =
        sema::TupleValue{parsed.argument.constant->get<sema::TupleValue>()->elements, names, hostClass};
  }
  parsed.signature = jit::Argument::tuple(std::move(signatures));
  return parsed;
}

int64_t ArgumentReader::divisibilityAt(nb::handle path) {
  PyObject *entries = PyDict_GetItemWithError(description.attributes.ptr(), path.ptr());
  if (!entries)
    return 1;
  int64_t divisibility = 1;
  nb::object list = checked(PySequence_Tuple(entries));
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(list.ptr()); ++i) {
    nb::object pair = checked(PySequence_Tuple(PyTuple_GET_ITEM(list.ptr(), i)));
    if (PyTuple_GET_SIZE(pair.ptr()) != 2 || !PyUnicode_Check(PyTuple_GET_ITEM(pair.ptr(), 0)))
      raise(PyExc_TypeError, "attributes must be pairs of a name and a number, got " + reprOf(pair));
    if (utf8(PyTuple_GET_ITEM(pair.ptr(), 0)) != "tt.divisibility")
      continue;
    divisibility = PyLong_AsLongLong(PyTuple_GET_ITEM(pair.ptr(), 1));
    if (PyErr_Occurred())
      throw nb::python_error();
    if (divisibility < 1 || (divisibility & (divisibility - 1)))
      raise(PyExc_ValueError, "tt.divisibility must be a power of 2, got " + std::to_string(divisibility));
  }
  return divisibility;
}

ParsedArgument ArgumentReader::read(nb::handle type, nb::tuple path, const std::string &name) {
  if (PyTuple_Check(type.ptr()))
    return tuple(type, path, name);
  PyObject *value = PyDict_GetItemWithError(description.constants.ptr(), path.ptr());
  if (value)
    return constant(value);
  if (PyErr_Occurred())
    throw nb::python_error();
  if (!PyUnicode_Check(type.ptr()))
    raise(PyExc_TypeError, "the type of parameter `" + name + "` must be a str, got " + reprOf(type));
  const std::string_view text = utf8(type);
  if (text == "constexpr")
    raise(PyExc_ValueError, "parameter `" + name + "` is constexpr, but no value is given for it");

  const std::optional<sema::Type> known = sema::Type::fromSignature(text);
  if (!known)
    raise(PyExc_ValueError, "parameter `" + name + "` has the type " + reprOf(type) + ", which kernels cannot take");
  ParsedArgument parsed;
  parsed.argument.type = *known;
  const bool canDivide = !known->isDescriptor && (known->isPointer || known->isInt());
  parsed.argument.divisibility = canDivide ? divisibilityAt(path) : 1;
  const auto scalar = jit::parseScalarType(sema::signatureOf(known->scalar));
  if (!scalar)
    raise(PyExc_ValueError, "parameter `" + name + "` has the type " + reprOf(type) + ", which kernels cannot take");
  if (known->isDescriptor) {
    parsed.signature = jit::Argument::descriptor(std::string(text.substr(text.find('<') + 1, text.size() - text.find('<') - 2)));
    return parsed;
  }
  const bool isAligned = parsed.argument.divisibility % 16 == 0;
  parsed.signature = known->isPointer ? jit::Argument::pointer(*scalar, isAligned, known->isConst)
                                      : jit::Argument::scalar(*scalar, isAligned);
  return parsed;
}

//--- The whole ---------------------------------------------------------------------------------

Compilation::Compilation(const KernelDescription &description)
    : host(flagOf(description.options, "allow_non_constexpr_globals", false)) {
  if (!isJitFunction(description.function))
    raise(PyExc_TypeError, "expected a @triton.jit function, got " + reprOf(description.function));
  request.kernel = host.function(description.function);
  request.name = description.name.empty() ? request.kernel->name : description.name;
  request.options = optionsOf(description.options);
  request.target = targetOf(description.target);

  ArgumentReader reader(host, description);
  jit::Signature text;
  nb::object items = checked(PyDict_Items(description.signature.ptr()));
  for (Py_ssize_t i = 0; i < PyList_GET_SIZE(items.ptr()); ++i) {
    PyObject *item = PyList_GET_ITEM(items.ptr(), i);
    const std::string name(utf8(PyTuple_GET_ITEM(item, 0)));
    ParsedArgument parsed = reader.read(PyTuple_GET_ITEM(item, 1), nb::make_tuple(i), name);
    if (!parsed.argument.constant)
      llvm::append_range(parameters, driver::parametersOf(parsed.argument.type, name, static_cast<uint32_t>(i)));
    request.args.push_back(std::move(parsed.argument));
    text.arguments.push_back(std::move(parsed.signature));
  }
  signature = text.str();
  const support::SourceFile &file = *request.kernel->file;
  sourceKey = std::string(utf8(checked(PyObject_GetAttrString(description.function.ptr(), "cache_key")))) + "\n" +
              file.name().str() + "\n" + std::to_string(file.origin().firstLine) + "\n" + file.text().str();
}
