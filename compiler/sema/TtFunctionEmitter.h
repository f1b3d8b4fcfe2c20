// Interprets the body of one function and emits its IR.
// SPDX-License-Identifier: MIT
//
// Its parts by file: Statements, Assignment, ControlFlow, Exits, Loops, LoopBounds, RuntimeLoops, Expressions,
// Subscripts, Attributes, Calls, Closures, Operators, Promotion, Casts, Constants.
#pragma once

#include "compiler/dialect/tt/Dialect.h"
#include "compiler/sema/Builtin.h"
#include "compiler/sema/HostEnv.h"
#include "compiler/sema/LoopBounds.h"
#include "compiler/sema/TtModuleEmitter.h"
#include "compiler/support/Diagnostic.h"
#include "compiler/syntax/Ast.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Builders.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/StringMap.h"

namespace nereid::sema {

using support::SourceRange;

/// A local name: its value, the range that assigned it, and whether it was declared `tl.constexpr` (then constants stay
/// constants).
struct Binding {
  Value value;
  SourceRange where;
  bool isConstexpr = false;
};

/// The local names of a function, in order of their first assignment.
using Scope = llvm::MapVector<llvm::StringRef, Binding>;

/// An argument of a call with its source range.
struct PositionalArgument {
  Value value;
  SourceRange range;
};
struct KeywordArgument {
  llvm::StringRef name;
  Value value;
  SourceRange range;
};

/// Statements that follow the current list; needed where a `return` in a branch makes the rest of the function part of
/// the other one.
struct Continuation {
  syntax::Block rest;
  const Continuation *next;
};

/// Whether control continues after a list of statements. `Ends`: the statements after it were already emitted, or are
/// unreachable.
enum class Flow { FallsThrough, Ends };

/// A loop whose body is being emitted.
struct LoopFrame {
  LoopFrame *outer = nullptr;
  llvm::SmallVector<llvm::StringRef> live; ///< names visible at the loop, whose values outlive an iteration
};

/// How a loop was left: flags that are constants or scalars, and the returned value.
struct LoopExit {
  Value breaks = false, returns = false;
  std::optional<Binding> result;
};

/// A run-time loop over a range, for reads of its variable after it.
struct EndedLoop {
  mlir::Operation *op = nullptr; ///< an scf.for, or an scf.while whose first result is the index after the last one
  LoopBounds bounds;
  Value before; ///< the name's value before the loop
};

/// One side of a run-time branch: its end, the values of its names there, and the value that it returns, if any.
struct Side {
  mlir::Block *block = nullptr;
  Scope scope;
  std::optional<Binding> returned;
};
using PathEmitter = llvm::function_ref<void()>;

/// The IR value of a tensor; null for None.
inline mlir::Value irValue(const Value &value) { return value.tensor() ? value.tensor()->value : mlir::Value(); }
template <typename T> const T &irValue(const T &argument) { return argument; }

class TtFunctionEmitter {
public:
  TtFunctionEmitter(TtModuleEmitter &module, JitFunction &function);

  // --- Common parts ------------------------------------------------------------------------
  TtModuleEmitter &module;
  JitFunction &function;
  mlir::OpBuilder &builder;
  Scope scope;

  mlir::Location location(SourceRange range);
  support::FileRange fileRange(SourceRange range) const { return {function.file.get(), range}; }

  /// Reports an error and returns poison, which silences dependent errors.
  template <typename... Args> Value error(const support::DiagnosticKind &kind, SourceRange range, Args &&...args) {
    return errorText(kind, range, llvm::formatv(kind.format.data(), std::forward<Args>(args)...).str());
  }
  /// The same with a complete message.
  Value errorText(const support::DiagnosticKind &kind, SourceRange range, std::string message);
  /// The last error reported, for notes.
  support::Diagnostic *lastDiagnostic = nullptr;
  Value hostError(const HostError &error, SourceRange range);
  Value fromHost(HostResult result, SourceRange range);

  /// Emits `Op` with a result of `type`; of arguments that are tensors it takes the IR values.
  template <typename Op, typename... Args> Value emit(const Type &type, SourceRange range, const Args &...args) {
    mlir::Type irType = type.toMlir(builder.getContext());
    mlir::Operation *op = Op::create(builder, location(range), irType, irValue(args)...);
    if (module.isGluon && !settleLayouts(op, range))
      return Value::poison();
    return Value::tensor(op->getResult(0), type);
  }

