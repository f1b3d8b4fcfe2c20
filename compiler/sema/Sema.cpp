// Emits the module of one kernel: its public function, then whatever it calls.
// SPDX-License-Identifier: MIT
#include "compiler/sema/Sema.h"

#include "compiler/sema/Diagnostics.h"
#include "compiler/sema/FunctionEmitter.h"
#include "compiler/sema/ModuleEmitter.h"
#include "mlir/IR/Diagnostics.h"
#include "compiler/syntax/Parser.h"
#include "mlir/IR/Verifier.h"

using namespace nereid;
using namespace nereid::sema;

HostObject::~HostObject() = default;
HostEnv::~HostEnv() = default;

static tt::FuncOp createKernel(ModuleEmitter &module, FunctionEmitter &emitter, const KernelRequest &request) {
  mlir::OpBuilder &builder = module.builder;
  llvm::ArrayRef<syntax::Parameter> parameters = request.kernel->definition->parameters;
  llvm::SmallVector<mlir::Type> inputs;
  for (const KernelArgument &arg : request.args)
    if (!arg.constant)
      inputs.push_back(arg.type.toMlir(builder.getContext()));

  builder.setInsertionPointToEnd(module.op.getBody());
  mlir::Location loc = emitter.location(request.kernel->definition->nameRange);
  auto func = tt::FuncOp::create(builder, loc, request.name, builder.getFunctionType(inputs, {}), "public");
  func->setAttr("noinline", builder.getBoolAttr(false));
  mlir::Block *entry = builder.createBlock(&func.getBody());
  for (auto [parameter, arg] : llvm::zip_equal(parameters, request.args)) {
    if (arg.constant) {
      emitter.scope[parameter.name] = {*arg.constant, parameter.nameRange, true};
      continue;
    }
    const unsigned index = entry->getNumArguments();
    mlir::Location nameLoc = mlir::NameLoc::get(builder.getStringAttr(parameter.name), emitter.location(parameter.nameRange));
    mlir::Value value = entry->addArgument(inputs[index], nameLoc);
    if (arg.divisibility > 1)
      func.setArgAttr(index, "tt.divisibility", builder.getI32IntegerAttr(arg.divisibility));
    emitter.scope[parameter.name] = {Value::tensor(value, arg.type), parameter.nameRange, false};
  }
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
