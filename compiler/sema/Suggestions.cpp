// Collects the names that a look-up could have found.
// SPDX-License-Identifier: MIT
#include "compiler/sema/Suggestions.h"

#include "compiler/sema/Builtin.h"
#include "compiler/sema/TileShape.h"
#include "compiler/stdlib/Stdlib.h"
#include "compiler/support/NearestName.h"

#include "llvm/ADT/StringSwitch.h"

using namespace nereid;
using namespace nereid::sema;

static constexpr llvm::StringLiteral languageModule = "triton.language";

static void addBuiltins(support::NearestName &nearest, llvm::StringRef module) {
  for (const Builtin *builtin : allBuiltins())
    if (builtin->module == module)
      nearest.add(builtin->name);
}

/// Functions of Python that kernels lack, and what serves instead.
static llvm::StringRef insteadOf(llvm::StringRef name) {
  return llvm::StringSwitch<llvm::StringRef>(name)
      .Case("sum", "use `tl.sum`")
      .Case("all", "use `tl.min` of the tile")
      .Case("any", "use `tl.max` of the tile")
      .Case("round", "use `libdevice.rint`")
      .Case("pow", "use `libdevice.pow`")
      .Case("abs", "use `tl.abs`")
      .Case("divmod", "use `//` and `%`")
      .Cases({"str", "repr", "format"}, "print tensors with `tl.device_print`")
      .Case("type", "use `.dtype`, or `isinstance`")
      .Cases({"next", "iter"}, "loop with `range` or `tl.static_range`")
      .Cases({"setattr", "delattr"}, "values of kernels do not change; assign a new one to the name")
      .Cases({"eval", "exec", "compile"}, "kernels are compiled, and run no text")
      .Case("sorted", "use `tl.sort`")
      .Case("reversed", "use `tl.flip`, or a `range` with a negative step")
      .Cases({"enumerate", "zip"}, "loop over the indices with `range` or `tl.static_range`")
      .Cases({"map", "filter"}, "write a loop, or use `tl.map_elementwise`")
      .Cases({"open", "input"}, "kernels reach memory only, through their arguments")
      .Case("breakpoint", "it stops in interpreter mode, with TRITON_INTERPRET=1")
      .Cases({"dict", "set"}, "use a tuple, or a tl.constexpr defined outside of the kernel")
      .Default("");
}

std::string sema::hintForName(TtFunctionEmitter &emitter, llvm::StringRef name) {
  if (llvm::StringRef instead = insteadOf(name); !instead.empty())
    return ("; " + instead).str();
  support::NearestName nearest(name);
  for (const auto &[candidate, binding] : emitter.scope)
    nearest.add(candidate);
  if (!emitter.function.isStdlib)
    nearest.addAll(emitter.module.host.visibleNames(emitter.function));
  addBuiltins(nearest, "builtins");
  return nearest.hint();
}

bool sema::isOwnModule(llvm::StringRef module) { return module == "triton" || module.starts_with(languageModule); }

std::string sema::hintForLibdevice(llvm::StringRef name) {
  if (!findBuiltin("triton.language.extra.libdevice", name))
    return "";
  return ("; use `libdevice." + name + "` of triton.language.extra").str();
}

/// Functions that array libraries have and the language lacks, or has under another name.
static llvm::StringRef insteadOfMember(llvm::StringRef name) {
  return llvm::StringSwitch<llvm::StringRef>(name)
      .Cases({"mean", "average"}, "divide `tl.sum` by the count")
      .Case("relu", "use `tl.maximum(x, 0)`")
      .Cases({"matmul", "mm", "bmm"}, "use `tl.dot`")
      .Cases({"round", "rint", "around"}, "use `libdevice.rint` of triton.language.extra")
      .Case("print", "use `tl.device_print`, or `tl.static_print` for constants")
      .Cases({"ones", "empty"}, "use `tl.full`")
      .Cases({"ones_like", "empty_like", "full_like"}, "use `tl.full` with `x.shape` and `x.dtype`")
      .Cases({"array", "asarray", "tensor", "as_tensor"}, "tiles come from `tl.load`, `tl.arange` and `tl.full`")
      .Cases({"absolute", "fabs"}, "use `tl.abs`")
      .Cases({"amax", "amin"}, "use `tl.max` and `tl.min`")
      .Case("clip", "use `tl.clamp`")
      .Cases({"concatenate", "concat"}, "use `tl.cat`")
      .Cases({"stack", "vstack", "hstack"}, "use `tl.join`")
      .Cases({"transpose", "swapaxes"}, "use `tl.trans` or `tl.permute`")
      .Cases({"unsqueeze", "squeeze"}, "index with `[:, None]`, or use `tl.expand_dims` and `tl.reshape`")
      .Case("expit", "use `tl.sigmoid`")
      .Cases({"power", "float_power"}, "use `libdevice.pow` of triton.language.extra")
      .Case("square", "multiply it by itself")
      .Case("reciprocal", "write `1 / x`")
      .Cases({"add", "subtract", "sub", "multiply", "mul", "divide", "div", "true_divide"}, "use the operator")
      .Cases({"floor_divide", "remainder", "mod", "fmod", "divmod"}, "use `//` and `%`")
      .Cases({"equal", "not_equal", "greater", "less", "greater_equal", "less_equal"}, "use the comparison")
      .Cases({"logical_and", "logical_or", "logical_not", "logical_xor"}, "use `&`, `|`, `^` and `~` of conditions")
      .Cases({"bitwise_and", "bitwise_or", "bitwise_xor", "bitwise_not", "invert"}, "use the operator")
      .Cases({"arcsin", "arccos", "arctan", "arctan2", "arcsinh", "arccosh", "arctanh"},
             "use `asin`, `acos`, ... of `libdevice` of triton.language.extra")
      .Case("libdevice", "import it: `from triton.language.extra import libdevice`")
      .Default("");
}

