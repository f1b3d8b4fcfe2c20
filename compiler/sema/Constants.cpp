// Reads the arguments of built-ins that must be compile-time constants.
// SPDX-License-Identifier: MIT
#include "compiler/sema/Diagnostics.h"
#include "compiler/sema/Suggestions.h"
#include "compiler/sema/TtFunctionEmitter.h"

namespace nereid::sema {

/// The type that was meant: by the name of another library's, by a text, or any.
static std::string hintForDtypeOf(TtFunctionEmitter &emitter, const Value &value) {
  const std::string *text = value.get<std::string>();
  const std::string hint = hintForDtype(text ? *text : shown(emitter, value));
  return hint.empty() ? "; types are `tl.float32`, `tl.int32`, ..." : hint;
}

static void reportExpected(TtFunctionEmitter &emitter, const Value &value, SourceRange range, llvm::StringRef what,
                           llvm::StringRef kind) {
  if (value.isPoison())
    return;
  if (value.isConstant())
    emitter.error(diag::WrongConstant, range, what, kind, value.kindName(), shown(emitter, value),
                  kind == "dtype" ? hintForDtypeOf(emitter, value) : "");
  else
    emitter.error(diag::NotConstant, range, what, kind, value.kindName(), value.repr());
}

std::optional<int64_t> TtFunctionEmitter::constantInt(const Value &value, SourceRange range, llvm::StringRef what) {
  if (std::optional<int64_t> number = value.asInt64())
    return number;
  reportExpected(*this, value, range, what, value.integer() ? "int of 64 bits" : "int");
  return std::nullopt;
}

std::optional<bool> TtFunctionEmitter::constantBool(const Value &value, SourceRange range, llvm::StringRef what) {
  if (const bool *truth = value.get<bool>())
    return *truth;
  if (const llvm::DynamicAPInt *number = value.integer())
    return *number != 0;
  if (value.isNone())
    return false;
  reportExpected(*this, value, range, what, "bool");
  return std::nullopt;
}

std::optional<std::string> TtFunctionEmitter::constantString(const Value &value, SourceRange range,
                                                             llvm::StringRef what) {
  if (const std::string *text = value.get<std::string>())
    return *text;
  reportExpected(*this, value, range, what, "str");
  return std::nullopt;
}

std::optional<llvm::SmallVector<int64_t>> TtFunctionEmitter::constantInts(const Value &value, SourceRange range,
                                                                          llvm::StringRef what) {
  llvm::SmallVector<int64_t> numbers;
  const std::vector<Value> *elements = value.elements();
  if (!elements) {
    std::optional<int64_t> number = constantInt(value, range, what);
    if (!number)
      return std::nullopt;
    numbers.push_back(*number);
    return numbers;
  }
  // `x.reshape((4, 8))` and `x.reshape(4, 8)` both arrive here.
  if (elements->size() == 1 && elements->front().elements())
    elements = elements->front().elements();
  for (const Value &element : *elements) {
    std::optional<int64_t> number = constantInt(element, range, what);
    if (!number)
      return std::nullopt;
    numbers.push_back(*number);
  }
  return numbers;
}

std::optional<Type> TtFunctionEmitter::constantType(const Value &value, SourceRange range, llvm::StringRef what) {
  if (const TypeValue *type = value.get<TypeValue>())
    return type->type;
  reportExpected(*this, value, range, what, "dtype");
  return std::nullopt;
}

} // namespace nereid::sema
