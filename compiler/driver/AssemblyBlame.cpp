// Compiles a kernel again without parts of its inline assembly.
// SPDX-License-Identifier: MIT
//
// LLVM's fatal errors have no place, and few of their texts tell of assembly: `Cannot emit physreg copy instruction` is
// one that constraints cause. What the kernel does without the assembly does not matter, since that code is discarded.
#include "compiler/driver/AssemblyBlame.h"

#include "compiler/support/FatalGuard.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Builders.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SetVector.h"

using namespace nereid;
using namespace nereid::driver;

namespace {
/// Text and constraints: what a function contains is in the module once for each of its calls.
using Assembly = std::pair<mlir::Attribute, mlir::Attribute>;
} // namespace

static Assembly assemblyOf(tt::ElementwiseInlineAsmOp op) { return {op.getAsmStringAttr(), op.getConstraintsAttr()}; }

static llvm::SmallSetVector<Assembly, 4> assembliesIn(mlir::ModuleOp module) {
  llvm::SmallSetVector<Assembly, 4> assemblies;
  module.walk([&](tt::ElementwiseInlineAsmOp op) { assemblies.insert(assemblyOf(op)); });
  return assemblies;
}

/// A value of the result's type that depends on an operand where one has that type.
static mlir::Value standIn(mlir::OpBuilder &builder, tt::ElementwiseInlineAsmOp op, mlir::Type type) {
  for (mlir::Value operand : op.getOperands())
    if (operand.getType() == type)
      return operand;
  mlir::Type number = type;
  const bool isPointer = mlir::isa<tt::PointerType>(tt::elementOf(type));
  if (isPointer) {
    number = builder.getI64Type();
    if (auto tile = mlir::dyn_cast<mlir::RankedTensorType>(type))
      number = tile.clone(number);
  }
  mlir::Value zero = mlir::arith::ConstantOp::create(builder, op.getLoc(), builder.getZeroAttr(number));
  return isPointer ? tt::IntToPtrOp::create(builder, op.getLoc(), type, zero) : zero;
}

static void remove(tt::ElementwiseInlineAsmOp op) {
  mlir::OpBuilder builder(op);
  for (mlir::Value result : op.getResults())
    result.replaceAllUsesWith(standIn(builder, op, result.getType()));
  op.erase();
}

/// The request without what the caller waits for or sees.
static Request requestOf(const Compilation &failed, const Backend &backend) {
  Request request;
  request.keep = {failed.phase};
  request.keepsBinary = llvm::StringRef(failed.phase) == backend.phases.back().name;
  request.tools = failed.request.tools;
  request.parameters = failed.request.parameters;
  return request;
}

/// Whether the module's code generation ends without a fatal error once the assembly is removed.
static bool compilesWithout(const Compilation &failed, const Backend &backend, const std::string &text,
                            llvm::ArrayRef<Assembly> removed) {
  const std::unique_ptr<mlir::MLIRContext> context = createContext();
  support::DiagnosticEngine ignored;
  mlir::OwningOpRef<mlir::ModuleOp> module = parse(*context, text, "", ignored);
  if (!module)
    return false;
  module->walk([&](tt::ElementwiseInlineAsmOp op) {
    const auto isSame = [&](const Assembly &each) {
      return mlir::cast<mlir::StringAttr>(each.first).getValue() == op.getAsmString() &&
             mlir::cast<mlir::StringAttr>(each.second).getValue() == op.getConstraints();
    };
    if (llvm::any_of(removed, isSame))
      remove(op);
  });
  auto again = std::make_shared<Compilation>(*module, failed.options, failed.target, requestOf(failed, backend));
  again->kernel = *module->getOps<tt::FuncOp>().begin();
  const auto failure = support::runGuarded([&] {
    if (mlir::succeeded(backend.begin(*again)))
      (void)runPhases(*again, backend.afterTtir());
    again->state.reset();
  });
  return !failure;
}

std::optional<mlir::Location> driver::findGuiltyAssembly(const Compilation &failed, const Backend &backend) {
  const auto &stages = failed.result.artifact.stages;
  const auto ttir = llvm::find_if(stages, [](const auto &stage) { return stage.name == "ttir"; });
  llvm::SmallVector<Assembly> all = assembliesIn(failed.module).takeVector();
  const bool isOthersText = failed.request.replacement && !failed.replacementOf("ttir");
  if (all.empty() || isOthersText || ttir == stages.end() || !compilesWithout(failed, backend, ttir->data, all))
    return std::nullopt;
  Assembly guilty = all.front();
  for (const Assembly &each : all)
    if (all.size() > 1 && compilesWithout(failed, backend, ttir->data, each)) {
      guilty = each;
      break;
    }
  std::optional<mlir::Location> where;
  mlir::ModuleOp module = failed.module;
  module.walk([&](tt::ElementwiseInlineAsmOp op) {
    if (!where && assemblyOf(op) == guilty)
      where = op.getLoc();
  });
  return where;
}
