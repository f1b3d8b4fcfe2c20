// Compiles a kernel for fibers and runs its grid.
// SPDX-License-Identifier: MIT
#include "test/unit/lowering/SimtHost.h"

#include "compiler/analysis/SharedMemory.h"
#include "compiler/driver/Compiler.h"
#include "compiler/lowering/TtgToLlvm/TtgModuleEmitter.h"
#include "compiler/passes/tt/Passes.h"
#include "compiler/passes/tt/Pipeline.h"
#include "compiler/passes/ttg/Passes.h"
#include "compiler/target/nvidia/Pipeline.h"
#include "compiler/target/nvidia/dialect/Dialect.h"
#include "compiler/target/nvidia/passes/Passes.h"
#include "test/unit/lowering/Fibers.h"
#include "test/unit/lowering/HostEmitter.h"

#include "mlir/IR/MLIRContext.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"

#include "llvm/ExecutionEngine/Orc/AbsoluteSymbols.h"
#include "llvm/ExecutionEngine/Orc/JITTargetMachineBuilder.h"
#include "llvm/ExecutionEngine/Orc/LLJIT.h"
#include "llvm/IR/Verifier.h"
#include "llvm/Support/TargetSelect.h"

using namespace nereid;
using namespace nereid::simt;

struct SimtKernel::Code {
  std::unique_ptr<llvm::orc::LLJIT> jit;
  std::vector<char> shared;
  void (*entry)(const char *) = nullptr;
};

SimtKernel::SimtKernel() : code(std::make_unique<Code>()) {}
SimtKernel::~SimtKernel() = default;

std::vector<char> Arguments::packed(char *scratch) const {
  std::vector<char> block = bytes;
  block.resize((block.size() + 7) / 8 * 8 + 16);
  std::memcpy(block.data() + block.size() - 16, &scratch, sizeof scratch);
  return block;
}

static bool toTtg(mlir::ModuleOp module, unsigned numWarps, bool hasWarpGroups, bool hasTensorCopies,
                  unsigned numCtas) {
  if (module->hasAttr(ttg::kNumWarps))
    return true;
  mlir::PassManager passes(module.getContext());
  tt::buildOptimisePipeline(passes, /*fusesFloats=*/true, [&](mlir::OpPassManager &more) {
    if (hasTensorCopies)
      more.addPass(nvidia::createLowerDescriptorsToTma({/*wherePossible=*/true}));
  });
  passes.addPass(tt::createDecomposeScaledDots({/*halves=*/true}));
  passes.addPass(tt::createPadTiles());
  nvidia::TtgPipelineOptions gpu;
  gpu.numWarps = numWarps;
  gpu.hasWarpGroupMma = hasWarpGroups;
  gpu.specializesWarps = hasWarpGroups && numCtas == 1;
  gpu.numCtas = numCtas;
  gpu.splitsWherePossible = true;
  nvidia::buildTtgPipeline(passes, gpu);
  return mlir::succeeded(passes.run(module));
}

/// Adds a function that calls the kernel with the parameters of a packed buffer.
static void addEntry(llvm::Module &module, llvm::Function &kernel) {
  llvm::IRBuilder<> ir(module.getContext());
  auto *type = llvm::FunctionType::get(ir.getVoidTy(), {ir.getPtrTy()}, false);
  auto *entry = llvm::Function::Create(type, llvm::Function::ExternalLinkage, "simt_entry", module);
  ir.SetInsertPoint(llvm::BasicBlock::Create(module.getContext(), "entry", entry));
  uint64_t offset = 0;
  std::vector<llvm::Value *> arguments;
  for (llvm::Argument &parameter : kernel.args()) {
    const uint64_t size = module.getDataLayout().getTypeStoreSize(parameter.getType());
    offset = (offset + size - 1) / size * size;
    arguments.push_back(
        ir.CreateLoad(parameter.getType(), ir.CreateConstGEP1_64(ir.getInt8Ty(), entry->getArg(0), offset)));
    offset += size;
  }
  ir.CreateCall(&kernel, arguments);
  ir.CreateRetVoid();
}

/// Rounding function called by code for processors without bf16; the result is in the low 16 bits of the register.
static float roundToBfloat(float value) {
  llvm::APFloat rounded(value);
  bool losesInfo;
  rounded.convert(llvm::APFloat::BFloat(), llvm::APFloat::rmNearestTiesToEven, &losesInfo);
  return llvm::bit_cast<float>(static_cast<uint32_t>(rounded.bitcastToAPInt().getZExtValue()));
}

