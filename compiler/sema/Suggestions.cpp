// Collects the names that a look-up could have found.
// SPDX-License-Identifier: MIT
#include "compiler/sema/Suggestions.h"

#include "compiler/sema/Builtin.h"
#include "compiler/stdlib/Stdlib.h"
#include "compiler/support/NearestName.h"

using namespace nereid;
using namespace nereid::sema;

static constexpr llvm::StringLiteral languageModule = "triton.language";

static void addBuiltins(support::NearestName &nearest, llvm::StringRef module) {
  for (const Builtin *builtin : allBuiltins())
    if (builtin->module == module)
      nearest.add(builtin->name);
}

std::string sema::suggestVisible(TtFunctionEmitter &emitter, llvm::StringRef name) {
  support::NearestName nearest(name);
  for (const auto &[candidate, binding] : emitter.scope)
    nearest.add(candidate);
  if (!emitter.function.isStdlib)
    nearest.addAll(emitter.module.host.visibleNames(emitter.function));
  addBuiltins(nearest, "builtins");
  return nearest.hint();
}

std::string sema::suggestMember(llvm::StringRef givenModule, llvm::StringRef name) {
  const llvm::StringRef module = canonicalModule(givenModule);
  support::NearestName nearest(name);
  addBuiltins(nearest, module);
  for (const stdlib::Function &function : stdlib::functions())
    if (function.module == module && !function.name.starts_with("_"))
      nearest.add(function.name);
  if (module == languageModule)
#define SCALAR(id, name, abbreviation, signature, bits, kind) nearest.add(name);
#include "compiler/sema/Scalars.def"
    return nearest.hint();
}

std::string sema::suggestTensorAttribute(llvm::StringRef name) {
  support::NearestName nearest(name);
  for (const char *attribute : {"dtype", "type", "shape", "numel", "T"})
    nearest.add(attribute);
  for (const Builtin *builtin : allBuiltins())
    if (builtin->isMember)
      nearest.add(builtin->name);
  for (const stdlib::Function &function : stdlib::functions())
    if (function.isMember)
      nearest.add(function.name);
  return nearest.hint();
}

std::string sema::suggestTypeAttribute(llvm::StringRef name) {
  support::NearestName nearest(name);
  for (const char *attribute : {"element_ty",
                                "scalar",
                                "dtype",
                                "shape",
                                "numel",
                                "name",
                                "primitive_bitwidth",
                                "itemsize",
                                "is_ptr",
                                "is_block",
                                "is_floating",
                                "is_int",
                                "is_bool",
                                "is_int_signed",
                                "is_int_unsigned",
                                "is_fp8",
                                "is_fp16",
                                "is_bf16",
                                "is_fp32",
                                "is_fp64",
                                "is_int8",
                                "is_int16",
                                "is_int32",
                                "is_int64",
                                "is_uint8",
                                "is_uint16",
                                "is_uint32",
                                "is_uint64",
                                "int_bitwidth",
                                "int_signedness",
                                "fp_mantissa_width",
                                "exponent_bias",
                                "get_block_shapes",
                                "with_element_ty"})
    nearest.add(attribute);
  return nearest.hint();
}

std::string sema::suggestRecordAttribute(const RecordClass &record, llvm::StringRef name) {
  support::NearestName nearest(name);
  nearest.addAll(record.fields);
  for (const Builtin *builtin : allBuiltins())
    if (builtin->module == record.module && builtin->isMember)
      nearest.add(builtin->name);
  return nearest.hint();
}
