// Emits wgmma as inline PTX, since LLVM has no intrinsics for it.
// SPDX-License-Identifier: MIT
//
// One inline assembly holds all instructions of a dot, from the fence to the commit, with the accumulators as results
// that are operands, too. So nothing comes between the instructions that would make ptxas wait.
#include "compiler/target/nvidia/lowering/Wgmma.h"
#include "compiler/target/nvidia/lowering/NvidiaEmitter.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/Support/raw_ostream.h"

using namespace nereid;
using namespace nereid::nvidia;

static const char *nameOf(WgmmaElement element) {
  switch (element) {
  case WgmmaElement::F16:
    return "f16";
  case WgmmaElement::BF16:
    return "bf16";
  case WgmmaElement::TF32:
    return "tf32";
  case WgmmaElement::E4M3:
    return "e4m3";
  case WgmmaElement::E5M2:
    return "e5m2";
  case WgmmaElement::Int8:
    return "s8";
  }
  llvm_unreachable("all elements are listed");
}

namespace {
/// An inline assembly whose results are accumulators, which may be its first operands as well.
class AccumulatorAsm {
public:
  AccumulatorAsm(lowering::IrBuilder &ir, llvm::SmallVector<llvm::Type *> types,
                 llvm::ArrayRef<llvm::Value *> accumulators)
      : ir(ir), resultTypes(std::move(types)), text(body) {
    for (llvm::Type *type : resultTypes)
      constraints.push_back(type->isIntegerTy() ? "=r" : "=f");
    for (auto [index, sum] : llvm::enumerate(accumulators))
      add(sum, std::to_string(index));
  }

  std::string add(llvm::Value *value, const std::string &constraint) {
    constraints.push_back(constraint);
    inputs.push_back(value);
    return "$" + std::to_string(constraints.size() - 1);
  }
  llvm::raw_ostream &out() { return text; }

  llvm::SmallVector<llvm::Value *> emit() {
    llvm::Type *type = resultTypes.empty()       ? ir.getVoidTy()
                       : resultTypes.size() == 1 ? resultTypes.front()
                                                 : llvm::StructType::get(ir.getContext(), resultTypes);
    auto inputTypes = llvm::map_to_vector(inputs, [](llvm::Value *value) { return value->getType(); });
    auto *function = llvm::FunctionType::get(type, inputTypes, false);
    auto *assembly = llvm::InlineAsm::get(function, body, llvm::join(constraints, ","), /*hasSideEffects=*/true);
    llvm::CallInst *call = ir.CreateCall(assembly, inputs);
    call->setDoesNotThrow();
    call->addFnAttr(llvm::Attribute::WillReturn);
    call->addFnAttr(llvm::Attribute::Convergent);
    if (resultTypes.size() == 1)
      return {call};
    llvm::SmallVector<llvm::Value *> results;
    for (unsigned index = 0; index < resultTypes.size(); ++index)
      results.push_back(ir.CreateExtractValue(call, index));
    return results;
  }

private:
  lowering::IrBuilder &ir;
  std::string body;
  llvm::SmallVector<std::string> constraints;
  llvm::SmallVector<llvm::Value *> inputs;
  llvm::SmallVector<llvm::Type *> resultTypes;
  llvm::raw_string_ostream text;
};

/// Writes the instructions of a dot.
class WgmmaWriter {
public:
  WgmmaWriter(lowering::IrBuilder &ir, const WgmmaDot &dot, AccumulatorAsm &assembly) : dot(dot), os(assembly.out()) {
    if (dot.leftDescriptor)
      left = assembly.add(dot.leftDescriptor, "l");
    for (llvm::Value *word : dot.leftWords)
      words.push_back(assembly.add(word, "r"));
    right = assembly.add(dot.rightDescriptor, "l");
    if (dot.useAccumulators)
      useAccumulators = assembly.add(ir.CreateZExt(dot.useAccumulators, ir.getInt32Ty()), "r");
  }

