// The phases of the CPU target: plan, LLVM IR, object, shared object.
// SPDX-License-Identifier: MIT
#include "compiler/target/cpu/CpuTarget.h"

#include "compiler/dialect/check/Dialect.h"
#include "compiler/dialect/tt/Dialect.h"
#include "compiler/dialect/tt/Report.h"
#include "compiler/lowering/LeaveBetweenPasses.h"
#include "compiler/passes/tt/Passes.h"
#include "compiler/support/FatalGuard.h"
#include "compiler/target/cpu/CLibrary.h"
#include "compiler/target/cpu/Codegen.h"
#include "compiler/target/cpu/Diagnostics.h"
#include "compiler/target/cpu/FunctionEmitter.h"
#include "compiler/target/cpu/Link.h"
#include "compiler/target/cpu/PlanBuilder.h"

#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"

#include "llvm/ADT/StringSet.h"
#include "llvm/IR/DiagnosticHandler.h"
#include "llvm/IR/DiagnosticInfo.h"
#include "llvm/IR/DiagnosticPrinter.h"
#include "llvm/IR/Verifier.h"
#include "llvm/MC/MCSubtargetInfo.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/Transforms/Utils/Cloning.h"

using namespace mlir;
using namespace nereid;
using namespace nereid::cpu;

/// Whether a function calls itself, at once or through others.
static bool isRecursive(tt::CallOp call) {
  auto module = call->getParentOfType<ModuleOp>();
  llvm::StringSet<> seen;
  SmallVector<StringRef> pending{call.getCallee()};
  while (!pending.empty()) {
    auto function = module.lookupSymbol<tt::FuncOp>(pending.pop_back_val());
    if (!function)
      continue;
    WalkResult found = function.walk([&](tt::CallOp inner) {
      if (seen.insert(inner.getCallee()).second)
        pending.push_back(inner.getCallee());
      return inner.getCallee() == call.getCallee() ? WalkResult::interrupt() : WalkResult::advance();
    });
    if (found.wasInterrupted())
      return true;
  }
  return false;
}

/// What a type needs of the machine must be there, and every call must be gone.
static LogicalResult checkTypes(tt::FuncOp kernel, const VectorFacts &machine, llvm::StringRef arch) {
  auto check = [&](Operation *op, Type type) -> LogicalResult {
    Type element = tt::elementOf(type);
    if (element.isF16() && !machine.hasF16c) // LLVM would call a library that is not there
      return tt::report(op->getLoc(), diag::Float16NeedsF16c, arch);
    return success();
  };
  WalkResult result = kernel.walk([&](Operation *op) -> WalkResult {
    if (auto call = dyn_cast<tt::CallOp>(op))
      return tt::report(op->getLoc(), isRecursive(call) ? diag::RecursionUnsupported : diag::CallRemains, call.getCallee());
    if (op->hasTrait<OpTrait::ConstantLike>())
      return WalkResult::advance(); // a constant may have lost its place, its user has one
    SmallVector<Type> types(op->getOperandTypes());
    llvm::append_range(types, op->getResultTypes());
    for (Region &region : op->getRegions())
      for (Block &block : region)
        llvm::append_range(types, block.getArgumentTypes());
    for (Type type : types)
      if (failed(check(op, type)))
        return WalkResult::interrupt();
    return WalkResult::advance();
  });
  return failure(result.wasInterrupted());
}

/// Inlines what was kept apart on request too: tiles have no calling convention here.
static LogicalResult inlineAllCalls(ModuleOp module) {
  bool hasCalls = false;
  module.walk([&](tt::CallOp) { hasCalls = true; });
  if (!hasCalls)
    return success();
  for (auto function : module.getOps<tt::FuncOp>())
    function->removeAttr("noinline");
  PassManager passes(module.getContext());
  passes.addPass(createInlinerPass());
  passes.addPass(createCanonicalizerPass());
  passes.addPass(createCSEPass());
  return passes.run(module);
}

static LogicalResult decomposeScaledDots(ModuleOp module) {
  bool hasAny = false;
  module.walk([&](tt::DotScaledOp) { hasAny = true; });
  if (!hasAny)
    return success();
  PassManager passes(module.getContext());
  passes.addPass(tt::createDecomposeScaledDots());
  return passes.run(module);
}

/// What hints tell is of no use here.
static LogicalResult dropHints(ModuleOp module) {
  tt::DropHintsOptions options;
  options.all = true;
  PassManager passes(module.getContext());
  passes.addPass(tt::createDropHints(options));
  return passes.run(module);
}

/// Checks for the sanitizers that the options ask for.
static LogicalResult insertChecks(ModuleOp module, uint32_t sanitizers) {
  if (!sanitizers)
    return success();
  tt::InsertChecksOptions options;
  llvm::SmallVector<llvm::StringRef> words;
  const std::string names = support::sanitizerNames(sanitizers);
  llvm::StringRef(names).split(words, ',');
  for (llvm::StringRef word : words)
    options.kinds.push_back(word.str());
  PassManager passes(module.getContext());
  passes.addPass(tt::createInsertChecks(options));
  return passes.run(module);
}

static support::Sanitizer sanitizerOf(check::ValuesOp op) {
  switch (op.getKind()) {
  case check::Kind::Bounds:
    return support::Bounds;
  case check::Kind::Unwritten:
  case check::Kind::Written:
  case check::Kind::Undefined:
    return support::Uninit;
  case check::Kind::Overflow:
  case check::Kind::Wrapped:
    return support::Overflow;
  case check::Kind::Nan:
    return support::Nan;
  }
  llvm_unreachable("all kinds are listed");
}

