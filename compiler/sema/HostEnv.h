// The interface to the environment that defines a kernel: it resolves names and evaluates host objects.
// SPDX-License-Identifier: MIT
//
// Python is one host; a .py file read without Python is another (FileHost).
#pragma once

#include "compiler/sema/Value.h"
#include "compiler/support/SourceFile.h"
#include "compiler/syntax/Ast.h"

#include "llvm/ADT/ArrayRef.h"

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>

namespace nereid::sema {

/// A jit function: its source, its tree and the scope of its free names.
struct JitFunction {
  std::string name;      ///< as in its `def`
  std::string qualified; ///< module and qualified name, for mangling: "mod.outer.kernel"
  std::shared_ptr<support::SourceFile> file;
  std::shared_ptr<syntax::AstContext> arena;
  const syntax::FunctionDef *definition = nullptr; ///< null until parsed
  bool noinline = false;
  bool isStdlib = false;
  bool isGluon = false; ///< decorated with `gluon.jit`
  HostRef scope;        ///< the host's handle for name look-up; null for the stdlib
  /// Default values by parameter index, evaluated by the host at definition time;
  /// where one is missing, the default's expression is evaluated instead.
  std::vector<std::optional<Value>> defaults;
  std::optional<std::string> mustUseResult; ///< dropping the result is an error; the text says what to do instead

  // --- Of a function defined inside another ------------------------------------------------
  /// Names of the enclosing functions that it reads, with their values when it was defined or last named there.
  std::vector<std::pair<std::string, Value>> captured;
  bool isNested = false;
  const void *definer = nullptr;           ///< the emitter of the enclosing function while that one names it
  std::shared_ptr<const void> definerTree; ///< keeps the enclosing tree alive
};

/// Whether both are the same function with the same captured values.
bool isSameFunction(const JitFunction &a, const JitFunction &b);

/// An exception of the host, as needed for a message.
struct HostError {
  std::string pythonClass; ///< "NameError", "AttributeError" ...
  std::string message;
  HostRef exception; ///< the exception object, kept as the cause; may be null
};
using HostResult = std::variant<Value, HostError>;
using HostKeywords = llvm::ArrayRef<std::pair<llvm::StringRef, Value>>;

class TtFunctionEmitter;

/// The position of a call in a kernel: ops that the host emits during the call are inserted there.
struct HostCallSite {
  TtFunctionEmitter *emitter = nullptr;
  support::SourceRange range;
};

class HostEnv {
public:
  virtual ~HostEnv();

  /// The meaning of a free name of `function`: captured variables, then globals. Nothing where the name does not exist.
  virtual std::optional<HostResult> lookup(const JitFunction &function, llvm::StringRef name) = 0;
  /// The free names that `lookup` would find, for suggestions.
  virtual std::vector<std::string> visibleNames(const JitFunction &function) { return {}; }
  virtual HostResult attribute(const HostRef &object, llvm::StringRef name) = 0;
  virtual HostResult item(const HostRef &object, const Value &index) = 0;
  virtual HostResult call(const HostRef &callee, llvm::ArrayRef<Value> args, HostKeywords keywords,
                          HostCallSite site) = 0;
  /// An attribute of a constant or a method of an aggregate, as Python's own object has it.
  virtual HostResult memberOf(const Value &object, llvm::StringRef name) = 0;
  /// As above, but nothing where the attribute is missing. An exception of the attribute's own code is an error.
  virtual std::optional<HostResult> findAttribute(const HostRef &object, llvm::StringRef name);
  /// A method that the host registered for all tensors; nothing where there is none of that name.
  virtual std::optional<HostResult> tensorMethod(llvm::StringRef name) { return std::nullopt; }
  /// The message for dropping the result of a call of `callee`; None where it may be dropped.
  virtual HostResult mustUseResult(const HostRef &callee) { return Value(); }
  /// Whether a value is an instance of a class; nothing where `object` is no class.
  virtual std::optional<std::variant<bool, HostError>> isInstance(const Value &value, const HostRef &object) = 0;
  /// `op` as written ("+", "==", "is", "in"); either side may be any constant.
  virtual HostResult binary(llvm::StringRef op, const Value &left, const Value &right) = 0;
  virtual std::variant<bool, HostError> truth(const HostRef &object) = 0;
  virtual std::variant<std::vector<Value>, HostError> iterate(const HostRef &object) = 0;
  virtual std::string repr(const HostRef &object) = 0;
  /// The object as messages name it: a class or function by its qualified name, others by class and shape.
  virtual std::string describe(const HostRef &object) { return repr(object); }
  /// `format(object, spec)` after the f-string conversion ('r', 's', 'a' or 0).
  virtual HostResult format(const Value &object, char conversion, llvm::StringRef spec) = 0;
  /// Output of static_print.
  virtual void print(llvm::StringRef text) = 0;
};

} // namespace nereid::sema
