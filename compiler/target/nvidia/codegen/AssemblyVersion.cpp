// Looks for instructions of later PTX versions in inline assembly.
// SPDX-License-Identifier: MIT
#include "compiler/target/nvidia/codegen/AssemblyVersion.h"

#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/InstrTypes.h"

using namespace nereid;

namespace {
struct LaterPtx {
  llvm::StringLiteral text;
  unsigned version;
};
// PTX ISA, the notes of each instruction.
constexpr LaterPtx kLater[] = {
    {"multimem.", 81}, {"red.async", 81}, {"st.async", 81},
    {"acc::f32", 82},  {".b128", 83},     {"tensormap.", 83},
    {"st.bulk", 86},   {"tcgen05.", 86},  {"clusterlaunchcontrol.", 86},
    {"e2m1x2", 86},    {"e2m3x2", 86},    {"e3m2x2", 86},
    {"ue8m0x2", 86},   {".e4m3x4", 86},   {".e5m2x4", 86},
    {".v8.", 88},
};
} // namespace

static unsigned ptxOf(llvm::StringRef assembly) {
  unsigned version = 0;
  for (const LaterPtx &later : kLater)
    if (later.version > version && assembly.contains(later.text))
      version = later.version;
  return version;
}

unsigned nvidia::ptxOfAssembly(const llvm::Module &module) {
  unsigned version = 0;
  for (const llvm::Function &function : module)
    for (const llvm::Instruction &instruction : llvm::instructions(function))
      if (const auto *call = llvm::dyn_cast<llvm::CallBase>(&instruction))
        if (const auto *assembly = llvm::dyn_cast<llvm::InlineAsm>(call->getCalledOperand()))
          version = std::max(version, ptxOf(assembly->getAsmString()));
  return version;
}
