// Lists the passes that the CPU target runs before it plans loops.
// SPDX-License-Identifier: MIT
#include "compiler/target/cpu/Pipeline.h"

#include "artifact/Sanitizers.h"
#include "compiler/passes/tt/Passes.h"
#include "compiler/passes/tt/Pipeline.h"
#include "compiler/target/cpu/prepare/Passes.h"

#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassOptions.h"
#include "mlir/Pass/PassRegistry.h"

#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace nereid;

void cpu::buildTtirPipeline(OpPassManager &passes, bool fusesFloats) {
  passes.addPass(tt::createDropNoinline()); // noinline has no benefit on a CPU
  tt::buildOptimisePipeline(passes, fusesFloats);
}

void cpu::buildPreparePipeline(OpPassManager &passes, const PrepareOptions &options) {
  // Only textual IR from the user can still have calls.
  passes.addPass(tt::createInlineCalls());
  passes.addPass(createCheckTypes({options.hasF16c, options.arch}));
  passes.addPass(tt::createDecomposeScaledDots());
  if (options.sanitizers) {
    tt::InsertChecksOptions checks;
    const std::string names = artifact::sanitizerNames(options.sanitizers);
    for (StringRef kind : llvm::split(names, ','))
      checks.kinds.push_back(kind.str());
    passes.addPass(tt::createInsertChecks(checks));
  }
  tt::DropHintsOptions hints; // the CPU uses no hints
  hints.all = true;
  passes.addPass(tt::createDropHints(hints));
  passes.addPass(createCarryOffsets());
  passes.addPass(createFlattenFirstBranch());
  passes.addPass(createScalarAsserts());
  passes.addPass(createHoistScalars());
  const DotMachine &dots = options.dots;
  passes.addPass(createWidenDots({.hasAmxBf16 = dots.hasAmxBf16,
                                  .hasAmxInt8 = dots.hasAmxInt8,
                                  .hasAvx512Bf16 = dots.hasAvx512Bf16,
                                  .hasVnni = dots.hasVnni,
                                  .registerBits = dots.registerBits}));
}

namespace {
struct TtirPipeline : PassPipelineOptions<TtirPipeline> {
  Option<bool> fusesFloats{*this, "fp-fusion", llvm::cl::desc("a multiplication and an addition may be rounded once"),
                           llvm::cl::init(true)};
};

struct PreparePipeline : PassPipelineOptions<PreparePipeline> {
  Option<bool> hasF16c{*this, "f16c", llvm::cl::desc("the machine converts f16 (F16C)"), llvm::cl::init(true)};
  Option<bool> hasAmxBf16{*this, "amx-bf16", llvm::cl::desc("the machine has AMX for bf16"), llvm::cl::init(false)};
  Option<bool> hasAmxInt8{*this, "amx-int8", llvm::cl::desc("the machine has AMX for bytes"), llvm::cl::init(false)};
  Option<bool> hasAvx512Bf16{*this, "avx512-bf16", llvm::cl::desc("the machine multiplies pairs of bf16"),
                             llvm::cl::init(false)};
  Option<bool> hasVnni{*this, "vnni", llvm::cl::desc("the machine multiplies four bytes at once (VNNI)"),
                       llvm::cl::init(false)};
  Option<unsigned> registerBits{*this, "register-bits", llvm::cl::desc("width of a vector register"),
                                llvm::cl::init(512)};
  Option<std::string> sanitize{*this, "sanitize", llvm::cl::desc("sanitizers, as --sanitize of `nereid compile`")};
};
} // namespace

void cpu::registerPipelines() {
  registerPreparePasses();
  PassPipelineRegistration<TtirPipeline>(
      "cpu-ttir", "from the front end's tt to ttir",
      [](OpPassManager &passes, const TtirPipeline &options) { buildTtirPipeline(passes, options.fusesFloats); });
  PassPipelineRegistration<PreparePipeline>("cpu-prepare", "from ttir to the tt that the loop plan is built from",
                                            [](OpPassManager &passes, const PreparePipeline &options) {
                                              PrepareOptions prepare;
                                              prepare.hasF16c = options.hasF16c;
                                              prepare.dots = {.registerBits = options.registerBits,
                                                              .hasVnni = options.hasVnni,
                                                              .hasAvx512Bf16 = options.hasAvx512Bf16,
                                                              .hasAmxBf16 = options.hasAmxBf16,
                                                              .hasAmxInt8 = options.hasAmxInt8};
                                              std::string reason;
                                              const std::optional<uint32_t> sanitizers =
                                                  artifact::parseSanitizers(options.sanitize, reason);
                                              if (!sanitizers)
                                                llvm::reportFatalUsageError(llvm::StringRef(reason));
                                              prepare.sanitizers = *sanitizers;
                                              buildPreparePipeline(passes, prepare);
                                            });
}