static bool isInLanguage(llvm::StringRef name) {
  for (llvm::StringRef module : {languageModule, llvm::StringLiteral("triton.language.math")})
    if (findBuiltin(module, name) || stdlib::find(module, name))
      return true;
  return false;
}

std::string sema::hintForFunction(llvm::StringRef name) {
  if (isInLanguage(name))
    return ("; use `tl." + name + "`").str();
  if (llvm::StringRef instead = insteadOfMember(name); !instead.empty())
    return ("; " + instead).str();
  return hintForLibdevice(name);
}

std::string sema::suggestMember(llvm::StringRef givenModule, llvm::StringRef name) {
  const llvm::StringRef module = canonicalModule(givenModule);
  const bool isPackage = givenModule == "triton"; // its users may mean a name of the language
  if (isPackage && (isInLanguage(name) || name == "constexpr"))
    return ("; use `tl." + name + "`").str();
  if (std::string hint = hintForDtype(name); isPackage && !hint.empty())
    return hint;
  if (module == languageModule && llvm::is_contained({"jit", "autotune", "heuristics", "next_power_of_2"}, name))
    return ("; use `triton." + name + "`").str();
  if (llvm::StringRef instead = insteadOfMember(name); module == languageModule && !instead.empty())
    return ("; " + instead).str();
  if (std::string hint = hintForLibdevice(name); module == languageModule && !hint.empty())
    return hint;
  support::NearestName nearest(name);
  addBuiltins(nearest, module);
  for (const stdlib::Function &function : stdlib::functions())
    if (function.module == module && !function.name.starts_with("_"))
      nearest.add(function.name);
  if (module == languageModule)
    for (const artifact::ElementInfo &info : artifact::kElementTypes)
      nearest.add(info.name);
  return nearest.hint();
}

/// The type of the language that has a name of Python's, NumPy's or torch's; empty for others.
static llvm::StringRef scalarNamed(llvm::StringRef name) {
  if (const auto type = artifact::elementNamed(name))
    return nameOf(*type);
  return llvm::StringSwitch<llvm::StringRef>(name)
      .Case("single", "float32")
      .Case("intc", "int32")
      .Cases({"char", "byte"}, "int8")
      .Default("");
}

std::string sema::hintForDtype(llvm::StringRef name) {
  const llvm::StringRef scalar = scalarNamed(name.substr(name.rfind('.') + 1));
  return scalar.empty() ? "" : ("; use `tl." + scalar + "`").str();
}

std::string sema::hintForConversion(llvm::StringRef name) {
  const llvm::StringRef scalar = scalarNamed(name.substr(name.rfind('.') + 1));
  return scalar.empty() ? "" : ("; use `.to(tl." + scalar + ")`").str();
}

