// Compiles a kernel to PTX and runs its grid on the simulated GPU.
// SPDX-License-Identifier: MIT
#include "test/unit/lowering/SimtHost.h"

#include "compiler/driver/Compiler.h"
#include "compiler/passes/tt/Passes.h"
#include "compiler/passes/tt/Pipeline.h"
#include "compiler/passes/ttg/Passes.h"
#include "compiler/target/nvidia/CudaTarget.h"
#include "compiler/target/nvidia/Pipeline.h"
#include "compiler/target/nvidia/dialect/Dialect.h"
#include "compiler/target/nvidia/passes/Passes.h"

#include "mlir/IR/MLIRContext.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"

using namespace nereid;
using namespace nereid::simt;

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

/// The phases of the NVIDIA target from `ttg` to PTX.
static bool toPtx(mlir::ModuleOp module, const support::Options &options, SimtKernel &kernel) {
  support::TargetSpec target;
  target.backend = "cuda";
  target.arch = "90";
  auto begun = nvidia::beginKernel(module, options, target, {});
  if (mlir::failed(begun))
    return false;
  nvidia::CudaKernel &code = **begun;
  nvidia::planMemory(code);
  if (mlir::failed(nvidia::makeLlvm(code)) || mlir::failed(nvidia::makePtx(code)))
    return false;
  kernel.sharedBytes = code.shared.bytes;
  kernel.ptx = code.ptx;
  return true;
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

  auto kernel = std::make_unique<SimtKernel>();
  llvm::raw_string_ostream(kernel->ttgir) << *source;
  kernel->numThreads = 32 * ttg::totalWarpsOf(*source);
  if (auto ctas = (*source)->getAttrOfType<mlir::IntegerAttr>(ttg::kNumCtas))
    kernel->numCtas = ctas.getInt();
  if (auto bytes = (*source)->getAttrOfType<mlir::IntegerAttr>(ttg::kScratchBytes))
    kernel->scratchBytes = bytes.getInt();
  support::Options options;
  options.numWarps = numWarps;
  options.numCtas = kernel->numCtas;
  options.debug = true;
  if (!toPtx(*source, options, *kernel))
    return nullptr;
  auto module = sim::parse(kernel->ptx);
  if (!module) {
    messages += module.error().text;
    return nullptr;
  }
  kernel->module = *module;
  return kernel;
}

/// Seed 1 completes asynchronous operations when they are issued.
static uint64_t seedOf(Order order) {
  switch (order) {
  case Order::Ascending:
    return 0;
  case Order::AtOnce:
    return 1;
  case Order::Mixed:
    return 2;
  case Order::OtherMixed:
    return 3;
  }
  return 0;
}

bool SimtKernel::run(std::array<uint32_t, 3> grid, const Arguments &arguments, Order order,
                     std::string *failure) const {
  std::vector<char> scratch(size_t{scratchBytes} * numCtas * grid[0] * grid[1] * grid[2] + 128);
  char *begin = scratch.data() + (128 - reinterpret_cast<uintptr_t>(scratch.data()) % 128) % 128;
  const std::vector<char> packed = arguments.packed(begin);
  sim::Launch launch;
  launch.entry = sim::entriesOf(*module).front().name;
  launch.grid = {grid[0] * numCtas, grid[1], grid[2]};
  launch.block = {.x = numThreads};
  launch.cluster = {.x = numCtas};
  launch.sharedBytes = sharedBytes;
  launch.params = packed;
  launch.seed = seedOf(order);
  launch.threads = 1; // programs in order
  launch.checks = checks;
  auto done = sim::run(*module, launch);
  if (!done && failure)
    *failure = done.error().code + ": " + done.error().text;
  return bool(done);
}

unsigned SimtKernel::countOf(const std::string &text) const {
  unsigned count = 0;
  for (size_t at = ptx.find(text); at != std::string::npos; at = ptx.find(text, at + 1))
    ++count;
  return count;
}
