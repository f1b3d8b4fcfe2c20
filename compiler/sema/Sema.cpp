// Emits the module of one kernel: its public function and all functions that it calls.
// SPDX-License-Identifier: MIT
#include "compiler/sema/Sema.h"

#include "artifact/TargetInfo.h"
#include "compiler/dialect/gluon/Dialect.h"
#include "compiler/dialect/imported/Dialect.h"
#include "compiler/sema/Diagnostics.h"
#include "compiler/sema/TtFunctionEmitter.h"
#include "compiler/sema/TtModuleEmitter.h"
#include "compiler/sema/builtins/Hint.h"
#include "compiler/sema/builtins/Records.h"
#include "compiler/sema/gluon/Layouts.h"
#include "compiler/support/Diagnostics.h"
#include "compiler/syntax/Parser.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/Verifier.h"

using namespace nereid;
using namespace nereid::sema;

HostObject::~HostObject() = default;
HostEnv::~HostEnv() = default;

std::optional<HostResult> HostEnv::findAttribute(const HostRef &object, llvm::StringRef name) {
  HostResult member = attribute(object, name);
  return std::holds_alternative<Value>(member) ? std::optional(std::move(member)) : std::nullopt;
}

/// The value of an argument inside of the kernel, whose tensors have no IR values yet.
static Value shapeOfArgument(const Type &type) {
  if (!type.isDescriptor)
    return Value::tensor({}, type);
  auto each = [&](Scalar scalar) {
    return Value::tuple(std::vector<Value>(type.shape.size(), Value::tensor({}, scalar)));
  };
  return Value::record(descriptorClass(), {Value::tensor({}, type), each(Scalar::Int32), each(Scalar::Int64)});
}

/// Names of the IR values of an argument: "x", or "x", "x.shape.0" ... of a descriptor.
static std::string nameOfPart(llvm::StringRef parameter, const Type &type, size_t part) {
  const size_t rank = type.shape.size();
  if (part == 0)
    return parameter.str();
  const bool isStride = part > rank;
  return llvm::formatv("{0}.{1}.{2}", parameter, isStride ? "stride" : "shape", part - 1 - (isStride ? rank : 0));
}

static std::string nameOfElement(const KernelArgument &arg, const std::string &name, size_t index) {
  return name + "." + (arg.compound->fields ? (*arg.compound->fields)[index] : std::to_string(index));
}

void nereid::sema::forEachLeaf(const KernelArgument &arg, const std::string &name,
                               llvm::function_ref<void(const KernelArgument &, const std::string &)> visit) {
  if (arg.constant)
    return;
  if (!arg.compound)
    return visit(arg, name);
  for (auto [index, element] : llvm::enumerate(arg.elements))
    forEachLeaf(element, nameOfElement(arg, name, index), visit);
}

namespace {
/// Adds the parameters of a kernel's function, one argument after another.
class ParameterEmitter {
public:
  ParameterEmitter(TtFunctionEmitter &emitter, mlir::Block &entry, const syntax::Parameter &parameter)
      : emitter(emitter), entry(entry), parameter(parameter) {}
  /// Adds the argument's parameters and returns its value inside of the kernel.
  Value add(const KernelArgument &arg, const std::string &name);

  /// A known property of a parameter, as an attribute of the function.
  struct Known {
    unsigned index;
    const char *attribute;
    int64_t number;
  };
  llvm::SmallVector<Known> known;

private:
  Value addLeaf(const KernelArgument &arg, const std::string &name);

  TtFunctionEmitter &emitter;
  mlir::Block &entry;
  const syntax::Parameter &parameter;
};
} // namespace

Value ParameterEmitter::addLeaf(const KernelArgument &arg, const std::string &name) {
  mlir::OpBuilder &builder = emitter.module.builder;
  if (arg.divisibility > 1)
    known.push_back({entry.getNumArguments(), "tt.divisibility", arg.divisibility});
  if (arg.pointerRange)
    known.push_back({entry.getNumArguments(), "tt.pointer_range", arg.pointerRange});
  Type type = arg.type;
  if (!type.layoutName.empty()) {
    type.layout = descriptorLayout(builder.getContext(), type.layoutName);
    if (!type.layout)
      return emitter.error(diag::DescriptorLayout, parameter.nameRange, type.layoutName);
    type.layoutName.clear();
  }
  const Value shape = shapeOfArgument(type);
  llvm::SmallVector<TensorValue> parts;
  flatten(shape, parts);
  llvm::SmallVector<mlir::Value> values;
  for (auto [index, part] : llvm::enumerate(parts)) {
    auto label = builder.getStringAttr(nameOfPart(name, type, index));
    values.push_back(entry.addArgument(part.type.toMlir(builder.getContext()),
                                       mlir::NameLoc::get(label, emitter.location(parameter.nameRange))));
  }
  llvm::ArrayRef<mlir::Value> remaining = values;
  return unflatten(shape, remaining);
}