/// Methods of torch's and NumPy's arrays, and what serves instead.
static llvm::StringRef insteadOfMethod(llvm::StringRef name) {
  return llvm::StringSwitch<llvm::StringRef>(name)
      .Cases({"size", "stride", "strides", "ndim", "dim", "nbytes", "is_contiguous"},
             "kernels do not know the arrays behind pointers; pass it as an argument")
      .Cases({"astype", "type_as"}, "use `.to(...)` with a dtype")
      .Case("mean", "divide `tl.sum` by the count")
      .Cases({"unsqueeze", "squeeze"}, "index with `[:, None]`, or use `tl.expand_dims` and `tl.reshape`")
      .Cases({"matmul", "mm", "bmm", "dot"}, "use `tl.dot`")
      .Cases({"transpose", "t"}, "use `tl.trans`")
      .Cases({"add", "sub", "mul", "div", "add_", "sub_", "mul_", "div_"}, "use the operator")
      .Cases({"fill", "fill_", "zero_", "copy_"}, "tiles do not change; make a new one with `tl.full`")
      .Cases({"clone", "copy", "contiguous", "detach", "cpu", "cuda", "numpy"}, "a tile is a value; leave it out")
      .Cases({"tolist", "data_ptr", "data"}, "a tile has no address; `tl.store` writes it to memory")
      .Default("");
}

std::string sema::suggestTensorAttribute(llvm::StringRef name) {
  if (llvm::StringRef instead = insteadOfMethod(name); !instead.empty())
    return ("; " + instead).str();
  if (llvm::StringRef scalar = scalarNamed(name); !scalar.empty())
    return ("; use `.to(tl." + scalar + ")`").str();
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

/// Whether shapes of one rank broadcast.
static bool broadcasts(llvm::ArrayRef<int64_t> left, llvm::ArrayRef<int64_t> right) {
  return llvm::all_of(llvm::zip_equal(left, right), [](auto extents) {
    auto [a, b] = extents;
    return a == b || a == 1 || b == 1;
  });
}

std::string sema::hintForAlignment(llvm::ArrayRef<int64_t> left, llvm::ArrayRef<int64_t> right) {
  llvm::ArrayRef<int64_t> lesser = left.size() < right.size() ? left : right;
  llvm::ArrayRef<int64_t> greater = left.size() < right.size() ? right : left;
  if (lesser.empty() || lesser.size() + 1 != greater.size())
    return "";
  for (size_t axis = 0; axis <= lesser.size(); ++axis) {
    llvm::SmallVector<int64_t> aligned(lesser);
    aligned.insert(aligned.begin() + axis, 1);
    if (!broadcasts(aligned, greater))
      continue;
    llvm::SmallVector<llvm::StringRef> index(aligned.size(), ":");
    index[axis] = "None";
    return llvm::formatv("; index the tile of shape {0} with [{1}] to align it", shapeText(lesser),
                         llvm::join(index, ", "));
  }
  return "";
}

/// Whether it is a block pointer or a descriptor.
static bool isRecord(const Value &value) { return value.parts() && !value.elements(); }

llvm::StringRef sema::hintForOperands(syntax::BinaryOperator op, const Value &left, const Value &right) {
  if (left.is<std::string>() || right.is<std::string>())
    return "; a tensor has no value while the kernel compiles: pass it to `tl.device_print` as an argument";
  if (left.isNone() || right.isNone())
    return "; a function that returns nothing gives None, and so does a parameter without a value";
  if (isRecord(left) || isRecord(right))
    return "; block pointers move by `tl.advance`, descriptors take offsets in `load` and `store`";
  if (op == syntax::BinaryOperator::MatMult)
    return "; use `tl.dot`";
  return op == syntax::BinaryOperator::Pow ? "; use `libdevice.pow`, or multiply" : "";
}

llvm::StringRef sema::hintForComparison(syntax::CompareOperator op, const Value &right) {
  if (op != syntax::CompareOperator::In && op != syntax::CompareOperator::NotIn)
    return "";
  if (right.tensor())
    return "; compare with `==`, and reduce with `tl.max`";
  return right.elements() ? "; compare with each element: `(x == 1) | (x == 2)`" : "";
}

llvm::StringRef sema::hintForTypes(const Value &one, const Value &other) {
  const TensorValue *left = one.tensor(), *right = other.tensor();
  if (!left || !right || left->type.isPointer || right->type.isPointer)
    return "";
  return left->type.shape == right->type.shape ? "; cast one of them with `.to(...)`" : "";
}

void sema::noteExtreme(TtFunctionEmitter &emitter, SourceRange range) {
  const llvm::StringRef function = emitter.function.name;
  if (!emitter.lastDiagnostic || !emitter.function.isStdlib || (function != "max" && function != "min"))
    return;
  emitter.lastDiagnostic->note(
      llvm::formatv("`tl.{0}` reduces a tile along an axis; `tl.{0}imum` takes the {0}imum of two values", function)
          .str(),
      emitter.module.userFileRange(emitter.fileRange(range), emitter.function));
}
