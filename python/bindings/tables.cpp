// The compiler's tables of names, as Python lists of dictionaries.
// SPDX-License-Identifier: MIT
#include "artifact/AmdGpus.h"
#include "artifact/NvidiaGpus.h"
#include "artifact/TargetInfo.h"
#include "compiler/driver/Compiler.h"
#include "compiler/sema/Builtin.h"
#include "compiler/sema/Numbers.h"
#include "compiler/sema/gluon/Layouts.h"
#include "compiler/stdlib/Stdlib.h"
#include "compiler/support/NearestName.h"
#include "python/bindings/PyHost.h"

#include "llvm/ADT/StringSwitch.h"

using namespace nereid;
using namespace nereid::python;

/// (name, text of the default, or None).
static nb::tuple parameter(llvm::StringRef name, llvm::StringRef defaultText) {
  return nb::make_tuple(textOf(name), defaultText.empty() ? nb::none() : textOf(defaultText));
}

static nb::dict entry(llvm::StringRef name, llvm::StringRef module, nb::list params, llvm::StringRef doc, bool member) {
  nb::dict dict;
  dict["name"] = textOf(name);
  dict["module"] = textOf(module);
  dict["params"] = params;
  dict["doc"] = textOf(doc);
  dict["member"] = member;
  return dict;
}

/// Names that are classes of the Python package; the compiler has them as functions, for `isinstance` and calls.
static bool isPythonClass(llvm::StringRef name) {
  return llvm::StringSwitch<bool>(name)
      .Cases({"dtype", "constexpr", "tensor", "tuple", "slice", "const", "pointer_type", "block_type"}, true)
      .Cases({"tuple_type", "constexpr_type", "tensor_descriptor", "tensor_descriptor_type"}, true)
      .Cases({"base_value", "base_type", "PropagateNan"}, true)
      .Cases({"distributed_type", "shared_memory_descriptor_type"}, true)
      .Default(false);
}

static nb::list builtins() {
  nb::list entries;
  for (const sema::Builtin *builtin : sema::allBuiltins()) {
    // Python has `len`, `min` and others itself, and its own constant functions in `triton`.
    if (!builtin->module.starts_with("triton.") || isPythonClass(builtin->name) || sema::findLayoutClass(builtin->name))
      continue;
    nb::list params;
    for (const sema::BuiltinParam &each : builtin->params)
      params.append(parameter(each.name, each.defaultText));
    entries.append(entry(builtin->name, builtin->module, params, builtin->doc, builtin->isMember));
  }
  return entries;
}

static nb::list libraryFunctions() {
  nb::list entries;
  for (const stdlib::Function &function : stdlib::functions()) {
    if (function.name.starts_with("_"))
      continue;
    nb::list params;
    for (const syntax::Parameter &each : function.definition->parameters) {
      const bool takesRest = each.kind == syntax::ParameterKind::VarPositional;
      params.append(parameter(((takesRest ? "*" : "") + each.name).str(),
                              each.defaultValue ? function.file->text(each.defaultValue->range) : llvm::StringRef()));
    }
    entries.append(entry(function.name, function.module, params, function.doc, function.isMember));
  }
  return entries;
}

static nb::object naturalType(nb::handle number) {
  const auto scalar = sema::naturalScalar(PyHost(false).toValue(number));
  return scalar ? textOf(sema::signatureOf(*scalar)) : nb::none();
}

static nb::list listOf(const std::vector<std::string> &names) {
  nb::list list;
  for (const std::string &name : names)
    list.append(textOf(name));
  return list;
}

static const char *kindOf(const artifact::ElementInfo &info) {
  switch (info.kind) {
  case artifact::ElementKind::None:
    return "void";
  case artifact::ElementKind::Signed:
    return "int";
  case artifact::ElementKind::Bool:
  case artifact::ElementKind::Unsigned:
    return "uint";
  case artifact::ElementKind::Float:
    return "float";
  }
  return "";
}

