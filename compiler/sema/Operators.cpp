// Operators: folded as in Python where both sides are known, else emitted as IR.
// SPDX-License-Identifier: MIT
#include "compiler/sema/Diagnostics.h"
#include "compiler/sema/Suggestions.h"
#include "compiler/sema/TtFunctionEmitter.h"

using namespace mlir;
using nereid::syntax::BinaryOperator;
using nereid::syntax::CompareOperator;
using nereid::syntax::UnaryOperator;

namespace nereid::sema {

static bool isPointer(const Value &value) { return value.tensor() && value.tensor()->type.isPointer; }

/// The type of a tensor, what an object of the host is, the kind of any other value: an operand's name in messages.
static std::string operandName(TtFunctionEmitter &emitter, const Value &value) {
  if (value.is<HostValue>())
    return shown(emitter, value);
  return value.tensor() ? value.tensor()->type.str() : value.kindName();
}

//--- Objects with methods --------------------------------------------------------------------

static llvm::StringRef methodName(BinaryOperator op) {
  static constexpr llvm::StringLiteral names[] = {"__add__", "__sub__", "__mul__",     "__matmul__", "__truediv__",
                                                  "__mod__", "__pow__", "__lshift__",  "__rshift__", "__or__",
                                                  "__xor__", "__and__", "__floordiv__"};
  return names[static_cast<unsigned>(op)];
}

static llvm::StringRef methodName(CompareOperator op) {
  static constexpr llvm::StringLiteral names[] = {"__eq__", "__ne__", "__lt__", "__le__", "__gt__", "__ge__"};
  return static_cast<unsigned>(op) < std::size(names) ? llvm::StringRef(names[static_cast<unsigned>(op)])
                                                      : llvm::StringRef();
}

Value TtFunctionEmitter::callOperator(const Value &object, llvm::StringRef method,
                                      llvm::ArrayRef<PositionalArgument> args, SourceRange range) {
  const Value callee = attribute(object, method, range);
  return callee.isPoison() ? callee : call(callee, args, {}, range);
}

//--- Binary --------------------------------------------------------------------------------

namespace {
/// One operator on two tensors of one type.
struct BinaryEmission {
  TtFunctionEmitter &emitter;
  BinaryOperator op;
  const TensorValue &left, &right;
  SourceRange range;

