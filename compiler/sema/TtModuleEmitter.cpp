// Specialises each function once for the types and constants of its calls.
// SPDX-License-Identifier: MIT
#include "compiler/sema/TtModuleEmitter.h"

#include "compiler/dialect/ttg/Dialect.h"
#include "compiler/sema/Diagnostics.h"
#include "compiler/sema/TtFunctionEmitter.h"
#include "compiler/stdlib/Stdlib.h"
#include "compiler/syntax/Parser.h"

using namespace nereid;
using namespace nereid::sema;
using support::FileRange;

// The limit of compile-time recursion.
static constexpr unsigned maxCallDepth = 200;

// The limit of "called from" notes of one error.
static constexpr unsigned maxCallerNotes = 12;

/// Files of the embedded library have names that no user file can have.
static bool isLibraryFile(FileRange range) { return range.file && range.file->name().starts_with("<nereid>/"); }

TtModuleEmitter::TtModuleEmitter(mlir::ModuleOp op, HostEnv &host, support::DiagnosticEngine &diagnostics,
                                 const support::Options &options, const support::TargetSpec &target)
    : op(op), builder(op.getContext()), host(host), diagnostics(diagnostics), options(options), target(target) {}

bool TtModuleEmitter::parse(JitFunction &function) {
  if (function.definition)
    return true;
  if (!function.arena)
    function.arena = std::make_shared<syntax::AstContext>();
  function.definition = syntax::parseFunction(*function.file, *function.arena, diagnostics);
  return function.definition && !diagnostics.hasErrors();
}

void TtModuleEmitter::noteCallers(support::Diagnostic &diagnostic) const {
  unsigned left = maxCallerNotes;
  for (const Caller &caller : llvm::reverse(callStack)) {
    if (caller.isStdlib || caller.range.range == diagnostic.where.range)
      continue;
    if (left-- == 0)
      return;
    diagnostic.note("called from here", caller.range);
  }
}

FileRange TtModuleEmitter::userFileRange(FileRange where, const JitFunction &function) const {
  if (function.isStdlib)
    for (const Caller &caller : llvm::reverse(callStack))
      if (!caller.isStdlib)
        return caller.range;
  return where;
}

// --- Flattening of values into tensors -----------------------------------------------------

void nereid::sema::flatten(const Value &value, llvm::SmallVectorImpl<TensorValue> &tensors) {
  if (const TensorValue *tensor = value.tensor())
    tensors.push_back(*tensor);
  else if (const std::vector<Value> *parts = value.parts())
    for (const Value &part : *parts)
      flatten(part, tensors);
  else if (const FunctionValue *called = value.get<FunctionValue>())
    for (const auto &[name, captured] : called->function->captured)
      flatten(captured, tensors);
  else if (const MethodValue *method = value.get<MethodValue>())
    flatten(*method->self, tensors);
}

/// The function with other tensors in its captured values.
static Value withCaptured(const FunctionValue &called, llvm::ArrayRef<mlir::Value> &values) {
  if (Value(called).isConstant())
    return called;
  auto copy = std::make_shared<JitFunction>(*called.function);
  for (auto &[name, captured] : copy->captured)
    captured = unflatten(captured, values);
  copy->definer = nullptr; // its names are no longer those of the enclosing function
  return FunctionValue{std::move(copy)};
}

Value nereid::sema::unflatten(const Value &shape, llvm::ArrayRef<mlir::Value> &values) {
  if (const TensorValue *tensor = shape.tensor()) {
    mlir::Value next = values.front();
    values = values.drop_front();
    return Value::tensor(next, tensor->type);
  }
  if (const FunctionValue *called = shape.get<FunctionValue>())
    return withCaptured(*called, values);
  if (const MethodValue *method = shape.get<MethodValue>())
    return MethodValue{method->function, std::make_shared<const Value>(unflatten(*method->self, values))};
  const TupleValue *tuple = shape.get<TupleValue>();
  if (!tuple)
    return shape;
  std::vector<Value> elements;
  for (const Value &element : *tuple->elements)
    elements.push_back(unflatten(element, values));
  TupleValue result = *tuple;
  result.elements = std::make_shared<const std::vector<Value>>(std::move(elements));
  return result;
}

static bool sameCaptured(const JitFunction &a, const JitFunction &b) {
  return a.definition == b.definition && llvm::equal(a.captured, b.captured, [](const auto &x, const auto &y) {
           return x.first == y.first && sameShape(x.second, y.second);
         });
}