static nb::list elementTypes() {
  nb::list rows;
  for (const artifact::ElementInfo &info : artifact::kElementTypes) {
    llvm::SmallVector<llvm::StringRef> others;
    llvm::StringRef(info.otherNames).split(others, ' ', -1, /*KeepEmpty=*/false);
    nb::list spellings;
    for (llvm::StringRef spelling : {llvm::StringRef(info.signature), llvm::StringRef(info.name)})
      spellings.append(textOf(spelling));
    for (llvm::StringRef other : others)
      spellings.append(textOf(other));
    rows.append(nb::make_tuple(textOf(llvm::StringRef(info.abbreviation())), spellings, kindOf(info), info.bits,
                               info.mantissaBits, info.bias));
  }
  return rows;
}

/// What Python asks about NVIDIA's generations; for a capability below all rows that of the lowest.
static nb::dict nvidiaArch(unsigned capability) {
  const artifact::NvidiaArch *known = artifact::findNvidiaArch(capability);
  const artifact::NvidiaArch &arch = known ? *known : artifact::nvidiaArchs().front();
  nb::dict dict;
  dict["suffix"] = std::string_view(arch.cpu) == arch.portable ? "" : "a"; // of names with all its features
  dict["has_fp8"] = arch.hasFp8Conversion;
  dict["has_wgmma"] = arch.hasWgmma;
  dict["has_clusters"] = arch.hasClusters;
  dict["has_own_ptxas"] = arch.hasOwnPtxas;
  dict["fma"] = arch.fma;
  dict["packed_fma"] = arch.packedFma;
  dict["tensor_products"] = arch.tensorProducts;
  return dict;
}

/// The same of AMD's; empty for a name that is not in the table.
static nb::dict amdArch(const std::string &name) {
  nb::dict dict;
  if (const artifact::AmdArch *arch = artifact::findAmdArch(name))
    dict["has_xf32"] = arch->hasXf32;
  return dict;
}

void nereid::python::bindTables(nb::module_ &module) {
  module.attr("is_nereid") = true;
  module.def("version", [] { return nb::str("3.9.0"); }, "The version of Triton whose interface this is.");
  module.def(
      "build_id", [] { return textOf(driver::buildId()); },
      "Changes with every change of the compiler or of the library embedded in it.");
  module.def("target_names", [] { return listOf(driver::targetNames()); }, "The targets that this build compiles for.");
  module.def(
      "stage_names", [](const std::string &backend) { return listOf(driver::stageNames(backend)); }, nb::arg("backend"),
      "The stages of a target, in order.");
  module.def(
      "replaceable_stages", [](const std::string &backend) { return listOf(driver::replaceableStages(backend)); },
      nb::arg("backend"), "Those stages of a target that the text of a user may replace, in order.");
  module.def("element_types", &elementTypes,
             "(name of the dtype, [name in signatures, name in `tl`, others], void|int|uint|float, bits, bits of the "
             "mantissa, bias of the exponent) of each element type.");
  module.def(
      "nvidia_arch", &nvidiaArch, nb::arg("capability"),
      "Features of a compute capability (90 is 9.0), and what a multiprocessor does per cycle; 0 where that is not "
      "recorded.");
  module.def("amd_arch", &amdArch, nb::arg("arch"), "Features of an architecture (`gfx942`).");
  module.def(
      "warp_size",
      [](const std::string &backend, const std::string &arch) { return artifact::warpSizeOf(backend, arch); },
      nb::arg("backend"), nb::arg("arch"), "Threads of a warp.");
  module.def("natural_type", &naturalType, nb::arg("number"),
             "The signature's spelling of the type that a constant number has on its own; None where none holds it.");
  module.def(
      "suggest_name",
      [](const std::string &misspelt, nb::list candidates) {
        support::NearestName nearest(misspelt);
        for (nb::handle candidate : candidates)
          nearest.add(llvm::StringRef(utf8(candidate)));
        return nearest.hint();
      },
      nb::arg("misspelt"), nb::arg("candidates"),
      "The end of an error's text that names the nearest candidate; empty where none is near.");
  module.def(
      "sha256", [](nb::bytes bytes) { return driver::hashOf({static_cast<const char *>(bytes.data()), bytes.size()}); },
      nb::arg("bytes"), "SHA-256 in hex. Importing hashlib loads OpenSSL, which takes longer than a first launch.");
  module.def("builtins", &builtins, "Every built-in function of the language.");
  module.def("stdlib", &libraryFunctions, "Every function of the library that is written in the language.");
}
