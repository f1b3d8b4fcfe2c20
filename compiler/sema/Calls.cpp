// Calls: binds arguments to parameters, and calls built-ins, jit functions and host functions.
// SPDX-License-Identifier: MIT
#include "compiler/sema/Diagnostics.h"
#include "compiler/sema/TtFunctionEmitter.h"
#include "compiler/support/NearestName.h"

using namespace nereid;
using namespace nereid::sema;
using llvm::dyn_cast;

const Value &CallSite::operator[](llvm::StringRef parameter) const {
  for (auto [index, candidate] : llvm::enumerate(builtin.params))
    if (candidate.name == parameter || (candidate.name.starts_with("*") && candidate.name.drop_front() == parameter))
      return args[index];
  llvm_unreachable("a built-in asks for a parameter that its table entry lacks");
}

SourceRange CallSite::rangeOf(llvm::StringRef parameter) const {
  for (auto [index, candidate] : llvm::enumerate(builtin.params))
    if (candidate.name == parameter || (candidate.name.starts_with("*") && candidate.name.drop_front() == parameter))
      return argRanges[index];
  return range;
}

bool CallSite::isGiven(llvm::StringRef parameter) const { return rangeOf(parameter) != range; }

//--- Binding -----------------------------------------------------------------------------------

static std::string parameterList(llvm::ArrayRef<TtFunctionEmitter::ParameterBinding> bindings) {
  std::string text;
  for (const TtFunctionEmitter::ParameterBinding &binding : bindings)
    text += (text.empty() ? "`" : ", `") + binding.name.str() + "`";
  return text.empty() ? "none" : text;
}

/// How the callee is called. The first parameter of ranges is a start or a stop.
static std::string hintForMissing(llvm::StringRef callee,
                                  llvm::ArrayRef<TtFunctionEmitter::ParameterBinding> bindings) {
  if (callee == "range" || callee == "static_range")
    return llvm::formatv("; write `{0}(stop)`, `{0}(start, stop)` or `{0}(start, stop, step)`", callee).str();
  return "; its parameters are " + parameterList(bindings);
}

bool TtFunctionEmitter::bind(llvm::StringRef callee, llvm::MutableArrayRef<ParameterBinding> bindings,
                             llvm::ArrayRef<PositionalArgument> args, llvm::ArrayRef<KeywordArgument> keywords,
                             SourceRange range) {
  size_t next = 0;
  for (auto [index, arg] : llvm::enumerate(args)) {
    if (next < bindings.size() && bindings[next].takesRest) {
      std::vector<Value> rest;
      for (const PositionalArgument &each : args.drop_front(index))
        rest.push_back(each.value);
      bindings[next].range = {arg.range.begin, args.back().range.end};
      bindings[next].value = Value::tuple(std::move(rest));
      break;
    }
    if (next >= bindings.size()) {
      error(diag::TooManyArguments, arg.range, callee, bindings.size(), args.size());
      return false;
    }
    bindings[next].value = arg.value;
    bindings[next++].range = arg.range;
  }
  for (const KeywordArgument &keyword : keywords) {
    auto *binding = llvm::find_if(
        bindings, [&](const ParameterBinding &each) { return each.name == keyword.name && !each.takesRest; });
    if (binding == bindings.end()) {
      support::NearestName nearest(keyword.name);
      for (const ParameterBinding &each : bindings)
        nearest.add(each.name);
      error(diag::UnknownKeyword, keyword.range, callee, keyword.name, nearest.hint(), parameterList(bindings));
      return false;
    }
    if (binding->value) {
      error(diag::DuplicateArgument, keyword.range, callee, keyword.name);
      return false;
    }
    binding->value = keyword.value;
    binding->range = keyword.range;
  }
  for (ParameterBinding &binding : bindings) {
    if (binding.takesRest && !binding.value)
      binding.value = Value::tuple({});
    if (binding.value || binding.hasDefault)
      continue;
    error(diag::MissingArgument, range, callee, binding.name, hintForMissing(callee, bindings));
    return false;
  }
  return true;
}

