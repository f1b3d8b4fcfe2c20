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

//--- What each operator means --------------------------------------------------------------

namespace {
using CreateOp = mlir::Value (*)(OpBuilder &, Location, mlir::Value, mlir::Value);

template <typename Op> mlir::Value create(OpBuilder &builder, Location loc, mlir::Value left, mlir::Value right) {
  return Op::create(builder, loc, left, right);
}

/// The method of objects, and the ops on tensors; null where there is none.
struct BinaryRow {
  BinaryOperator op;
  llvm::StringLiteral method;
  CreateOp ofFloats, ofSigned, ofUnsigned;
};
struct CompareRow {
  CompareOperator op;
  llvm::StringLiteral method;
  arith::CmpFPredicate ofFloats;
  arith::CmpIPredicate ofSigned, ofUnsigned;
};
} // namespace

static const BinaryRow &rowOf(BinaryOperator op) {
  using enum BinaryOperator;
  static constexpr BinaryRow rows[] = {
      {Add, "__add__", create<arith::AddFOp>, create<arith::AddIOp>, create<arith::AddIOp>},
      {Sub, "__sub__", create<arith::SubFOp>, create<arith::SubIOp>, create<arith::SubIOp>},
      {Mult, "__mul__", create<arith::MulFOp>, create<arith::MulIOp>, create<arith::MulIOp>},
      {MatMult, "__matmul__", nullptr, nullptr, nullptr},
      {Div, "__truediv__", create<arith::DivFOp>, nullptr, nullptr},
      {Mod, "__mod__", create<arith::RemFOp>, create<arith::RemSIOp>, create<arith::RemUIOp>},
      {Pow, "__pow__", nullptr, nullptr, nullptr},
      {LeftShift, "__lshift__", nullptr, create<arith::ShLIOp>, create<arith::ShLIOp>},
      {RightShift, "__rshift__", nullptr, create<arith::ShRSIOp>, create<arith::ShRUIOp>},
      {BitOr, "__or__", nullptr, create<arith::OrIOp>, create<arith::OrIOp>},
      {BitXor, "__xor__", nullptr, create<arith::XOrIOp>, create<arith::XOrIOp>},
      {BitAnd, "__and__", nullptr, create<arith::AndIOp>, create<arith::AndIOp>},
      {FloorDiv, "__floordiv__", nullptr, create<arith::DivSIOp>, create<arith::DivUIOp>},
  };
  return *llvm::find_if(rows, [op](const BinaryRow &row) { return row.op == op; });
}

/// Null for the operators that only constants have.
static const CompareRow *rowOf(CompareOperator op) {
  using enum CompareOperator;
  using Float = arith::CmpFPredicate;
  using Integer = arith::CmpIPredicate;
  static constexpr CompareRow rows[] = {
      {Eq, "__eq__", Float::OEQ, Integer::eq, Integer::eq},   {NotEq, "__ne__", Float::UNE, Integer::ne, Integer::ne},
      {Lt, "__lt__", Float::OLT, Integer::slt, Integer::ult}, {LtE, "__le__", Float::OLE, Integer::sle, Integer::ule},
      {Gt, "__gt__", Float::OGT, Integer::sgt, Integer::ugt}, {GtE, "__ge__", Float::OGE, Integer::sge, Integer::uge},
  };
  const CompareRow *row = llvm::find_if(rows, [op](const CompareRow &each) { return each.op == op; });
  return row == std::end(rows) ? nullptr : row;
}

Value TtFunctionEmitter::callOperator(const Value &object, llvm::StringRef method,
                                      llvm::ArrayRef<PositionalArgument> args, SourceRange range) {
  const Value callee = attribute(object, method, range);
  return callee.isPoison() ? callee : call(callee, args, {}, range);
}

//--- Binary --------------------------------------------------------------------------------

/// One operator on two tensors of one type. A right shift is signed by the type of the shifted value.
static Value emitBinary(TtFunctionEmitter &emitter, BinaryOperator op, const TensorValue &left,
                        const TensorValue &right, SourceRange range, bool isSigned) {
  const BinaryRow &row = rowOf(op);
  const bool areFloats = left.type.isFloat();
  if (CreateOp create = areFloats ? row.ofFloats : isSigned ? row.ofSigned : row.ofUnsigned)
    return Value::tensor(create(emitter.builder, emitter.location(range), left.value, right.value), left.type);
  const std::string x = left.type.str(), y = right.type.str();
  return areFloats ? emitter.error(diag::IntegersOnly, range, spelling(op), x, y)
                   : emitter.error(diag::UnsupportedOperator, range, spelling(op), x, y, "");
}

namespace {
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
    return callOperator(left, rowOf(op).method, {{right, range}}, range);
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
  const TensorValue &signs = op == BinaryOperator::RightShift && left.tensor() ? *left.tensor() : *a.tensor();
  return emitBinary(*this, op, *a.tensor(), *b.tensor(), range, isSignedInteger(signs.type.scalar));
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
  const Value a = cast(left, Scalar::Int64, range), b = cast(right, Scalar::Int64, range);
  const Value wide = emitBinary(*this, op, *a.tensor(), *b.tensor(), range, /*isSigned=*/true);
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
  return emit<tt::AddPtrOp>(pointer.tensor()->type, range, pointer, offset);
}

//--- Comparison ----------------------------------------------------------------------------

Value TtFunctionEmitter::compare(CompareOperator op, const Value &left, const Value &right, SourceRange range,
                                 SourceRange opRange) {
  if (left.isPoison() || right.isPoison())
    return Value::poison();
  const bool isIdentity = op == CompareOperator::Is || op == CompareOperator::IsNot;
  const CompareRow *row = rowOf(op);
  if (left.object() && row)
    return callOperator(left, row->method, {{right, range}}, range);
  if (isIdentity || (!left.tensor() && !right.tensor()))
    return foldCompare(op, left, right, range);
  const bool isComputable = (left.tensor() || left.isNumber()) && (right.tensor() || right.isNumber());
  if (!row || !isComputable) {
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
  const Type truth = type.withScalar(Scalar::Int1);
  if (type.isFloat())
    return emit<arith::CmpFOp>(truth, range, row->ofFloats, a, b);
  return emit<arith::CmpIOp>(truth, range, isSignedInteger(type.scalar) ? row->ofSigned : row->ofUnsigned, a, b);
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
    return emit<arith::NegFOp>(type, range, operand);
  if (!type.isInt())
    return error(op == UnaryOperator::Minus ? diag::UnaryMinus : diag::UnaryInvert, range, type.str());
  mlir::Type irType = tensor->value.getType();
  if (op == UnaryOperator::Minus) {
    auto zero = arith::ConstantOp::create(builder, loc, builder.getZeroAttr(irType));
    return emit<arith::SubIOp>(type, range, zero.getResult(), operand);
  }
  Attribute ones = builder.getIntegerAttr(tt::elementOf(irType), llvm::APInt::getAllOnes(type.bits()));
  if (auto tile = dyn_cast<RankedTensorType>(irType))
    ones = SplatElementsAttr::get(tile, ones);
  auto mask = arith::ConstantOp::create(builder, loc, cast<TypedAttr>(ones));
  return emit<arith::XOrIOp>(type, range, operand, mask.getResult());
}

} // namespace nereid::sema