  //--- Layouts, in Gluon's language (gluon/Inference.cpp) --------------------------------------
  /// Gives the op's results the layouts that follow from those of its operands; false after an error, the op is erased.
  bool settleLayouts(mlir::Operation *op, SourceRange range);
  /// Tiles whose layout is still to be found get that of the others; false after an error: layouts differ.
  bool uniteLayouts(llvm::MutableArrayRef<Value> tensors, SourceRange range);
  /// Whether the warps here can hold a tile of `shape` in `layout`; reports an error otherwise.
  bool checkTileLayout(mlir::Attribute layout, llvm::ArrayRef<int64_t> shape, SourceRange range);

  //--- Statements and control flow -----------------------------------------------------------
  /// Runs `statements`, then those of `rest`; a returned value is stored in `returned`.
  Flow run(syntax::Block statements, const Continuation *rest);
  /// The function's returned value; None until a `return` was emitted.
  Value returned;
  SourceRange returnedAt;
  bool hasReturned = false;

  /// Emits an scf.if whose sides the two emitters fill; names that both sides have are joined.
  void branch(mlir::Value condition, SourceRange range, PathEmitter thenSide, PathEmitter elseSide);
  /// `a or b` of flags, each either a constant or a tensor.
  Value orFlags(const Value &a, const Value &b, SourceRange range);

  //--- Expressions -----------------------------------------------------------------------------
  Value evaluate(const syntax::Expr *expression);
  /// The value of a name; poison after an error.
  Value lookup(llvm::StringRef name, SourceRange range);
  /// The last index of the ended loop whose variable is `name`, where it is available here.
  std::optional<Value> lastIndex(llvm::StringRef name);
  /// Reports a name without a value here, with a note where it gets one, if anywhere.
  Value undefined(llvm::StringRef name, SourceRange range);
  /// `object.name`.
  Value attribute(const Value &object, llvm::StringRef name, SourceRange range);
  /// `object[index]`.
  Value item(const Value &object, const Value &index, SourceRange range);
  /// Truth of a condition that must be a constant; nothing after an error.
  std::optional<bool> constantTruth(const Value &value, SourceRange range);
  /// Truth of the condition of an `if`: a bool, an int or None.
  std::optional<bool> ifTruth(const Value &value, SourceRange range);
  /// A condition as a scalar i1, for a runtime `if` or `while`; null after an error.
  mlir::Value runtimeCondition(const Value &value, SourceRange range);
  /// Elements of a tuple or list, or of a host object that is iterable.
  std::optional<std::vector<Value>> elementsOf(const Value &value, SourceRange range);

  //--- Calls -------------------------------------------------------------------------------------
  Value call(const Value &callee, llvm::ArrayRef<PositionalArgument> args, llvm::ArrayRef<KeywordArgument> keywords,
             SourceRange range);
  Value callBuiltin(const Builtin &builtin, llvm::ArrayRef<PositionalArgument> args,
                    llvm::ArrayRef<KeywordArgument> keywords, SourceRange range);
  Value callFunction(std::shared_ptr<JitFunction> callee, llvm::ArrayRef<PositionalArgument> args,
                     llvm::ArrayRef<KeywordArgument> keywords, SourceRange range);

  //--- Operators (Operators.cpp, Promotion.cpp) ----------------------------------------------
  Value binary(syntax::BinaryOperator op, const Value &left, const Value &right, SourceRange range,
               SourceRange opRange);
  /// Whether overflow of integer sums, differences and products is checked where the options request it.
  bool checksOverflow = true;
  Value compare(syntax::CompareOperator op, const Value &left, const Value &right, SourceRange range,
                SourceRange opRange);
  Value unary(syntax::UnaryOperator op, const Value &operand, SourceRange range);
  /// Both operands as tensors of one element type and one shape, by the rules
  /// of binary arithmetic; false after an error. `divides`: the rule of `/` and `%`.
  /// `allowPointers`: pointers stay as they are (for `where` and pointer arithmetic).
  bool promoteTogether(Value &left, Value &right, SourceRange range, bool divides = false, bool allowPointers = false);
  /// Broadcasts both to tensors of one shape; their element types stay. False after an error.
  bool broadcastTogether(Value &left, Value &right, SourceRange range);