Value TtFunctionEmitter::evaluateCall(const syntax::Call *expression) {
  const Value callee = evaluate(expression->callee);
  llvm::SmallVector<PositionalArgument> args;
  llvm::SmallVector<KeywordArgument> keywords;
  bool poisoned = callee.isPoison();
  for (const syntax::Expr *node : expression->args) {
    auto *starred = dyn_cast<syntax::Starred>(node);
    if (!starred) {
      args.push_back({evaluate(node), node->range});
      poisoned |= args.back().value.isPoison();
      continue;
    }
    auto elements = elementsOf(evaluate(starred->value), node->range);
    poisoned |= !elements;
    if (elements)
      for (const Value &element : *elements)
        args.push_back({element, node->range});
  }
  for (const syntax::Keyword &keyword : expression->keywords) {
    if (keyword.name.empty()) {
      error(diag::DoubleStarArgument, keyword.range);
      poisoned = true;
      continue;
    }
    keywords.push_back({keyword.name, evaluate(keyword.value), keyword.range});
    poisoned |= keywords.back().value.isPoison();
  }
  return poisoned ? Value::poison() : call(callee, args, keywords, expression->range);
}

//--- Dispatch ----------------------------------------------------------------------------------

Value TtFunctionEmitter::call(const Value &callee, llvm::ArrayRef<PositionalArgument> args,
                              llvm::ArrayRef<KeywordArgument> keywords, SourceRange range) {
  if (callee.isPoison())
    return callee;
  if (auto *method = callee.get<MethodValue>()) {
    llvm::SmallVector<PositionalArgument> withSelf{{*method->self, range}};
    withSelf.append(args.begin(), args.end());
    return call(*method->function, withSelf, keywords, range);
  }
  if (auto *builtin = callee.get<BuiltinValue>())
    return callBuiltin(*builtin->builtin, args, keywords, range);
  if (auto *called = callee.get<FunctionValue>())
    return callFunction(called->function, args, keywords, range);
  auto *host = callee.get<HostValue>();
  if (!host)
    return error(diag::NotCallable, range, describe(callee));

  llvm::SmallVector<Value> values;
  llvm::SmallVector<std::pair<llvm::StringRef, Value>> named;
  for (const PositionalArgument &arg : args)
    values.push_back(arg.value);
  for (const KeywordArgument &keyword : keywords)
    named.push_back({keyword.name, keyword.value});
  return asConstexpr(fromHost(module.host.call(host->object, values, named, {this, range}), range));
}

/// The value of a default in the built-in table: a literal of Python, or a name of triton.language.
static Value defaultOf(TtFunctionEmitter &emitter, llvm::StringRef text, SourceRange range) {
  if (text == "None")
    return Value();
  if (text == "True" || text == "False")
    return text == "True";
  if (text == "()")
    return Value::tuple({});
  if (text.starts_with("\""))
    return text.drop_front().drop_back().str();
  int64_t integer;
  if (!text.getAsInteger(10, integer))
    return Value::integer(integer);
  double number;
  if (!text.getAsDouble(number))
    return number;
  Value value = ModuleValue{"triton.language"};
  llvm::SmallVector<llvm::StringRef> path;
  text.split(path, '.');
  for (llvm::StringRef step : path)
    value = emitter.attribute(value, step, range);
  return value;
}

static bool hasParameter(const Builtin &builtin, llvm::StringRef name) {
  return llvm::any_of(builtin.params, [&](const BuiltinParam &param) { return param.name == name; });
}

/// Drops the keywords that are no parameters of the built-in, with a remark for each.
void TtFunctionEmitter::dropUnknownKeywords(const Builtin &builtin, llvm::SmallVectorImpl<KeywordArgument> &keywords) {
  const Builtin *ofTriton = findBuiltin("triton.language", builtin.name);
  llvm::erase_if(keywords, [&](const KeywordArgument &keyword) {
    if (hasParameter(builtin, keyword.name))
      return false;
    const bool isHint = ofTriton && hasParameter(*ofTriton, keyword.name);
    module.diagnostics.report(
        diag::KeywordIgnored, module.userFileRange(fileRange(keyword.range), function), keyword.name, builtin.name,
        isHint ? llvm::formatv("; write `tl.{0}({1}=...)` for a hint about the loop", builtin.name, keyword.name).str()
               : std::string());
    return true;
  });
}

