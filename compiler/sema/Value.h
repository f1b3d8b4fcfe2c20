// The value of a name or an expression of a kernel at compile time.
// SPDX-License-Identifier: MIT
//
// A value is either a constant (numbers, strings, types, tuples, functions, modules, any host object) or a tensor: an
// IR value with its type.
#pragma once

#include "compiler/sema/Type.h"

#include "mlir/IR/Value.h"
#include "llvm/ADT/DynamicAPInt.h"

#include <memory>
#include <string>
#include <variant>
#include <vector>

namespace nereid::sema {

struct Builtin;
struct JitFunction;
class Value;

/// A host object that only the HostEnv can interpret; shared and opaque.
class HostObject {
public:
  virtual ~HostObject();
};
using HostRef = std::shared_ptr<HostObject>;

struct NoneValue {};
struct EllipsisValue {};
/// The value of an expression with a reported error; it silences dependent errors.
struct PoisonValue {};

/// `tl.float32`, a pointer type, the type of a tile.
struct TypeValue {
  Type type;
};

/// A value with named parts that Triton treats as one: a block pointer, a tensor descriptor. Parts without a name are
/// not accessible.
struct RecordClass {
  llvm::StringLiteral name; ///< its name in messages
  llvm::ArrayRef<llvm::StringLiteral> fields;
  llvm::StringLiteral module; ///< the module whose built-ins are its methods
  /// Attributes other than parts; nothing where there is none of that name.
  std::optional<Value> (*attribute)(llvm::ArrayRef<Value> parts, llvm::StringRef name);
  bool showsParts = false; ///< whether its text names its parts, as that of a dataclass does
};

struct TupleValue {
  std::shared_ptr<const std::vector<Value>> elements;
  std::shared_ptr<const std::vector<std::string>> fields; ///< of a namedtuple, else null
  HostRef hostClass;                                      ///< of a namedtuple created by the host
  /// The class's name where this is an object with fields; null for tuples.
  std::shared_ptr<const std::string> className;
  bool keepsConstants = false;         ///< assignment keeps its numbers constant, as for fields of an aggregate
  const RecordClass *record = nullptr; ///< of a record: the elements are its parts

  bool isObject() const { return className != nullptr; }
};

/// `start:stop:step` of a subscript; parts may be None.
struct SliceValue {
  std::shared_ptr<const std::vector<Value>> parts;
};

struct BuiltinValue {
  const Builtin *builtin;
};

struct FunctionValue {
  std::shared_ptr<JitFunction> function;
};

/// A built-in module ("triton", "triton.language"), by its full name.
struct ModuleValue {
  std::string name;
};

/// Any other object of the host.
struct HostValue {
  HostRef object;
  bool isConstexpr = false; ///< held by a constexpr: `.value` is the object itself, not an attribute of it
};

/// `x.sum`: a function with its first argument.
struct MethodValue {
  std::shared_ptr<const Value> function;
  std::shared_ptr<const Value> self;
};

/// The iterable of a `for`: a call of `range(...)`.
struct RangeValue;

struct TensorValue {
  mlir::Value value;
  Type type;
};

/// A value of the front end: one of the kinds above.
class Value {
public:
  using Storage = std::variant<NoneValue, EllipsisValue, PoisonValue, bool, llvm::DynamicAPInt, double, std::string,
                               TypeValue, TupleValue, SliceValue, BuiltinValue, FunctionValue, ModuleValue, HostValue,
                               MethodValue, std::shared_ptr<const RangeValue>, TensorValue>;
  Value() = default; // None
  template <typename T, typename = std::enable_if_t<!std::is_same_v<std::decay_t<T>, Value>>>
  Value(T &&content) : storage(std::forward<T>(content)) {}
  static Value poison() { return PoisonValue{}; }
  static Value integer(int64_t number) { return llvm::DynamicAPInt(number); }
  static Value tuple(std::vector<Value> elements);
  static Value record(const RecordClass &record, std::vector<Value> parts);
  /// The type's layout is that of the IR value.
  static Value tensor(mlir::Value value, Type type);

  template <typename T> const T *get() const { return std::get_if<T>(&storage); }
  template <typename T> bool is() const { return std::holds_alternative<T>(storage); }
  bool isNone() const { return is<NoneValue>(); }
  bool isPoison() const { return is<PoisonValue>(); }
  bool isNumber() const { return is<bool>() || is<llvm::DynamicAPInt>() || is<double>(); }
  /// Whether the value is a constant; a tuple with a tensor in it is not.
  bool isConstant() const;
  const TensorValue *tensor() const { return get<TensorValue>(); }
  const llvm::DynamicAPInt *integer() const { return get<llvm::DynamicAPInt>(); }
  /// The integer, where this is an int or a bool that fits 64 bits.
  std::optional<int64_t> asInt64() const;
  const std::vector<Value> *elements() const; ///< of a tuple or an object with fields, else null
  const std::vector<Value> *parts() const;    ///< the same, or of a record
  /// The parts of a record of that class, else null.
  const std::vector<Value> *partsOf(const RecordClass &record) const;
  /// An aggregate or a dataclass, else null.
  const TupleValue *object() const {
    const auto *tuple = get<TupleValue>();
    return tuple && tuple->isObject() ? tuple : nullptr;
  }

  /// The name of its Python class: "int", "str", "NoneType", "tensor" ...
  std::string kindName() const;
  /// As Python's repr, for messages, f-strings and mangled names.
  std::string repr() const;

private:
  Storage storage;
};

struct RangeValue {
  Value begin, end, step; ///< ints or scalar tensors
  bool isStatic = false;  ///< unrolled while compiling
  std::optional<int64_t> numStages, loopUnrollFactor;
  bool disallowAccMultiBuffer = false, flatten = false, disableLicm = false;
  std::optional<bool> warpSpecialize; ///< nothing: not given
};

/// The value as a constexpr holds it: a parameter's, an annotated local's. Host objects in it are marked as constexpr.
Value asConstexpr(const Value &value);

/// Equality of constants, as by Python's `==`; tensors by identity.
bool sameConstant(const Value &a, const Value &b);

} // namespace nereid::sema