  //--- Casts (Casts.cpp) -----------------------------------------------------------
  /// Converts a number to a scalar of its default type (int32, float32 ...); a tensor stays. Anything else is an error.
  Value toTensor(const Value &value, SourceRange range);
  /// A number as a scalar of `type`; out of range is an error.
  Value constantOf(const Value &number, Scalar type, SourceRange range);
  /// `value.to(type)` of any number or tensor; `rounding` is "", "rtne" or "rtz".
  Value cast(const Value &value, const Type &element, SourceRange range, llvm::StringRef rounding = "");
  Value bitcast(const Value &value, const Type &element, SourceRange range);
  /// Whether the target supports the type, where it is fp8; false after an error.
  bool checkSupported(const Type &type, SourceRange range);
  /// fp8e4b15, which is held as raw bits in the IR, as fp16; other values as they are.
  Value computable(const Value &value, SourceRange range);
  /// Broadcasts a scalar or tile to exactly `shape`; rank must agree unless it is a scalar, which gets `layout`.
  Value broadcastTo(const Value &value, llvm::ArrayRef<int64_t> shape, SourceRange range, mlir::Attribute layout = {});
  /// The value of a plain name after assignment of a constant: numbers become tensors.
  Value decay(const Value &value, SourceRange range);

  //--- Constants that built-ins take as arguments (Constants.cpp) -----------------------------
  std::optional<int64_t> constantInt(const Value &value, SourceRange range, llvm::StringRef what);
  std::optional<bool> constantBool(const Value &value, SourceRange range, llvm::StringRef what);
  std::optional<std::string> constantString(const Value &value, SourceRange range, llvm::StringRef what);
  /// A tuple or list of ints, or one int: extents, axes, permutations.
  std::optional<llvm::SmallVector<int64_t>> constantInts(const Value &value, SourceRange range, llvm::StringRef what);
  std::optional<Type> constantType(const Value &value, SourceRange range, llvm::StringRef what);