bool nereid::sema::sameShape(const Value &a, const Value &b) {
  if (a.tensor() && b.tensor())
    return a.tensor()->type == b.tensor()->type;
  if (a.parts() && b.parts())
    return a.get<TupleValue>()->hostClass == b.get<TupleValue>()->hostClass &&
           a.get<TupleValue>()->record == b.get<TupleValue>()->record && llvm::equal(*a.parts(), *b.parts(), sameShape);
  const auto *f = a.get<FunctionValue>(), *g = b.get<FunctionValue>();
  if (f && g && !f->function->captured.empty())
    return sameCaptured(*f->function, *g->function);
  const auto *m = a.get<MethodValue>(), *n = b.get<MethodValue>();
  if (m && n)
    return sameShape(*m->function, *n->function) && sameShape(*m->self, *n->self);
  return !a.tensor() && !b.tensor() && sameConstant(a, b);
}

std::string nereid::sema::mangle(const Value &value) {
  if (const TensorValue *tensor = value.tensor())
    return tensor->type.mangle();
  if (const FunctionValue *called = value.get<FunctionValue>()) {
    std::string text = "c" + called->function->qualified;
    for (const auto &[name, captured] : called->function->captured)
      text += "_" + mangle(captured);
    return text;
  }
  if (const MethodValue *method = value.get<MethodValue>())
    return mangle(*method->function) + "_" + mangle(*method->self);
  const std::vector<Value> *parts = value.parts();
  if (!parts)
    return "c" + value.repr();
  if (const TupleValue *object = value.object()) {
    std::string fields;
    for (const Value &part : *parts)
      fields += (fields.empty() ? "" : ", ") + mangle(part);
    return *object->className + "<" + fields + ">";
  }
  const bool isRecord = !value.elements();
  if (const TensorValue *first = parts->empty() ? nullptr : parts->front().tensor(); first && first->type.isDescriptor)
    return first->type.mangle(); // a descriptor's type determines the types of its other parts
  std::string text = isRecord ? "R" : "T";
  for (auto [index, part] : llvm::enumerate(*parts))
    text += (index ? "_" : "") + mangle(part);
  return text + (isRecord ? "R" : "T");
}

/// A quoted symbol may contain almost any character, but names are read by people and tools.
static std::string symbolName(const JitFunction &function, llvm::ArrayRef<Value> args) {
  std::string raw = function.qualified + "__";
  for (auto [index, arg] : llvm::enumerate(args))
    raw += (index ? "_" : "") + mangle(arg);
  std::string name;
  for (char letter : raw) {
    if (letter == '\'')
      name += "_sq_";
    else
      name += llvm::isAlnum(letter) || llvm::StringRef("_.").contains(letter) ? letter : '_';
  }
  return name;
}

//--- Specialisation ------------------------------------------------------------------------

/// Binds each parameter to its argument and each captured name to its value; tensors in them are replaced, in order, by
/// `values`.
static void bindParameters(TtFunctionEmitter &emitter, llvm::ArrayRef<Value> args, llvm::ArrayRef<mlir::Value> values) {
  const JitFunction &function = emitter.function;
  for (auto [parameter, arg] : llvm::zip(function.definition->parameters, args)) {
    Value bound = asConstexpr(unflatten(arg, values));
    emitter.scope[parameter.name] = {bound, parameter.nameRange, bound.isConstant()};
  }
  for (const auto &[name, captured] : function.captured) {
    Value bound = unflatten(captured, values);
    emitter.scope[name] = {bound, function.definition->nameRange, bound.isConstant()};
  }
}

