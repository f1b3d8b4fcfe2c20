// Evaluates expressions to constants or tensors.
// SPDX-License-Identifier: MIT
#include "compiler/sema/Diagnostics.h"
#include "compiler/sema/TtFunctionEmitter.h"

using namespace nereid;
using namespace nereid::sema;
using llvm::dyn_cast;

/// An expression that kernels cannot contain, with a hint.
static llvm::StringRef adviceFor(syntax::NodeKind kind) {
  using syntax::NodeKind;
  switch (kind) {
  case NodeKind::Dict:
  case NodeKind::Set:
  case NodeKind::DictComp:
  case NodeKind::SetComp:
    return "use a tuple, or a tl.constexpr defined outside of the kernel";
  case NodeKind::GeneratorExp:
    return "use a list comprehension";
  case NodeKind::Yield:
  case NodeKind::YieldFrom:
    return "kernels run to their end at once; store each value through a pointer";
  case NodeKind::Await:
    return "kernels are not asynchronous";
  default:
    return "kernels cannot contain it";
  }
}

Value TtFunctionEmitter::evaluate(const syntax::Expr *expression) {
  using syntax::NodeKind;
  switch (expression->kind) {
  case NodeKind::Constant:
    return evaluateConstant(llvm::cast<syntax::Constant>(expression));
  case NodeKind::Name:
    return lookup(llvm::cast<syntax::Name>(expression)->id, expression->range);
  case NodeKind::Attribute: {
    auto *node = llvm::cast<syntax::Attribute>(expression);
    return attribute(evaluate(node->value), node->name, node->nameRange);
  }
  case NodeKind::BinOp:
    return evaluateBinOp(llvm::cast<syntax::BinOp>(expression));
  case NodeKind::UnaryOp: {
    auto *node = llvm::cast<syntax::UnaryOp>(expression);
    const Value operand = evaluate(node->operand);
    return operand.isPoison() ? operand : unary(node->op, operand, node->range);
  }
  case NodeKind::BoolOp:
    return evaluateBoolOp(llvm::cast<syntax::BoolOp>(expression));
  case NodeKind::Compare:
    return evaluateCompare(llvm::cast<syntax::Compare>(expression));
  case NodeKind::IfExp:
    return evaluateIfExp(llvm::cast<syntax::IfExp>(expression));
  case NodeKind::Call:
    return evaluateCall(llvm::cast<syntax::Call>(expression));
  case NodeKind::Subscript:
    return evaluateSubscript(llvm::cast<syntax::Subscript>(expression));
  case NodeKind::Tuple:
    return evaluateElements(llvm::cast<syntax::Tuple>(expression)->elements);
  case NodeKind::List:
    return evaluateElements(llvm::cast<syntax::List>(expression)->elements);
  case NodeKind::Lambda:
    return evaluateLambda(llvm::cast<syntax::Lambda>(expression));
  case NodeKind::ListComp:
    return evaluateListComp(llvm::cast<syntax::ListComp>(expression));
  case NodeKind::JoinedStr:
    return evaluateJoinedStr(llvm::cast<syntax::JoinedStr>(expression));
  case NodeKind::NamedExpr: {
    auto *node = llvm::cast<syntax::NamedExpr>(expression);
    assignName(node->target->id, evaluate(node->value), false, node->target->range);
    return scope[node->target->id].value;
  }
  case NodeKind::Slice: {
    auto *node = llvm::cast<syntax::Slice>(expression);
    auto part = [&](const syntax::Expr *bound) { return bound ? evaluate(bound) : Value(); };
    return SliceValue{std::make_shared<const std::vector<Value>>(
        std::vector<Value>{part(node->lower), part(node->upper), part(node->step)})};
  }
  default:
    return error(diag::UnsupportedExpression, expression->range, syntax::toString(expression->kind),
                 adviceFor(expression->kind));
  }
}

void TtFunctionEmitter::noteOperands(size_t errorsBefore, const Value &left, SourceRange leftRange, const Value &right,
                                     SourceRange rightRange) {
  if (module.diagnostics.errorCount() == errorsBefore || !lastDiagnostic || !left.tensor() || !right.tensor())
    return;
  lastDiagnostic->note("the left operand is " + describe(left), fileRange(leftRange));
  lastDiagnostic->note("the right operand is " + describe(right), fileRange(rightRange));
}