namespace {
/// Keeps the first error that code generation reports: what it says of a kernel's assembly.
struct AsmErrors : llvm::DiagnosticHandler {
  AsmErrors(std::string &text, std::optional<uint64_t> &cookie) : text(text), cookie(cookie) {}

  bool handleDiagnostics(const llvm::DiagnosticInfo &info) override {
    if (info.getSeverity() != llvm::DS_Error || !text.empty())
      return true;
    if (auto *parsed = llvm::dyn_cast<llvm::DiagnosticInfoSrcMgr>(&info)) {
      text = parsed->getSMDiag().getMessage().str() + ": `" + parsed->getSMDiag().getLineContents().trim().str() + "`";
      cookie = parsed->getLocCookie();
      return true;
    }
    llvm::raw_string_ostream stream(text);
    llvm::DiagnosticPrinterRawOStream printer(stream);
    info.print(printer);
    if (auto *assembly = llvm::dyn_cast<llvm::DiagnosticInfoInlineAsm>(&info))
      cookie = assembly->getLocCookie();
    return true;
  }

  std::string &text;
  std::optional<uint64_t> &cookie;
};
} // namespace

static VectorFacts factsOf(const llvm::TargetMachine &machine) {
  const llvm::MCSubtargetInfo &subtarget = *machine.getMCSubtargetInfo();
  VectorFacts facts;
  facts.hasAvx512 = subtarget.checkFeatures("+avx512f,+avx512vl,+avx512dq");
  facts.hasAvx512Bw = facts.hasAvx512 && subtarget.checkFeatures("+avx512bw");
  facts.hasVnni = facts.hasAvx512Bw && subtarget.checkFeatures("+avx512vnni");
  facts.hasAmxBf16 = facts.hasAvx512Bw && subtarget.checkFeatures("+amx-tile,+amx-bf16");
  facts.hasFma = subtarget.checkFeatures("+fma");
  facts.hasF16c = subtarget.checkFeatures("+f16c");
  facts.registerBits = facts.hasAvx512 ? 512 : subtarget.checkFeatures("+avx2") ? 256 : 128;
  return facts;
}

template <typename T> static FailureOr<T> orDiagnose(Operation *op, llvm::Expected<T> value) {
  if (value)
    return std::move(*value);
  return op->emitError() << llvm::toString(value.takeError());
}

FailureOr<CpuCode> cpu::compile(ModuleOp module, const support::Options &options, const support::TargetSpec &target,
                                const Emit &emit) {
  if (failed(inlineAllCalls(module)))
    return failure();
  FailureOr<tt::FuncOp> kernel = lowering::findKernel(module);
  if (failed(kernel))
    return failure();
  auto machine = orDiagnose(*kernel, createMachine(target));
  if (failed(machine))
    return failure();
  VectorFacts vectors = factsOf(**machine);
  vectors.cacheBytes = target.lastLevelCacheBytes;
  if (failed(checkTypes(*kernel, vectors, target.arch)))
    return failure();

  if (failed(decomposeScaledDots(module)))
    return failure();
  if (failed(insertChecks(module, options.sanitize)))
    return failure();
  if (failed(dropHints(module)))
    return failure();
  carryOffsets(*kernel);
  widenProducts(*kernel, vectors);
  CpuCode code;
  code.params = lowering::paramsOf(*kernel);
  TileFacts facts;
  FailureOr<LoopPlan> plan = makePlan(*kernel, facts, vectors);
  if (failed(plan))
    return failure();
  code.arenaBytes = plan->arenaBytes;
  if (emit.plan)
    code.plan = print(*plan, facts);

  llvm::LLVMContext context;
  lowering::leaveBetweenPasses(context);
  llvm::Module llvmModule(kernel->getSymName(), context);
  llvmModule.setTargetTriple((*machine)->getTargetTriple());
  llvmModule.setDataLayout((*machine)->createDataLayout());
  std::string asmError;
  std::optional<uint64_t> asmCookie;
  context.setDiagnosticHandler(std::make_unique<AsmErrors>(asmError, asmCookie));
  FunctionEmitter emitter(llvmModule, *kernel, *plan, facts, vectors, options);
  if (emit.checkText)
    emitter.checkText = [&](check::ValuesOp op) { return emit.checkText(op.getLoc(), sanitizerOf(op)); };
  if (failed(emitter.run()))
    return failure();
  if (llvm::Error error = linkLibrary(llvmModule))
    return kernel->emitError() << llvm::toString(std::move(error));
#ifndef NDEBUG
  if (std::string text; true) {
    llvm::raw_string_ostream stream(text);
    if (llvm::verifyModule(llvmModule, &stream))
      return kernel->emitError() << "invalid LLVM IR; this is a defect of the compiler: " << text;
  }
#endif
  support::leaveIfAbandoned();
  optimise(llvmModule, **machine);
  if (emit.llir)
    llvm::raw_string_ostream(code.llir) << llvmModule;
  if (emit.assembly) {
    auto copy = llvm::CloneModule(llvmModule); // code generation changes the module
    auto text = orDiagnose(*kernel, emitAssembly(*copy, **machine));
    if (failed(text))
      return failure();
    code.assembly = std::move(*text);
  }
  auto object = orDiagnose(*kernel, emitObject(llvmModule, **machine));
  if (failed(object))
    return failure();
  if (!asmError.empty()) {
    const auto &places = emitter.lanes.asmLocations;
    const bool isKnown = asmCookie && *asmCookie >= 1 && *asmCookie <= places.size();
    return emitError(isKnown ? places[*asmCookie - 1] : kernel->getLoc()) << "the assembly is not accepted: " << asmError;
  }
  code.object = std::move(*object);
  auto shared = orDiagnose(*kernel, linkShared(code.object, kernel->getSymName()));
  if (failed(shared))
    return failure();
  code.sharedObject = std::move(*shared);
  return code;
}