static std::unique_ptr<llvm::orc::LLJIT> createJit(char *shared, std::string &error) {
  llvm::InitializeNativeTarget();
  llvm::InitializeNativeTargetAsmPrinter();
  auto machine = llvm::orc::JITTargetMachineBuilder::detectHost();
  if (!machine) {
    error += llvm::toString(machine.takeError());
    return nullptr;
  }
  machine->addFeatures({"-avx512bf16"}); // its conversion loses denormals
  auto jit = llvm::orc::LLJITBuilder().setJITTargetMachineBuilder(std::move(*machine)).create();
  if (!jit) {
    error += llvm::toString(jit.takeError());
    return nullptr;
  }
  llvm::orc::SymbolMap symbols;
  auto add = [&](const char *name, void *address) {
    symbols[(*jit)->mangleAndIntern(name)] = {llvm::orc::ExecutorAddr::fromPtr(address),
                                              llvm::JITSymbolFlags::Exported};
  };
  for (const HostFunction &function :
       llvm::concat<const HostFunction>(hostFunctions(), wgmmaFunctions(), tmaFunctions()))
    add(function.name, function.address);
  add("nereid_shared", shared);
  add("__truncsfbf2", reinterpret_cast<void *>(&roundToBfloat));
  if (auto failure = (*jit)->getMainJITDylib().define(llvm::orc::absoluteSymbols(std::move(symbols)))) {
    error += llvm::toString(std::move(failure));
    return nullptr;
  }
  // Functions of libm and compiler-rt that conversions of f16 and bf16 call.
  auto process =
      llvm::orc::DynamicLibrarySearchGenerator::GetForCurrentProcess((*jit)->getDataLayout().getGlobalPrefix());
  if (process)
    (*jit)->getMainJITDylib().addGenerator(std::move(*process));
  else
    llvm::consumeError(process.takeError());
  return std::move(*jit);
}

std::unique_ptr<SimtKernel> SimtKernel::compile(const std::string &text, unsigned numWarps, std::string *error,
                                                bool hasWarpGroups, bool hasTensorCopies, unsigned numCtas) {
  std::string ignored;
  std::string &messages = error ? *error : ignored;
  const auto owner = driver::createContext();
  mlir::MLIRContext &context = *owner;
  mlir::ScopedDiagnosticHandler handler(&context, [&](mlir::Diagnostic &diagnostic) {
    messages += diagnostic.str() + "\n";
    return mlir::success();
  });
  auto source = mlir::parseSourceString<mlir::ModuleOp>(text, &context);
  if (!source || !toTtg(*source, numWarps, hasWarpGroups, hasTensorCopies, numCtas))
    return nullptr;

  std::unique_ptr<SimtKernel> kernel(new SimtKernel);
  llvm::raw_string_ostream(kernel->ttgir) << *source;
  kernel->numThreads = 32 * ttg::totalWarpsOf(*source);
  if (ttng::isSplitOverCluster(*source))
    kernel->numCtas = (*source)->getAttrOfType<mlir::IntegerAttr>(ttg::kNumCtas).getInt();
  const analysis::SharedMemoryPlan shared = analysis::planSharedMemory(*source);
  kernel->sharedBytes = shared.bytes;
  kernel->code->shared.resize(shared.bytes + shared.alignment);
  char *begin = kernel->code->shared.data();
  begin += (shared.alignment - reinterpret_cast<uintptr_t>(begin) % shared.alignment) % shared.alignment;
  kernel->code->jit = createJit(begin, messages);
  if (!kernel->code->jit)
    return nullptr;

  auto llvmContext = std::make_unique<llvm::LLVMContext>();
  auto module = std::make_unique<llvm::Module>("simt", *llvmContext);
  module->setDataLayout(kernel->code->jit->getDataLayout());
  module->setTargetTriple(kernel->code->jit->getTargetTriple());
  HostEmitter emitter;
  if (mlir::failed(lowering::emitModule(*source, *module, emitter, shared, {})))
    return nullptr;
  kernel->barriers = emitter.barriers;
  kernel->matrixLoads = emitter.matrixLoads;
  kernel->matrixStores = emitter.matrixStores;
  if (auto bytes = (*source)->getAttrOfType<mlir::IntegerAttr>(ttg::kScratchBytes))
    kernel->scratchBytes = bytes.getInt();
  kernel->copies = emitter.copies;
  for (auto function : source->getOps<tt::FuncOp>())
    if (function.isPublic())
      addEntry(*module, *module->getFunction(function.getSymName()));
  llvm::raw_string_ostream(kernel->llir) << *module;
  llvm::raw_string_ostream stream(messages);
  if (llvm::verifyModule(*module, &stream))
    return nullptr;
  llvm::orc::ThreadSafeModule owned(std::move(module), std::move(llvmContext));
  if (auto failure = kernel->code->jit->addIRModule(std::move(owned))) {
    messages += llvm::toString(std::move(failure));
    return nullptr;
  }
  auto found = kernel->code->jit->lookup("simt_entry");
  if (!found) {
    messages += llvm::toString(found.takeError());
    return nullptr;
  }
  kernel->code->entry = found->toPtr<void (*)(const char *)>();
  return kernel;
}

bool SimtKernel::run(std::array<uint32_t, 3> grid, const Arguments &arguments, Order order) const {
  std::vector<char> scratch(size_t{scratchBytes} * grid[0] * grid[1] * grid[2]);
  const std::vector<char> packed = arguments.packed(scratch.data());
  bool isComplete = true;
  for (uint32_t z = 0; z < grid[2]; ++z)
    for (uint32_t y = 0; y < grid[1]; ++y)
      for (uint32_t x = 0; x < grid[0]; ++x) {
        // A program must not depend on shared memory left by another.
        std::fill(code->shared.begin(), code->shared.end(), char(0xA5));
        Cluster cluster(numCtas, numThreads, grid, {x, y, z}, code->shared);
        isComplete &= cluster.run([&] { code->entry(packed.data()); }, order);
      }
  return isComplete;
}