Value TtFunctionEmitter::evaluateBinOp(const syntax::BinOp *expression) {
  const Value left = evaluate(expression->left), right = evaluate(expression->right);
  if (left.isPoison() || right.isPoison())
    return Value::poison();
  const size_t errorsBefore = module.diagnostics.errorCount();
  Value result = binary(expression->op, left, right, expression->range, expression->opRange);
  noteOperands(errorsBefore, left, expression->left->range, right, expression->right->range);
  return result;
}

Value TtFunctionEmitter::evaluateConstant(const syntax::Constant *constant) {
  using syntax::ConstantKind;
  switch (constant->constantKind) {
  case ConstantKind::None:
    return Value();
  case ConstantKind::True:
    return true;
  case ConstantKind::False:
    return false;
  case ConstantKind::Ellipsis:
    return EllipsisValue{};
  case ConstantKind::Int:
    return llvm::DynamicAPInt(constant->integer());
  case ConstantKind::Float:
    return constant->number;
  case ConstantKind::Str:
    return constant->text.str();
  case ConstantKind::Imaginary:
    return error(diag::UnsupportedLiteral, constant->range, "complex numbers");
  case ConstantKind::Bytes:
    return error(diag::UnsupportedLiteral, constant->range, "bytes");
  }
  llvm_unreachable("every kind returns");
}

// Limits tuples that a loop extends or doubles, which would exhaust memory or the stack.
static constexpr unsigned maxTupleDepth = 64;
static constexpr size_t maxTupleElements = 1 << 16;

static bool isReasonable(const Value &value, unsigned depth, size_t &count) {
  if (depth > maxTupleDepth || ++count > maxTupleElements)
    return false;
  const std::vector<Value> *elements = value.elements();
  return !elements ||
         llvm::all_of(*elements, [&](const Value &element) { return isReasonable(element, depth + 1, count); });
}

Value TtFunctionEmitter::evaluateElements(syntax::ExprList elements) {
  std::vector<Value> values;
  for (const syntax::Expr *element : elements) {
    auto *starred = dyn_cast<syntax::Starred>(element);
    if (!starred) {
      values.push_back(evaluate(element));
      continue;
    }
    if (auto inner = elementsOf(evaluate(starred->value), starred->range))
      values.insert(values.end(), inner->begin(), inner->end());
    else
      return Value::poison();
  }
  for (const Value &value : values)
    if (value.isPoison())
      return value;
  Value tuple = Value::tuple(std::move(values));
  size_t count = 0;
  if (!isReasonable(tuple, 0, count))
    return error(diag::TupleTooLarge, elements.front()->range, maxTupleDepth, maxTupleElements);
  return tuple;
}

//--- Logic -----------------------------------------------------------------------------------

/// `left and right` or `left or right` of run-time operands, which stand at these indices in the expression.
Value TtFunctionEmitter::combineFlags(const syntax::BoolOp *expression, const Value &left, size_t leftIndex,
                                      const Value &right, size_t index) {
  const bool isAnd = expression->op == syntax::BoolOperator::And;
  for (const auto &[value, node] :
       {std::pair(&left, expression->values[leftIndex]), {&right, expression->values[index]}})
    if (const Type &type = value->tensor()->type; !type.isBool())
      return error(diag::LogicNeedsBool, node->range, isAnd ? "and" : "or", type.str(), type.bits(),
                   "compare it first, or use `&` and `|`");
  if (right.tensor()->type.isTile())
    module.diagnostics.report(diag::LogicOfTiles, module.userFileRange(fileRange(expression->range), function),
                              isAnd ? "and" : "or", isAnd ? "&" : "|");
  return binary(isAnd ? syntax::BinaryOperator::BitAnd : syntax::BinaryOperator::BitOr, left, right, expression->range,
                expression->opRanges[index - 1]);
}

