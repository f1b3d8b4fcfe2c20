// Emits the module of one kernel: its public function, then whatever it calls.
// SPDX-License-Identifier: MIT
#include "compiler/sema/Sema.h"

#include "compiler/sema/Diagnostics.h"
#include "compiler/sema/FunctionEmitter.h"
#include "compiler/sema/ModuleEmitter.h"
#include "compiler/sema/builtins/Records.h"
#include "mlir/IR/Diagnostics.h"
#include "compiler/syntax/Parser.h"
#include "mlir/IR/Verifier.h"

using namespace nereid;
using namespace nereid::sema;

HostObject::~HostObject() = default;
HostEnv::~HostEnv() = default;

/// What an argument is inside of the kernel, with tensors that have no value yet.
static Value shapeOfArgument(const Type &type) {
  if (!type.isDescriptor)
    return Value::tensor({}, type);
  auto each = [&](Scalar scalar) { return Value::tuple(std::vector<Value>(type.shape.size(), Value::tensor({}, scalar))); };
  return Value::record(descriptorClass(), {Value::tensor({}, type), each(Scalar::Int32), each(Scalar::Int64)});
}

/// Names of the values that an argument is: "x", or "x", "x.shape.0" ... of a descriptor.
static std::string nameOfPart(llvm::StringRef parameter, const Type &type, size_t part) {
  const size_t rank = type.shape.size();
  if (part == 0)
    return parameter.str();
  const bool isStride = part > rank;
  return llvm::formatv("{0}.{1}.{2}", parameter, isStride ? "stride" : "shape", part - 1 - (isStride ? rank : 0));
}

static tt::FuncOp createKernel(ModuleEmitter &module, FunctionEmitter &emitter, const KernelRequest &request) {
  mlir::OpBuilder &builder = module.builder;
  builder.setInsertionPointToEnd(module.op.getBody());
  mlir::Location loc = emitter.location(request.kernel->definition->nameRange);
  auto func = tt::FuncOp::create(builder, loc, request.name, builder.getFunctionType({}, {}), "public");
  func->setAttr("noinline", builder.getBoolAttr(false));
  mlir::Block *entry = builder.createBlock(&func.getBody());
  llvm::SmallVector<std::pair<unsigned, int64_t>> divisible;
  for (auto [parameter, arg] : llvm::zip_equal(request.kernel->definition->parameters, request.args)) {
    if (arg.constant) {
      emitter.scope[parameter.name] = {*arg.constant, parameter.nameRange, true};
      continue;
    }
    if (arg.divisibility > 1)
      divisible.push_back({entry->getNumArguments(), arg.divisibility});
    const Value shape = shapeOfArgument(arg.type);
    llvm::SmallVector<TensorValue> parts;
    flatten(shape, parts);
    llvm::SmallVector<mlir::Value> values;
    for (auto [index, part] : llvm::enumerate(parts)) {
      auto name = builder.getStringAttr(nameOfPart(parameter.name, arg.type, index));
      values.push_back(entry->addArgument(part.type.toMlir(builder.getContext()),
                                          mlir::NameLoc::get(name, emitter.location(parameter.nameRange))));
    }
    llvm::ArrayRef<mlir::Value> remaining = values;
    emitter.scope[parameter.name] = {unflatten(shape, remaining), parameter.nameRange, false};
  }
  func.setType(builder.getFunctionType(entry->getArgumentTypes(), {}));
  for (auto [index, divisor] : divisible)
    func.setArgAttr(index, "tt.divisibility", builder.getI32IntegerAttr(divisor));
  return func;
}

mlir::OwningOpRef<mlir::ModuleOp> nereid::sema::emitKernel(mlir::MLIRContext &context, const KernelRequest &request, HostEnv &host,
                                               support::DiagnosticEngine &diagnostics) {
  context.loadDialect<tt::TtDialect>();
  JitFunction &kernel = *request.kernel;
  mlir::OwningOpRef<mlir::ModuleOp> op = mlir::ModuleOp::create(mlir::FileLineColLoc::get(&context, kernel.file->name(), 1, 1));
  ModuleEmitter module(*op, host, diagnostics, request.options, request.target);
  if (!module.parse(kernel))
    return {};
  if (kernel.definition->parameters.size() != request.args.size()) {
    diagnostics.report(diag::KernelArgumentCount, {kernel.file.get(), kernel.definition->nameRange}, kernel.name,
                       kernel.definition->parameters.size(), request.args.size());
    return {};
  }

  // What an op's own rule says about a program comes as an MLIR diagnostic.
  FunctionEmitter emitter(module, kernel);
  std::string brokenRule;
  mlir::ScopedDiagnosticHandler handler(&context, [&](mlir::Diagnostic &diagnostic) {
    if (brokenRule.empty())
      brokenRule = diagnostic.str();
    return mlir::success();
  });
  for (auto [parameter, arg] : llvm::zip_equal(kernel.definition->parameters, request.args))
    if (!arg.constant && !emitter.checkSupported(arg.type, parameter.nameRange))
      return {};
  tt::FuncOp func = createKernel(module, emitter, request);
  emitter.run(kernel.definition->body, nullptr);
  if (!diagnostics.hasErrors() && !emitter.returned.isNone())
    emitter.error(diag::KernelReturnsValue, emitter.returnedAt, kernel.name);
  if (diagnostics.hasErrors())
    return {};
  tt::ReturnOp::create(module.builder, func.getLoc(), mlir::ValueRange());
  if (mlir::failed(mlir::verify(*op))) {
    diagnostics.report(diag::BrokenIr, {kernel.file.get(), kernel.definition->nameRange}, brokenRule);
    return {};
  }
  return op;
}

std::vector<std::string> nereid::sema::parameterNames(JitFunction &kernel, support::DiagnosticEngine &diagnostics) {
  std::vector<std::string> names;
  if (!kernel.arena)
    kernel.arena = std::make_shared<syntax::AstContext>();
  if (!kernel.definition)
    kernel.definition = syntax::parseFunction(*kernel.file, *kernel.arena, diagnostics);
  if (kernel.definition)
    for (const syntax::Parameter &parameter : kernel.definition->parameters)
      names.push_back(parameter.name.str());
  return names;
}
