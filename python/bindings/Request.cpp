// Reads options and targets from Python objects, and assembles a compilation.
// SPDX-License-Identifier: MIT
#include "python/bindings/KernelArguments.h"

#include "artifact/Sanitizers.h"
#include "jit/FileJob.h"

#include <cerrno>

using namespace nereid;
using namespace nereid::python;

//--- Options and targets -----------------------------------------------------------------------

/// The entry, with constexpr removed; null where it is missing or None.
static nb::object optionOf(nb::dict options, const char *name) {
  nb::object value = nb::borrow(PyDict_GetItemString(options.ptr(), name));
  if (value.is_valid() && isConstexpr(value))
    value = checked(PyObject_GetAttrString(value.ptr(), "value"));
  return value.is_valid() && !value.is_none() ? value : nb::object();
}

bool nereid::python::flagOf(nb::dict options, const char *name, bool otherwise) {
  nb::object value = optionOf(options, name);
  return value.is_valid() ? isTrue(value) : otherwise;
}

using support::OptionRow, support::OptionKind;

static uint32_t numberOf(const char *name, nb::handle value) {
  nb::object index = nb::steal(PyNumber_Index(value.ptr()));
  PyErr_Clear();
  int overflow = 0;
  const long long number = index.is_valid() ? PyLong_AsLongLongAndOverflow(index.ptr(), &overflow) : -1;
  if (overflow || number < 0 || number > INT32_MAX)
    raise(PyExc_ValueError, "`" + std::string(name) + "` must be an integer from 0 to " + std::to_string(INT32_MAX) +
                                ", got " + reprOf(value));
  return static_cast<uint32_t>(number);
}

static void read(const OptionRow &row, nb::handle value, uint32_t &number) { number = numberOf(row.python, value); }
static void read(const OptionRow &, nb::handle value, bool &flag) { flag = isTrue(value); }
static void read(const OptionRow &, nb::handle value, std::optional<bool> &choice) { choice = isTrue(value); }

static void read(const OptionRow &row, nb::handle value, std::string &text) {
  if (row.kind == OptionKind::Path)
    text = pathOf(value);
  else if (PyUnicode_Check(value.ptr()))
    text = utf8(value);
  else
    raise(PyExc_TypeError, std::string(row.python) + " must be a str, got " + reprOf(value));
}

static void read(const OptionRow &, nb::handle value, std::vector<std::string> &names) {
  nb::object tuple = checked(PySequence_Tuple(value.ptr()));
  for (nb::handle name : nb::borrow<nb::tuple>(tuple))
    names.emplace_back(utf8(name));
}

/// Pairs of a library's name and its path, as a sequence or a dict.
static void read(const OptionRow &row, nb::handle value, std::vector<support::ExternLibrary> &libraries) {
  const auto wrong = [&]() {
    raise(PyExc_TypeError,
          std::string(row.python) + " must be a dict of paths by the names of libraries, got " + reprOf(value));
  };
  nb::object pairs = nb::steal(PySequence_Tuple(PyDict_Check(value.ptr()) ? PyDict_Items(value.ptr()) : value.ptr()));
  if (!pairs.is_valid())
    wrong();
  for (nb::handle pair : nb::borrow<nb::tuple>(pairs)) {
    PyObject *name = nullptr, *path = nullptr;
    if (!PyTuple_Check(pair.ptr()) || !PyArg_ParseTuple(pair.ptr(), "UU", &name, &path))
      wrong();
    libraries.push_back({std::string(utf8(name)), pathOf(path)});
  }
}

static void read(const OptionRow &row, nb::handle value, support::SanitizerSet &set) {
  std::string words, reason;
  read(row, value, words);
  const auto sanitizers = artifact::parseSanitizers(words, reason);
  if (!sanitizers)
    raise(PyExc_ValueError, std::string(row.python) + ": " + reason);
  set = *sanitizers;
}