/// `and`, `or`: the first constant that decides is the result, also after run-time operands; other constants change
/// nothing. Without one the run-time operands, which are all evaluated, are combined.
Value TtFunctionEmitter::evaluateBoolOp(const syntax::BoolOp *expression) {
  const bool isAnd = expression->op == syntax::BoolOperator::And;
  llvm::SmallVector<std::pair<size_t, Value>> runtime;
  Value last;
  for (auto [index, node] : llvm::enumerate(expression->values)) {
    last = evaluate(node);
    if (last.isPoison())
      return last;
    if (last.tensor()) {
      runtime.emplace_back(index, last);
      continue;
    }
    std::optional<bool> truth = constantTruth(last, node->range);
    if (!truth)
      return Value::poison();
    if (*truth != isAnd)
      return last;
  }
  if (runtime.empty())
    return last;
  Value combined = runtime.front().second;
  for (const auto &[index, value] : llvm::drop_begin(runtime)) {
    combined = combineFlags(expression, combined, runtime.front().first, value, index);
    if (combined.isPoison())
      break;
  }
  return combined;
}

/// `a < b < c` is `a < b and b < c`, with each operand evaluated once; a comparison known to be false ends it.
Value TtFunctionEmitter::evaluateCompare(const syntax::Compare *expression) {
  Value left = evaluate(expression->left), result;
  for (auto [index, op, node] : llvm::enumerate(expression->ops, expression->comparators)) {
    const Value right = evaluate(node);
    if (left.isPoison() || right.isPoison())
      return Value::poison();
    const SourceRange opRange = expression->opRanges[index];
    const size_t errorsBefore = module.diagnostics.errorCount();
    const Value next = compare(op, left, right, expression->range, opRange);
    const SourceRange leftRange = (index == 0 ? expression->left : expression->comparators[index - 1])->range;
    noteOperands(errorsBefore, left, leftRange, right, node->range);
    if (index == 0 || !result.tensor())
      result = next; // the previous result, if any, is true
    else if (next.tensor())
      result = binary(syntax::BinaryOperator::BitAnd, result, next, expression->range, opRange);
    if (result.isPoison() || next.isPoison())
      return Value::poison();
    if (!next.tensor()) {
      std::optional<bool> truth = constantTruth(next, expression->range);
      if (!truth || !*truth)
        return truth ? next : Value::poison();
    }
    left = right;
  }
  return result;
}

Value TtFunctionEmitter::evaluateIfExp(const syntax::IfExp *expression) {
  const Value test = evaluate(expression->test);
  if (test.isPoison())
    return test;
  if (test.tensor()) {
    mlir::Value condition = runtimeCondition(test, expression->test->range);
    return condition ? runtimeSelect(expression, condition) : Value::poison();
  }
  std::optional<bool> taken = ifTruth(test, expression->test->range);
  if (!taken)
    return Value::poison();
  return evaluate(*taken ? expression->body : expression->orelse);
}

std::optional<bool> TtFunctionEmitter::constantTruth(const Value &value, SourceRange range) {
  if (value.isPoison())
    return std::nullopt;
  if (value.isNone())
    return false;
  if (auto *flag = value.get<bool>())
    return *flag;
  if (auto *number = value.integer())
    return *number != 0;
  if (auto *number = value.get<double>())
    return *number != 0;
  if (auto *text = value.get<std::string>())
    return !text->empty();
  if (auto *elements = value.elements())
    return !elements->empty();
  if (auto *host = value.get<HostValue>()) {
    auto truth = module.host.truth(host->object);
    if (auto *known = std::get_if<bool>(&truth))
      return *known;
    hostError(std::get<HostError>(truth), range);
    return std::nullopt;
  }
  if (value.tensor()) {
    error(diag::ConditionNotConstant, range, describe(value));
    return std::nullopt;
  }
  return true; // types, functions, modules
}

std::optional<bool> TtFunctionEmitter::ifTruth(const Value &value, SourceRange range) {
  if (value.isPoison() || value.is<bool>() || value.integer() || value.isNone())
    return constantTruth(value, range);
  error(diag::ConditionKind, range, value.kindName());
  return std::nullopt;
}