  /// Binds `args` and `keywords` to names with optional defaults; false after an error.
  /// Shared by built-ins and functions. A missing argument leaves nothing in its slot.
  struct ParameterBinding {
    llvm::StringRef name;
    bool hasDefault = false;
    bool takesRest = false; ///< `*args`
    std::optional<Value> value;
    SourceRange range;
  };
  bool bind(llvm::StringRef callee, llvm::MutableArrayRef<ParameterBinding> bindings,
            llvm::ArrayRef<PositionalArgument> args, llvm::ArrayRef<KeywordArgument> keywords, SourceRange range);

private:
  void dropUnknownKeywords(const Builtin &builtin, llvm::SmallVectorImpl<KeywordArgument> &keywords);
  std::optional<Value> defaultOfParameter(JitFunction &callee, size_t index);
  // Statements.cpp
  Flow runStatement(const syntax::Stmt *statement, syntax::Block after, const Continuation *rest, bool &tookRest);
  void runAssert(const syntax::Assert *statement);
  void poisonNamesOf(const syntax::Stmt *statement);
  void runWith(const syntax::With *statement);
  std::optional<std::string> resultToUse(const syntax::Expr *expression);
  void runExpressionStatement(const syntax::ExprStmt *statement);
  // Assignment.cpp
  void assignTo(const syntax::Expr *target, const Value &value, bool isConstexpr, SourceRange range);
  void assignName(llvm::StringRef name, const Value &value, bool isConstexpr, SourceRange range);
  void assignElements(syntax::ExprList targets, const Value &value, bool isConstexpr, SourceRange range);
  void runAssign(const syntax::Assign *statement);
  void runAugAssign(const syntax::AugAssign *statement);
  void runAnnAssign(const syntax::AnnAssign *statement);
  // ControlFlow.cpp
  Flow runIf(const syntax::If *statement, syntax::Block after, const Continuation *rest, bool &tookRest);
  void mergeNames(mlir::scf::IfOp shell, const Scope &before, const Side (&sides)[2],
                  llvm::ArrayRef<llvm::StringRef> names);
  /// The value of a name on the two sides as tensors; nothing (and a poisoned name) after an error.
  std::optional<std::pair<Value, Value>> mergeName(llvm::StringRef name, const Scope &before, const Binding &thenSide,
                                                   const Binding &elseSide,
                                                   std::pair<mlir::Block *, mlir::Block *> blocks);
  Value runtimeSelect(const syntax::IfExp *expression, mlir::Value condition);
  // Exits.cpp
  void runReturn(const syntax::Return *statement);
  void runBreak(SourceRange range);
  /// Ends the path with this returned value.
  void leave(const Value &value, SourceRange range);
  std::optional<Binding> returnedHere() const;
  /// Emits an scf.if whose sides run to the end of the path: nothing of the function or the loop's body follows it.
  void splitPath(mlir::Value condition, SourceRange range, PathEmitter thenSide, PathEmitter elseSide);
  bool joinReturned(Side (&sides)[2], SourceRange range);
  void enterLoop(LoopFrame &frame);
  void leaveLoop();
  void clearFlags();
  llvm::SmallVector<llvm::StringRef> visibleNames() const;
  LoopExit takeExit();
  void putExit(const LoopExit &exit);
  Flow afterLoop(const LoopExit &exit, SourceRange range, syntax::Block after, const Continuation *rest,
                 bool &tookRest);
  // Loops.cpp
  Flow runFor(const syntax::For *statement, syntax::Block after, const Continuation *rest, bool &tookRest);
  void checkBodyAlone(const syntax::For *statement);
  std::optional<int64_t> staticTripCount(const RangeValue &range, SourceRange where);
  LoopExit unroll(const syntax::For *statement, const RangeValue &range);
  void emitUnlessExited(const Value &stops, SourceRange range, const LoopExit &exit, PathEmitter once);
  // LoopBounds.cpp
  bool readBounds(const RangeValue &range, SourceRange where, Value (&bounds)[3], Scalar &type);
  void assertStep(mlir::Value step, SourceRange where);
  std::optional<LoopBounds> loopBounds(const RangeValue &range, SourceRange where);
  // RuntimeLoops.cpp
  LoopExit runtimeFor(const syntax::For *statement, const RangeValue &range);
  mlir::Value whileTest(const syntax::While *statement, mlir::Value isActive, bool &neverRuns);
  LoopExit runtimeWhile(const syntax::While *statement);
  Flow runWhile(const syntax::While *statement, syntax::Block after, const Continuation *rest, bool &tookRest);
  // Expressions.cpp
  Value evaluateBinOp(const syntax::BinOp *expression);
  /// Adds notes with both operands' types and positions if an error was reported since `errorsBefore`.
  void noteOperands(size_t errorsBefore, const Value &left, SourceRange leftRange, const Value &right,
                    SourceRange rightRange);
  Value evaluateConstant(const syntax::Constant *constant);
  Value combineFlags(const syntax::BoolOp *expression, const Value &left, size_t leftIndex, const Value &right,
                     size_t index);
  Value evaluateBoolOp(const syntax::BoolOp *expression);
  Value evaluateCompare(const syntax::Compare *expression);
  Value evaluateIfExp(const syntax::IfExp *expression);
  Value evaluateCall(const syntax::Call *expression);
  Value evaluateListComp(const syntax::ListComp *expression);
  Value evaluateJoinedStr(const syntax::JoinedStr *expression);
  Value evaluateElements(syntax::ExprList elements);
  Value evaluateSubscript(const syntax::Subscript *expression);
  // Subscripts.cpp
  Value subscriptTile(const Value &tile, const Value &index, SourceRange range);
  // Closures.cpp
  Value makeFunction(const syntax::FunctionDef *definition, std::shared_ptr<syntax::AstContext> arena);
  /// A copy of a function nested in this one, with the present values of the names that it captures.
  Value recapture(const Value &value) const;
  /// This nested function, for a reference to itself.
  Value itself() const;
  Value evaluateLambda(const syntax::Lambda *lambda);
  void runFunctionDef(const syntax::FunctionDef *statement);
  // Attributes.cpp
  Value recordAttribute(const Value &object, const RecordClass &record, llvm::StringRef name, SourceRange range);
  Value tensorAttribute(const Value &tensor, llvm::StringRef name, SourceRange range);
  Value typeAttribute(const Type &type, llvm::StringRef name, SourceRange range);
  // Operators.cpp
  Value callOperator(const Value &object, llvm::StringRef method, llvm::ArrayRef<PositionalArgument> args,
                     SourceRange range);
  Value foldBinary(syntax::BinaryOperator op, const Value &left, const Value &right, SourceRange range);
  Value foldCompare(syntax::CompareOperator op, const Value &left, const Value &right, SourceRange range);
  void checkOverflow(syntax::BinaryOperator op, const Value &left, const Value &right, SourceRange range);
  Value pointerArithmetic(syntax::BinaryOperator op, Value left, Value right, SourceRange range);

  /// Ended loops by their variable, until that is assigned again.
  llvm::StringMap<EndedLoop> endedLoops;
  /// Names declared `x: tl.constexpr` without a value: the next assignment keeps constants.
  llvm::SmallVector<llvm::StringRef, 2> declaredConstexpr;
  LoopFrame *loop = nullptr; ///< the innermost loop
};

/// A value as described in messages: a tensor's type, or kind and value of a constant.
std::string describe(const Value &value);
/// A constant as messages show it; an object of the host as that describes it.
std::string shown(TtFunctionEmitter &emitter, const Value &value);
/// Reports a value that is no operand of arithmetic.
Value notATensor(TtFunctionEmitter &emitter, const Value &value, SourceRange range);

/// Whether an annotation is constexpr: `tl.constexpr`, `constexpr`, or a string with that word in it.
bool isConstexprAnnotation(const syntax::Expr *annotation);

} // namespace nereid::sema