support::Options nereid::python::optionsOf(nb::dict values) {
  support::Options options;
  support::forEachOption(
      [&](const OptionRow &row, auto &field) {
        if (nb::object value = optionOf(values, row.python); value.is_valid())
          read(row, value, field);
      },
      options);
  return options;
}

std::optional<driver::Request::Replacement> nereid::python::replacementOf(const support::Options &options) {
  if (options.irOverride.empty())
    return std::nullopt;
  auto replacement = jit::readReplacement(options.irOverride);
  if (!replacement) {
    errno = replacement.getError().value();
    PyErr_SetFromErrnoWithFilename(PyExc_OSError, options.irOverride.c_str());
    throw nb::python_error();
  }
  return std::move(*replacement);
}

void nereid::python::readTools(jit::Job &job, nb::dict options) {
  nb::object entries = optionOf(options, "tools");
  if (!entries.is_valid() || !PyDict_Check(entries.ptr()))
    return;
  driver::Request::Tools &tools = job.request.tools;
  for (auto [name, text] :
       {std::pair{"ptxas", &tools.ptxas}, std::pair{"nvjitlink", &tools.nvJitLink}, std::pair{"key", &job.toolsKey}})
    if (PyObject *value = PyDict_GetItemString(entries.ptr(), name))
      *text = pathOf(value);
  nb::object limit = optionOf(nb::borrow<nb::dict>(entries), "seconds_limit");
  tools.secondsLimit = limit.is_valid() ? numberOf("seconds_limit", limit) : 0;
}

support::TargetSpec nereid::python::targetOf(nb::handle target, bool takesAny) {
  nb::object backend = checked(PyObject_GetAttrString(target.ptr(), "backend"));
  nb::object arch = checked(PyObject_GetAttrString(target.ptr(), "arch"));
  nb::object archText = arch.is_none() ? textOf("") : checked(PyObject_Str(arch.ptr()));
  const std::string name(utf8(backend));
  if (takesAny && !llvm::is_contained(driver::targetNames(), name))
    return {name, std::string(utf8(archText)), "", 0};
  std::string reason;
  auto spec = driver::resolveTarget(name, std::string(utf8(archText)), reason);
  if (!spec)
    raise(PyExc_ValueError, reason);
  return *spec;
}

//--- The whole ---------------------------------------------------------------------------------

Compilation::Compilation(const KernelDescription &description)
    : host(flagOf(description.options, "allow_non_constexpr_globals", false)) {
  if (!isJitFunction(description.function))
    raise(PyExc_TypeError, "expected a @triton.jit function, got " + reprOf(description.function));
  sema::KernelRequest &kernel = job.kernel;
  kernel.kernel = host.function(description.function);
  kernel.name = description.name.empty() ? kernel.kernel->name : description.name;
  kernel.options = optionsOf(description.options);
  kernel.target = targetOf(description.target, description.takesAnyTarget);
  job.host = &host;
  job.request.replacement = replacementOf(kernel.options);
  job.readSources = [this] { return host.sourceFiles(); };

  jit::Signature text;
  nb::object items = checked(PyDict_Items(description.signature.ptr()));
  for (Py_ssize_t i = 0; i < PyList_GET_SIZE(items.ptr()); ++i) {
    PyObject *item = PyList_GET_ITEM(items.ptr(), i);
    ParsedArgument parsed = readArgument(host, description, static_cast<uint32_t>(i), PyTuple_GET_ITEM(item, 1),
                                         std::string(utf8(PyTuple_GET_ITEM(item, 0))));
    kernel.args.push_back(std::move(parsed.argument));
    text.arguments.push_back(std::move(parsed.spec));
    job.sourceKey += parsed.classes;
  }
  job.request.signature = text.str();
  const support::SourceFile &file = *kernel.kernel->file;
  job.sourceKey += std::string(utf8(checked(PyObject_GetAttrString(description.function.ptr(), "cache_key"))));
  job.portableSourceKey = job.sourceKey;
  job.sourceKey += "\n" + file.name().str() + "\n" + std::to_string(file.origin().firstLine) + "\n" + file.text().str();
}