  void write() {
    os << "{\n.reg .pred first, next;\n.reg .b64 left, right;\n";
    os << "setp.ne.b32 first, "
       << (dot.useAccumulators        ? useAccumulators
           : dot.accumulators.empty() ? "0"
                                      : "1")
       << ", 0;\n";
    os << "setp.ne.b32 next, 1, 0;\nwgmma.fence.sync.aligned;\n";
    for (const WgmmaInstruction &step : dot.steps)
      write(step);
    os << "wgmma.commit_group.sync.aligned;\n";
    if (dot.waits)
      os << "wgmma.wait_group.sync.aligned 0;\n";
    os << "}";
  }

private:
  void write(const WgmmaInstruction &step) {
    if (dot.leftDescriptor)
      os << "add.s64 left, " << left << ", " << step.left << ";\n";
    os << "add.s64 right, " << right << ", " << step.right << ";\n";
    const bool isInteger = dot.leftElement == WgmmaElement::Int8;
    os << "wgmma.mma_async.sync.aligned.m64n" << dot.columns << "k" << 256 / bitsOf(dot.leftElement)
       << (isInteger ? ".s32." : ".f32.") << nameOf(dot.leftElement) << "." << nameOf(dot.rightElement) << " {";
    for (unsigned index = 0; index < dot.columns / 2; ++index)
      os << (index ? "," : "") << "$" << step.firstAccumulator + index;
    os << "}, ";
    if (dot.leftDescriptor)
      os << "left";
    else
      os << "{" << llvm::join(llvm::ArrayRef(words).slice(step.left, 4), ",") << "}";
    os << ", right, " << (step.isFirst ? "first" : "next");
    // PTX ISA: negation flags of floats, then, for 16-bit floats, which matrices in shared memory are transposed.
    if (!isInteger)
      os << ", 1, 1";
    if (bitsOf(dot.leftElement) == 16) {
      if (dot.leftDescriptor)
        os << ", " << dot.isLeftMMajor;
      os << ", " << dot.isRightNMajor;
    }
    os << ";\n";
  }

  const WgmmaDot &dot;
  llvm::raw_ostream &os;
  std::string left, right, useAccumulators;
  llvm::SmallVector<std::string> words;
};
} // namespace

llvm::SmallVector<llvm::Value *> NvidiaEmitter::emitWgmma(IrBuilder &ir, const WgmmaDot &dot) {
  llvm::Type *sum = dot.leftElement == WgmmaElement::Int8 ? ir.getInt32Ty() : ir.getFloatTy();
  AccumulatorAsm assembly(ir, llvm::SmallVector<llvm::Type *>(dot.numAccumulators, sum), dot.accumulators);
  WgmmaWriter(ir, dot, assembly).write();
  return assembly.emit();
}

llvm::SmallVector<llvm::Value *> NvidiaEmitter::waitForWgmma(IrBuilder &ir, unsigned pendings,
                                                             llvm::ArrayRef<llvm::Value *> accumulators) {
  auto types = llvm::map_to_vector(accumulators, [](llvm::Value *sum) { return sum->getType(); });
  AccumulatorAsm assembly(ir, llvm::SmallVector<llvm::Type *>(types), accumulators);
  assembly.out() << "wgmma.wait_group.sync.aligned " << pendings << ";";
  return assembly.emit();
}

void NvidiaEmitter::fenceAsyncShared(IrBuilder &ir) {
  auto *type = llvm::FunctionType::get(ir.getVoidTy(), false);
  ir.CreateCall(llvm::InlineAsm::get(type, "fence.proxy.async.shared::cta;", "", /*hasSideEffects=*/true));
}

llvm::Value *NvidiaEmitter::sharedAddress(IrBuilder &ir, llvm::Value *pointer) {
  return ir.CreatePtrToInt(pointer, ir.getInt32Ty());
}