Value ParameterEmitter::add(const KernelArgument &arg, const std::string &name) {
  if (arg.constant)
    return asConstexpr(*arg.constant);
  if (!arg.compound)
    return addLeaf(arg, name);
  std::vector<Value> elements;
  for (auto [index, element] : llvm::enumerate(arg.elements))
    elements.push_back(add(element, nameOfElement(arg, name, index)));
  TupleValue created = *arg.compound;
  created.elements = std::make_shared<const std::vector<Value>>(std::move(elements));
  return created;
}

static tt::FuncOp createKernel(TtModuleEmitter &module, TtFunctionEmitter &emitter, const KernelRequest &request) {
  mlir::OpBuilder &builder = module.builder;
  builder.setInsertionPointToEnd(module.op.getBody());
  mlir::Location loc = emitter.location(request.kernel->definition->nameRange);
  auto func = tt::FuncOp::create(builder, loc, request.name, builder.getFunctionType({}, {}), "public");
  func->setAttr("noinline", builder.getBoolAttr(false));
  mlir::Block *entry = builder.createBlock(&func.getBody());
  llvm::SmallVector<ParameterEmitter::Known> known;
  for (auto [parameter, arg] : llvm::zip_equal(request.kernel->definition->parameters, request.args)) {
    ParameterEmitter parameters(emitter, *entry, parameter);
    const Value value = parameters.add(arg, parameter.name.str());
    emitter.scope[parameter.name] = {value, parameter.nameRange, arg.constant.has_value()};
    llvm::append_range(known, parameters.known);
  }
  func.setType(builder.getFunctionType(entry->getArgumentTypes(), {}));
  for (const auto &[index, attribute, number] : known)
    func.setArgAttr(index, attribute, builder.getI32IntegerAttr(static_cast<int32_t>(number)));
  return func;
}

/// Describes the machine, which layouts depend on; the CPU drops them.
static void setShape(mlir::ModuleOp op, const support::Options &options, const support::TargetSpec &target) {
  if (artifact::targetInfo(target.backend).isHost)
    return;
  mlir::Builder builder(op.getContext());
  const llvm::StringRef arch = llvm::StringRef(target.arch);
  const bool isCuda = target.backend == artifact::kCuda.name;
  const std::string name =
      target.backend + ":" + (isCuda ? arch.take_while([](char letter) { return llvm::isDigit(letter); }) : arch).str();
  op->setAttr(ttg::kNumCtas, builder.getI32IntegerAttr(options.numCtas));
  op->setAttr(ttg::kNumWarps, builder.getI32IntegerAttr(options.numWarps));
  op->setAttr(ttg::kTarget, builder.getStringAttr(name));
  op->setAttr(ttg::kThreadsPerWarp, builder.getI32IntegerAttr(artifact::warpSizeOf(target.backend, target.arch)));
}

mlir::OwningOpRef<mlir::ModuleOp> nereid::sema::emitKernel(mlir::MLIRContext &context, const KernelRequest &request,
                                                           HostEnv &host, support::DiagnosticEngine &diagnostics) {
  context.loadDialect<tt::TtDialect, imported::LlvmDialect>();
  JitFunction &kernel = *request.kernel;
  mlir::OwningOpRef<mlir::ModuleOp> op =
      mlir::ModuleOp::create(mlir::FileLineColLoc::get(&context, kernel.file->name(), 1, 1));
  TtModuleEmitter module(*op, host, diagnostics, request.options, request.target);
  if (kernel.isGluon) {
    context.loadDialect<ttg::TtgDialect, gluon::GluonDialect>();
    setShape(*op, request.options, request.target);
    module.isGluon = true;
  }
  if (!module.parse(kernel))
    return {};
  if (kernel.definition->parameters.size() != request.args.size()) {
    diagnostics.report(diag::KernelArgumentCount, {kernel.file.get(), kernel.definition->nameRange}, kernel.name,
                       kernel.definition->parameters.size(), request.args.size());
    return {};
  }

  // Violations that an op's verifier finds arrive as MLIR diagnostics.
  TtFunctionEmitter emitter(module, kernel);
  std::string brokenRule;
  mlir::ScopedDiagnosticHandler handler(&context, [&](mlir::Diagnostic &diagnostic) {
    if (brokenRule.empty())
      brokenRule = diagnostic.str();
    return mlir::success();
  });
  for (auto [parameter, arg] : llvm::zip_equal(kernel.definition->parameters, request.args)) {
    bool isSupported = true;
    forEachLeaf(arg, parameter.name.str(),
                [&, range = parameter.nameRange](const KernelArgument &leaf, const std::string &) {
                  isSupported = isSupported && emitter.checkSupported(leaf.type, range);
                });
    if (!isSupported)
      return {};
  }
  tt::FuncOp func = createKernel(module, emitter, request);
  emitter.run(kernel.definition->body, nullptr);
  if (!diagnostics.hasErrors() && !emitter.returned.isNone())
    emitter.error(diag::KernelReturnsValue, emitter.returnedAt, kernel.name);
  if (diagnostics.hasErrors())
    return {};
  tt::ReturnOp::create(module.builder, func.getLoc(), mlir::ValueRange());
  useHints(*op);
  if (mlir::failed(mlir::verify(*op))) {
    diagnostics.report(support::diag::InternalError, {kernel.file.get(), kernel.definition->nameRange}, "sema",
                       brokenRule);
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