mlir::Value TtFunctionEmitter::runtimeCondition(const Value &value, SourceRange range) {
  Value scalar = value;
  const Type type = value.tensor()->type;
  if (type.isTile()) {
    if (type.elementCount() != 1) {
      error(diag::AmbiguousTruth, range, type.str());
      return nullptr;
    }
    module.diagnostics.report(diag::TileCondition, module.userFileRange(fileRange(range), function), type.str());
    scalar = emit<tt::UnsplatOp>(type.element(), range, value);
  }
  scalar = cast(scalar, Type(Scalar::Int1), range);
  return scalar.tensor() ? scalar.tensor()->value : nullptr;
}

//--- Comprehensions and strings ------------------------------------------------------------

Value TtFunctionEmitter::evaluateListComp(const syntax::ListComp *expression) {
  if (expression->generators.size() != 1 || expression->generators.front().isAsync)
    return error(diag::UnsupportedExpression, expression->range, "ListComp with several `for`",
                 "use one `for` over a tuple");
  const syntax::Comprehension &generator = expression->generators.front();
  auto elements = elementsOf(evaluate(generator.iterable), generator.iterable->range);
  if (!elements)
    return Value::poison();
  const Scope before = scope;
  std::vector<Value> results;
  for (const Value &element : *elements) {
    assignTo(generator.target, element, element.isConstant(), generator.target->range);
    bool wanted = true;
    for (const syntax::Expr *condition : generator.conditions) {
      std::optional<bool> truth = constantTruth(evaluate(condition), condition->range);
      if (!truth)
        return Value::poison();
      wanted &= *truth;
    }
    if (!wanted)
      continue;
    results.push_back(evaluate(expression->element));
    if (results.back().isPoison())
      return Value::poison();
  }
  scope = before;
  return Value::tuple(std::move(results));
}

/// The integers of a range, where its bounds are known and it is short.
static std::optional<std::vector<Value>> elementsOfRange(const RangeValue &range) {
  const std::optional<int64_t> begin = range.begin.asInt64(), end = range.end.asInt64(), step = range.step.asInt64();
  if (!begin || !end || !step || *step == 0)
    return std::nullopt;
  std::vector<Value> elements;
  for (__int128 number = *begin; *step > 0 ? number < *end : number > *end; number += *step) {
    if (elements.size() == maxTupleElements)
      return std::nullopt;
    elements.push_back(Value::integer(static_cast<int64_t>(number)));
  }
  return elements;
}

std::optional<std::vector<Value>> TtFunctionEmitter::elementsOf(const Value &value, SourceRange range) {
  if (value.isPoison())
    return std::nullopt;
  if (const std::vector<Value> *elements = value.elements())
    return *elements;
  if (auto *host = value.get<HostValue>()) {
    auto items = module.host.iterate(host->object);
    if (auto *list = std::get_if<std::vector<Value>>(&items))
      return *list;
    hostError(std::get<HostError>(items), range);
    return std::nullopt;
  }
  if (auto *counted = value.get<std::shared_ptr<const RangeValue>>()) {
    if (std::optional<std::vector<Value>> elements = elementsOfRange(**counted))
      return elements;
    error(diag::UnsupportedExpression, range, value.repr() + " outside of a `for` statement",
          "write its elements as a tuple");
    return std::nullopt;
  }
  error(diag::NotIterable, range, describe(value));
  return std::nullopt;
}

Value TtFunctionEmitter::evaluateJoinedStr(const syntax::JoinedStr *expression) {
  std::string text;
  for (const syntax::Expr *part : expression->values) {
    if (auto *constant = dyn_cast<syntax::Constant>(part)) {
      text += constant->text;
      continue;
    }
    auto *formatted = llvm::cast<syntax::FormattedValue>(part);
    const Value value = evaluate(formatted->value);
    if (value.isPoison())
      return value;
    if (!value.isConstant())
      return error(diag::FormatNotConstant, formatted->range, describe(value));
    std::string spec;
    if (formatted->formatSpec) {
      const Value evaluated = evaluateJoinedStr(formatted->formatSpec);
      if (evaluated.isPoison())
        return evaluated;
      spec = *evaluated.get<std::string>();
    }
    const Value shown = fromHost(module.host.format(value, formatted->conversion, spec), formatted->range);
    if (shown.isPoison())
      return shown;
    text += *shown.get<std::string>();
  }
  return text;
}