Value TtFunctionEmitter::callBuiltin(const Builtin &builtin, llvm::ArrayRef<PositionalArgument> args,
                                     llvm::ArrayRef<KeywordArgument> keywords, SourceRange range) {
  llvm::SmallVector<ParameterBinding> bindings;
  for (const BuiltinParam &param : builtin.params) {
    const bool takesRest = param.name.starts_with("*");
    bindings.push_back(
        {takesRest ? param.name.drop_front() : param.name, !param.defaultText.empty(), takesRest, {}, range});
  }
  llvm::SmallVector<KeywordArgument> bound(keywords);
  if (builtin.ignoresKeywords)
    dropUnknownKeywords(builtin, bound);
  if (!bind(builtin.name, bindings, args, bound, range))
    return Value::poison();
  llvm::SmallVector<Value> values;
  llvm::SmallVector<SourceRange> ranges;
  for (auto [binding, param] : llvm::zip_equal(bindings, builtin.params)) {
    values.push_back(binding.value ? *binding.value : defaultOf(*this, param.defaultText, range));
    ranges.push_back(binding.range);
    if (values.back().isPoison())
      return Value::poison();
  }
  return builtin.emit({*this, builtin, range, values, ranges});
}

/// The default of a parameter: the value from the host, or its expression evaluated in the callee's scope.
std::optional<Value> TtFunctionEmitter::defaultOfParameter(JitFunction &callee, size_t index) {
  if (index < callee.defaults.size() && callee.defaults[index])
    return callee.defaults[index];
  const syntax::Expr *expression = callee.definition->parameters[index].defaultValue;
  if (!expression)
    return std::nullopt;
  return TtFunctionEmitter(module, callee).evaluate(expression);
}

Value TtFunctionEmitter::callFunction(std::shared_ptr<JitFunction> callee, llvm::ArrayRef<PositionalArgument> args,
                                      llvm::ArrayRef<KeywordArgument> keywords, SourceRange range) {
  if (!module.parse(*callee))
    return Value::poison();
  llvm::ArrayRef<syntax::Parameter> parameters = callee->definition->parameters;
  llvm::SmallVector<ParameterBinding> bindings;
  for (auto [index, parameter] : llvm::enumerate(parameters)) {
    const bool hasDefault =
        parameter.defaultValue || (index < callee->defaults.size() && callee->defaults[index].has_value());
    bindings.push_back({parameter.name, hasDefault, parameter.kind == syntax::ParameterKind::VarPositional, {}, range});
  }
  const auto takes = [&](syntax::ParameterKind kind) {
    return llvm::count_if(parameters, [&](const syntax::Parameter &parameter) { return parameter.kind == kind; });
  };
  // Parameters after a `*` are passed by keyword only.
  const size_t positional = bindings.size() - takes(syntax::ParameterKind::KeywordOnly);
  const bool hasTooMany = args.size() > positional && takes(syntax::ParameterKind::VarPositional) == 0;
  if (hasTooMany)
    error(diag::TooManyArguments, args[positional].range, callee->name, positional, args.size());
  if (hasTooMany || !bind(callee->name, bindings, args, keywords, range)) {
    lastDiagnostic->note(llvm::formatv("`{0}` is defined here", callee->name).str(),
                         {callee->file.get(), callee->definition->nameRange});
    return Value::poison();
  }
  llvm::SmallVector<Value> values;
  for (auto [index, binding] : llvm::enumerate(bindings)) {
    Value value = binding.value ? *binding.value : *defaultOfParameter(*callee, index);
    if (value.isPoison())
      return value;
    llvm::SmallVector<TensorValue> parts;
    flatten(value, parts);
    if (callee->noinline && llvm::any_of(parts, [](const TensorValue &part) { return part.type.isTile(); }))
      return error(diag::NoinlineTile, binding.range, callee->name, binding.name, describe(value));
    values.push_back(std::move(value));
  }
  const Specialisation *special = module.specialise(callee, values, fileRange(range));
  if (!special)
    return Value::poison();

  tt::FuncOp target = special->op;
  const Value result = special->result;
  llvm::SmallVector<TensorValue> tensors;
  for (const Value &value : values)
    flatten(value, tensors);
  flatten(FunctionValue{callee}, tensors);
  llvm::SmallVector<mlir::Value> operands;
  for (const TensorValue &tensor : tensors)
    operands.push_back(tensor.value);
  auto op = tt::CallOp::create(builder, location(range), target.getResultTypes(), target.getSymName(), operands,
                               nullptr, nullptr);
  llvm::SmallVector<mlir::Value> results(op.getResults());
  llvm::ArrayRef<mlir::Value> remaining = results;
  return unflatten(result, remaining);
}