  template <typename Op> Value emit() const {
    Op result = Op::create(emitter.builder, emitter.location(range), left.value, right.value);
    return Value::tensor(result, left.type);
  }
  Value onFloats() const {
    switch (op) {
    case BinaryOperator::Add:
      return emit<arith::AddFOp>();
    case BinaryOperator::Sub:
      return emit<arith::SubFOp>();
    case BinaryOperator::Mult:
      return emit<arith::MulFOp>();
    case BinaryOperator::Div:
      return emit<arith::DivFOp>();
    case BinaryOperator::Mod:
      return emit<arith::RemFOp>();
    default:
      return emitter.error(diag::IntegersOnly, range, spelling(op), left.type.str(), right.type.str());
    }
  }
  Value onIntegers(bool shiftsArithmetically) const {
    const bool isSigned = isSignedInteger(left.type.scalar);
    switch (op) {
    case BinaryOperator::Add:
      return emit<arith::AddIOp>();
    case BinaryOperator::Sub:
      return emit<arith::SubIOp>();
    case BinaryOperator::Mult:
      return emit<arith::MulIOp>();
    case BinaryOperator::FloorDiv:
      return isSigned ? emit<arith::DivSIOp>() : emit<arith::DivUIOp>();
    case BinaryOperator::Mod:
      return isSigned ? emit<arith::RemSIOp>() : emit<arith::RemUIOp>();
    case BinaryOperator::LeftShift:
      return emit<arith::ShLIOp>();
    case BinaryOperator::RightShift:
      return shiftsArithmetically ? emit<arith::ShRSIOp>() : emit<arith::ShRUIOp>();
    case BinaryOperator::BitAnd:
      return emit<arith::AndIOp>();
    case BinaryOperator::BitOr:
      return emit<arith::OrIOp>();
    case BinaryOperator::BitXor:
      return emit<arith::XOrIOp>();
    case BinaryOperator::Div:
    case BinaryOperator::Pow:
    case BinaryOperator::MatMult:
      return emitter.error(diag::UnsupportedOperator, range, spelling(op), left.type.str(), right.type.str(), "");
    }
    llvm_unreachable("an operator outside BinaryOperator");
  }
};

bool divides(BinaryOperator op) {
  return op == BinaryOperator::Div || op == BinaryOperator::FloorDiv || op == BinaryOperator::Mod;
}

bool isShift(BinaryOperator op) { return op == BinaryOperator::LeftShift || op == BinaryOperator::RightShift; }

/// Warns of a constant shift by the operand's width or more.
void warnOfWideShift(TtFunctionEmitter &emitter, const Value &operand, const Value &amount, SourceRange range) {
  std::optional<int64_t> shiftAmount = amount.asInt64();
  if (!shiftAmount || !operand.tensor() || *shiftAmount < int64_t{operand.tensor()->type.bits()})
    return;
  emitter.module.diagnostics.report(diag::WideShift, emitter.fileRange(range), *shiftAmount,
                                    operand.tensor()->type.bits());
}
} // namespace

Value TtFunctionEmitter::binary(BinaryOperator op, const Value &left, const Value &right, SourceRange range,
                                SourceRange opRange) {
  if (left.isPoison() || right.isPoison())
    return Value::poison();
  if (left.object())
    return callOperator(left, methodName(op), {{right, range}}, range);
  if (!left.tensor() && !right.tensor())
    return foldBinary(op, left, right, range);
  const bool isComputable = (left.tensor() || left.isNumber()) && (right.tensor() || right.isNumber()) &&
                            op != BinaryOperator::Pow && op != BinaryOperator::MatMult;
  if (!isComputable) {
    Value result = error(diag::UnsupportedOperator, range, spelling(op), operandName(*this, left),
                         operandName(*this, right), hintForOperands(op, left, right));
    lastDiagnostic->pointAt(opRange.begin);
    return result;
  }
  if (isPointer(left) || isPointer(right))
    return pointerArithmetic(op, left, right, range);
  if (isShift(op))
    warnOfWideShift(*this, left, right, range);
  Value a = left, b = right;
  if (!promoteTogether(a, b, range, divides(op))) {
    if (lastDiagnostic)
      lastDiagnostic->pointAt(opRange.begin);
    return Value::poison();
  }
  if (a.tensor()->type.scalar == Scalar::Float8E4B15) {
    const Value wide = binary(op, computable(a, range), computable(b, range), range, opRange);
    return cast(wide, Scalar::Float8E4B15, range);
  }
  if (op == BinaryOperator::Div && a.tensor()->type.isInt()) {
    a = cast(a, Scalar::Float32, range);
    b = cast(b, Scalar::Float32, range);
  }
  checkOverflow(op, a, b, range);
  const Scalar shifted = left.tensor() ? left.tensor()->type.scalar : a.tensor()->type.scalar;
  BinaryEmission emission{*this, op, *a.tensor(), *b.tensor(), range};
  return a.tensor()->type.isFloat() ? emission.onFloats() : emission.onIntegers(isSignedInteger(shifted));
}

static llvm::StringRef checkedName(BinaryOperator op) {
  switch (op) {
  case BinaryOperator::Add:
    return "add";
  case BinaryOperator::Sub:
    return "sub";
  case BinaryOperator::Mult:
    return "mul";
  default:
    return "";
  }
}

/// Asserts that the result of a sum, difference or product, computed in 64 bits, fits the operands' type. The library's
/// own integers wrap on purpose, and a combine region cannot hold an assertion.
void TtFunctionEmitter::checkOverflow(BinaryOperator op, const Value &left, const Value &right, SourceRange range) {
  const Type &type = left.tensor()->type;
  const bool isChecked = module.options.debug && module.options.sanitizeOverflow && checksOverflow &&
                         !function.isStdlib && type.isInt() && type.bits() < 64 && !checkedName(op).empty() &&
                         !builder.getInsertionBlock()->getParentOp()->getParentOfType<tt::ReduceOp>() &&
                         !isa<tt::ReduceOp>(builder.getInsertionBlock()->getParentOp());
  if (!isChecked)
    return;
  BinaryEmission emission{*this, op, *cast(left, Scalar::Int64, range).tensor(),
                          *cast(right, Scalar::Int64, range).tensor(), range};
  const Value wide = emission.onIntegers(/*shiftsArithmetically=*/true);
  const bool isSigned = isSignedInteger(type.scalar);
  const int64_t most = (int64_t{1} << (type.bits() - isSigned)) - 1, least = isSigned ? -most - 1 : 0;
  const Value low = compare(CompareOperator::GtE, wide, Value::integer(least), range, range);
  const Value high = compare(CompareOperator::LtE, wide, Value::integer(most), range, range);
  const Value fits = binary(BinaryOperator::BitAnd, low, high, range, range);
  const std::string message =
      llvm::formatv("int{0} overflow detected for operation {1}", type.bits(), checkedName(op)).str();
  tt::AssertOp::create(builder, location(range), fits.tensor()->value, builder.getStringAttr(message));
}

Value TtFunctionEmitter::pointerArithmetic(BinaryOperator op, Value left, Value right, SourceRange range) {
  if (isPointer(left) && isPointer(right))
    return error(diag::PointerArithmetic, range, "cannot add pointers together:", left.tensor()->type.str(),
                 right.tensor()->type.str());
  const bool swaps = op == BinaryOperator::Add && isPointer(right);
  Value pointer = swaps ? right : left;
  Value offset = toTensor(swaps ? left : right, range);
  if (offset.isPoison())
    return offset;
  const bool moves = (op == BinaryOperator::Add || op == BinaryOperator::Sub) && isPointer(pointer);
  if (!moves || !offset.tensor()->type.isInt())
    return error(diag::PointerArithmetic, range, "invalid operands of type", operandName(*this, left),
                 operandName(*this, right));
  // Offsets are signed: narrow unsigned ones are extended so that they do not become negative.
  if (isUnsignedInteger(offset.tensor()->type.scalar) && offset.tensor()->type.bits() < 64)
    offset = cast(offset, Scalar::Int64, range);
  if (op == BinaryOperator::Sub)
    offset = unary(UnaryOperator::Minus, offset, range);
  if (!broadcastTogether(pointer, offset, range))
    return Value::poison();
  return Value::tensor(tt::AddPtrOp::create(builder, location(range), pointer.tensor()->value.getType(),
                                            pointer.tensor()->value, offset.tensor()->value),
                       pointer.tensor()->type);
}

//--- Comparison ----------------------------------------------------------------------------

static std::optional<arith::CmpFPredicate> floatPredicate(CompareOperator op) {
  switch (op) {
  case CompareOperator::Eq:
    return arith::CmpFPredicate::OEQ;
  case CompareOperator::NotEq:
    return arith::CmpFPredicate::UNE;
  case CompareOperator::Lt:
    return arith::CmpFPredicate::OLT;
  case CompareOperator::LtE:
    return arith::CmpFPredicate::OLE;
  case CompareOperator::Gt:
    return arith::CmpFPredicate::OGT;
  case CompareOperator::GtE:
    return arith::CmpFPredicate::OGE;
  case CompareOperator::Is:
  case CompareOperator::IsNot:
  case CompareOperator::In:
  case CompareOperator::NotIn:
    return std::nullopt;
  }
  llvm_unreachable("an operator outside CompareOperator");
}

static arith::CmpIPredicate integerPredicate(arith::CmpFPredicate predicate, bool isSigned) {
  switch (predicate) {
  case arith::CmpFPredicate::OEQ:
    return arith::CmpIPredicate::eq;
  case arith::CmpFPredicate::OLT:
    return isSigned ? arith::CmpIPredicate::slt : arith::CmpIPredicate::ult;
  case arith::CmpFPredicate::OLE:
    return isSigned ? arith::CmpIPredicate::sle : arith::CmpIPredicate::ule;
  case arith::CmpFPredicate::OGT:
    return isSigned ? arith::CmpIPredicate::sgt : arith::CmpIPredicate::ugt;
  case arith::CmpFPredicate::OGE:
    return isSigned ? arith::CmpIPredicate::sge : arith::CmpIPredicate::uge;
  default:
    return arith::CmpIPredicate::ne;
  }
}

Value TtFunctionEmitter::compare(CompareOperator op, const Value &left, const Value &right, SourceRange range,
                                 SourceRange opRange) {
  if (left.isPoison() || right.isPoison())
    return Value::poison();
  const bool isIdentity = op == CompareOperator::Is || op == CompareOperator::IsNot;
  if (left.object() && !isIdentity && !methodName(op).empty())
    return callOperator(left, methodName(op), {{right, range}}, range);
  if (isIdentity || (!left.tensor() && !right.tensor()))
    return foldCompare(op, left, right, range);
  std::optional<arith::CmpFPredicate> predicate = floatPredicate(op);
  const bool isComputable = (left.tensor() || left.isNumber()) && (right.tensor() || right.isNumber());
  if (!predicate || !isComputable) {
    Value result = error(diag::UnsupportedComparison, range, spelling(op), operandName(*this, left),
                         operandName(*this, right), hintForComparison(op, right));
    lastDiagnostic->pointAt(opRange.begin);
    return result;
  }
  Value a = left, b = right;
  if (!promoteTogether(a, b, range)) {
    if (lastDiagnostic)
      lastDiagnostic->pointAt(opRange.begin);
    return Value::poison();
  }
  a = computable(a, range);
  b = computable(b, range);
  const Type &type = a.tensor()->type;
  mlir::Value x = a.tensor()->value, y = b.tensor()->value, result;
  if (type.isFloat())
    result = arith::CmpFOp::create(builder, location(range), *predicate, x, y);
  else
    result = arith::CmpIOp::create(builder, location(range), integerPredicate(*predicate, isSignedInteger(type.scalar)),
                                   x, y);
  return Value::tensor(result, type.withScalar(Scalar::Int1));
}

//--- Unary ---------------------------------------------------------------------------------

static Value foldUnary(TtFunctionEmitter &emitter, UnaryOperator op, const Value &operand, SourceRange range) {
  if (op == UnaryOperator::Not) {
    std::optional<bool> truth = emitter.constantTruth(operand, range);
    return truth ? Value(!*truth) : Value::poison();
  }
  if (const double *number = operand.get<double>(); number && op != UnaryOperator::Invert)
    return op == UnaryOperator::Minus ? Value(-*number) : operand;
  if (!operand.isNumber())
    return emitter.error(diag::UnaryKind, range, spelling(op), operand.kindName());
  if (operand.is<double>())
    return emitter.error(diag::UnsupportedUnary, range, spelling(op), operand.kindName());
  // `-x` is 0 - x and `~x` is -1 - x, for bools too.
  if (op == UnaryOperator::Plus)
    return emitter.binary(BinaryOperator::Add, Value::integer(0), operand, range, range);
  return emitter.binary(BinaryOperator::Sub, Value::integer(op == UnaryOperator::Minus ? 0 : -1), operand, range,
                        range);
}

Value TtFunctionEmitter::unary(UnaryOperator op, const Value &operand, SourceRange range) {
  if (operand.isPoison())
    return operand;
  const TensorValue *tensor = operand.tensor();
  if (!tensor)
    return foldUnary(*this, op, operand, range);
  if (op == UnaryOperator::Plus)
    return operand;
  if (op == UnaryOperator::Not) {
    if (const Type &type = tensor->type; !type.isPointer && type.bits() != 1)
      return error(diag::LogicNeedsBool, range, "not", type.str(), type.bits(), "compare it with 0 instead");
    Value truth = bitcast(operand, Scalar::Int1, range);
    return truth.isPoison() ? truth : unary(UnaryOperator::Invert, truth, range);
  }
  const Type &type = tensor->type;
  Location loc = location(range);
  if (op == UnaryOperator::Minus && type.scalar == Scalar::Float8E4B15 && !type.isPointer)
    return cast(unary(op, computable(operand, range), range), type.element(), range);
  if (op == UnaryOperator::Minus && type.isFloat())
    return Value::tensor(arith::NegFOp::create(builder, loc, tensor->value), type);
  if (!type.isInt())
    return error(op == UnaryOperator::Minus ? diag::UnaryMinus : diag::UnaryInvert, range, type.str());
  mlir::Type irType = tensor->value.getType();
  if (op == UnaryOperator::Minus) {
    auto zero = arith::ConstantOp::create(builder, loc, builder.getZeroAttr(irType));
    return Value::tensor(arith::SubIOp::create(builder, loc, zero, tensor->value), type);
  }
  Attribute ones = builder.getIntegerAttr(tt::elementOf(irType), llvm::APInt::getAllOnes(type.bits()));
  if (auto tile = dyn_cast<RankedTensorType>(irType))
    ones = SplatElementsAttr::get(tile, ones);
  auto mask = arith::ConstantOp::create(builder, loc, cast<TypedAttr>(ones));
  return Value::tensor(arith::XOrIOp::create(builder, loc, tensor->value, mask), type);
}

} // namespace nereid::sema