const Specialisation *TtModuleEmitter::specialise(std::shared_ptr<JitFunction> function, llvm::ArrayRef<Value> args,
                                                  FileRange callSite) {
  if (!parse(*function))
    return nullptr;
  // Different functions of one name (closures of one factory) need different keys.
  const void *identity = function->isNested ? static_cast<const void *>(function->definition) : function.get();
  std::string key = llvm::formatv("{0}@{1}", symbolName(*function, args), identity).str();
  for (const Value &arg : args)
    key += "|" + mangle(arg);
  for (const auto &[name, captured] : function->captured)
    key += "|" + name + "=" + mangle(captured);
  if (regionWarps)
    key += "|" + std::to_string(regionWarps) + " warps";
  // Different constants may have the same text: closures of one factory, objects with one repr.
  auto isSame = [&](const Specialisation &other) {
    auto sameNamed = [](const auto &a, const auto &b) { return a.first == b.first && sameShape(a.second, b.second); };
    return llvm::equal(other.args, args, sameShape) &&
           llvm::equal(other.function->captured, function->captured, sameNamed);
  };
  auto found = specialisations.find(key);
  while (found != specialisations.end() && !isSame(found->second))
    found = specialisations.find(key += "'");
  const bool isNew = found == specialisations.end();
  Specialisation &entry = isNew ? specialisations[key] : found->second;
  if (!isNew) {
    if (!entry.op)
      noteCallers(diagnostics.report(diag::RuntimeRecursion, callSite, function->name));
    return entry.op ? &entry : nullptr;
  }
  if (callStack.size() >= maxCallDepth) {
    noteCallers(diagnostics.report(diag::CallTooDeep, callSite, function->name, maxCallDepth));
    return nullptr;
  }
  entry.function = function;
  entry.args = args.vec();

  mlir::OpBuilder::InsertionGuard guard(builder);
  llvm::SmallVector<TensorValue> tensors;
  for (const Value &arg : args)
    flatten(arg, tensors);
  flatten(FunctionValue{function}, tensors);
  llvm::SmallVector<mlir::Type> inputs;
  for (const TensorValue &tensor : tensors)
    inputs.push_back(tensor.value.getType());

  TtFunctionEmitter emitter(*this, *function);
  mlir::Location loc = emitter.location(function->definition->range);
  builder.setInsertionPointToEnd(op.getBody());
  std::string name = symbolName(*function, args);
  while (op.lookupSymbol(name))
    name += "_";
  auto func = tt::FuncOp::create(builder, loc, name, builder.getFunctionType(inputs, {}), "private");
  func->setAttr("noinline", builder.getBoolAttr(function->noinline));
  if (regionWarps) // tiles are spread over these
    func->setAttr(ttg::kNumWarps, builder.getI32IntegerAttr(regionWarps));
  mlir::Block *entryBlock = builder.createBlock(&func.getBody());
  for (mlir::Type input : inputs)
    entryBlock->addArgument(input, loc);
  bindParameters(emitter, args, llvm::to_vector_of<mlir::Value>(entryBlock->getArguments()));

  const size_t errorsBefore = diagnostics.errorCount();
  callStack.push_back({callSite, isLibraryFile(callSite)});
  emitter.run(function->definition->body, nullptr);
  callStack.pop_back();
  if (diagnostics.errorCount() != errorsBefore)
    return nullptr;

  llvm::SmallVector<TensorValue> results;
  flatten(emitter.returned, results);
  llvm::SmallVector<mlir::Value> values;
  llvm::SmallVector<mlir::Type> types;
  for (const TensorValue &result : results) {
    values.push_back(result.value);
    types.push_back(result.value.getType());
  }
  tt::ReturnOp::create(builder, emitter.location(emitter.returnedAt), values);
  func.setType(builder.getFunctionType(inputs, types));
  Specialisation &done = specialisations[key]; // the map may have grown
  done.result = emitter.returned;
  done.op = func;
  return &done;
}

bool TtModuleEmitter::emitBody(std::shared_ptr<JitFunction> function, llvm::ArrayRef<Type> types, mlir::Region &region,
                               FileRange callSite, const support::DiagnosticKind &wrongCount,
                               std::vector<Value> &results) {
  if (!parse(*function))
    return false;
  if (const size_t count = function->definition->parameters.size(); count != types.size()) {
    diagnostics.report(wrongCount, callSite, function->name, types.size(), count);
    return false;
  }
  TtFunctionEmitter emitter(*this, *function);
  mlir::Location loc = emitter.location(function->definition->range);
  mlir::Block *block = builder.createBlock(&region);
  std::vector<Value> args;
  for (const Type &type : types)
    args.push_back(Value::tensor(block->addArgument(type.toMlir(op.getContext()), loc), type));
  llvm::SmallVector<mlir::Value> values(block->getArguments());
  llvm::SmallVector<TensorValue> captured;
  flatten(FunctionValue{function}, captured);
  for (const TensorValue &tensor : captured) {
    if (tensor.type.isTile()) {
      diagnostics.report(diag::CombineCaptures, callSite, function->name, tensor.type.str());
      return false;
    }
    values.push_back(tensor.value);
  }
  bindParameters(emitter, args, values);

  const size_t errorsBefore = diagnostics.errorCount();
  callStack.push_back({callSite, isLibraryFile(callSite)});
  emitter.run(function->definition->body, nullptr);
  callStack.pop_back();
  if (diagnostics.errorCount() != errorsBefore)
    return false;
  if (const std::vector<Value> *elements = emitter.returned.elements())
    results = *elements;
  else
    results = {emitter.returned};
  return true;
}

// --- The embedded library ------------------------------------------------------------------

std::shared_ptr<JitFunction> TtModuleEmitter::stdlibFunction(llvm::StringRef module, llvm::StringRef name) {
  const stdlib::Function *found = stdlib::find(module, name);
  if (!found)
    return nullptr;
  auto &cached = stdlib[(found->module + "." + found->name).str()];
  if (!cached) {
    cached = std::make_shared<JitFunction>();
    cached->name = found->name.str();
    cached->qualified = (found->module + "." + found->name).str();
    cached->file = found->file;
    cached->arena = found->arena;
    cached->definition = found->definition;
    cached->isStdlib = true;
  }
  return cached;
}
