// Changes what two GPU targets of LLVM write differently.
// SPDX-License-Identifier: MIT
//
// The spaces 1 (global) and 3 (shared) are the same. Constants are in space 4 for AMD, whose pointers have 64 bits; for
// NVPTX with short pointers they have 32, so that they become pointers to global memory. Variables of a thread are
// allocated in space 5 for AMD and in space 0 for NVPTX.
#include "compiler/target/sim/Retarget.h"

#include "compiler/lowering/gpu/FailureMetadata.h"

#include "llvm/ADT/SmallVector.h"
#include "llvm/IR/AttributeMask.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/ReplaceConstant.h"

using namespace llvm;

namespace {
constexpr unsigned kGlobalSpace = 1, kConstantSpace = 4;
} // namespace

//--- functions -----------------------------------------------------------------------------

static void retargetFunction(Function &function) {
  AttributeMask wrong;
  for (const Attribute &attribute : function.getAttributes().getFnAttrs())
    if (attribute.isStringAttribute())
      if (const StringRef name = attribute.getKindAsString();
          name.starts_with("amdgpu") || name.starts_with("target-") || name == "uniform-work-group-size")
        wrong.addAttribute(name);
  function.removeFnAttrs(wrong);
  for (Argument &argument : function.args())
    argument.removeAttr(Attribute::InReg);
  if (!function.hasLocalLinkage())
    function.setVisibility(GlobalValue::DefaultVisibility);
  if (function.getCallingConv() == CallingConv::AMDGPU_KERNEL)
    function.setCallingConv(CallingConv::PTX_Kernel);
  else
    function.setCallingConv(CallingConv::C);
  for (User *user : function.users())
    if (auto *call = dyn_cast<CallBase>(user); call && call->getCalledFunction() == &function)
      call->setCallingConv(function.getCallingConv());
}

//--- address spaces ------------------------------------------------------------------------

static bool isConstantPointer(const Type *type) {
  const auto *pointer = dyn_cast<PointerType>(type->getScalarType());
  return pointer && pointer->getAddressSpace() == kConstantSpace;
}

static Type *asGlobal(Type *type) {
  Type *pointer = PointerType::get(type->getContext(), kGlobalSpace);
  if (auto *vector = dyn_cast<VectorType>(type))
    return VectorType::get(pointer, vector->getElementCount());
  return pointer;
}

static void replaceAlloca(AllocaInst &variable) {
  IRBuilder<> ir(&variable);
  auto *own = ir.CreateAlloca(variable.getAllocatedType(), 0, variable.getArraySize(), variable.getName());
  own->setAlignment(variable.getAlign());
  variable.replaceAllUsesWith(ir.CreateAddrSpaceCast(own, variable.getType()));
  variable.eraseFromParent();
}

static Error moveConstants(Module &module) {
  SmallVector<Constant *> constants;
  for (GlobalVariable &global : module.globals())
    if (global.getAddressSpace() == kConstantSpace)
      constants.push_back(&global);
  convertUsersOfConstantsToInstructions(constants);
  for (Constant *constant : constants)
    constant->mutateType(asGlobal(constant->getType()));
  for (Function &function : module) {
    for (Argument &argument : function.args())
      if (isConstantPointer(argument.getType()))
        return createStringError(
            "the function `" + function.getName() +
            "` has a parameter in the constant address space, which the simulated GPU cannot pass");
    for (BasicBlock &block : function)
      for (Instruction &instruction : make_early_inc_range(block)) {
        if (isConstantPointer(instruction.getType()))
          instruction.mutateType(asGlobal(instruction.getType()));
        if (auto *cast = dyn_cast<AddrSpaceCastInst>(&instruction); cast && cast->getSrcTy() == cast->getDestTy()) {
          cast->replaceAllUsesWith(cast->getOperand(0));
          cast->eraseFromParent();
        }
      }
  }
  return Error::success();
}

//--- synchronisation -----------------------------------------------------------------------

static std::optional<SyncScope::ID> scopeFor(LLVMContext &context, SyncScope::ID scope) {
  if (scope == SyncScope::System || scope == SyncScope::SingleThread)
    return scope;
  StringRef name = context.getSyncScopeName(scope).value_or("");
  name.consume_back("one-as");
  name.consume_back("-");
  if (name.empty())
    return SyncScope::System;
  if (name == "singlethread")
    return SyncScope::SingleThread;
  const StringRef own = name == "agent"                              ? "device"
                        : name == "workgroup" || name == "wavefront" ? "block"
                        : name == "cluster"                          ? "cluster"
                                                                     : "";
  if (own.empty())
    return std::nullopt;
  return context.getOrInsertSyncScopeID(own);
}

/// Lanes of a wave are in order by `wave_barrier` alone.
static bool isWaveFence(const Instruction &instruction) {
  const auto *fence = dyn_cast<FenceInst>(&instruction);
  return fence &&
         instruction.getContext().getSyncScopeName(fence->getSyncScopeID()).value_or("").starts_with("wavefront");
}

static Error retargetScope(Instruction &instruction) {
  const std::optional<SyncScope::ID> scope = getAtomicSyncScopeID(&instruction);
  if (!scope)
    return Error::success();
  const std::optional<SyncScope::ID> own = scopeFor(instruction.getContext(), *scope);
  if (!own)
    return createStringError("the scope of synchronisation `" +
                             instruction.getContext().getSyncScopeName(*scope).value_or("") + "` is not known");
  setAtomicSyncScopeID(&instruction, *own);
  return Error::success();
}

//--- output --------------------------------------------------------------------------------

// CUDA programming guide, formatted output: the arguments lie in a buffer, each at its own alignment.
static void replacePrint(CallInst &call) {
  Module &module = *call.getModule();
  IRBuilder<> ir(&call);
  Type *pointer = ir.getPtrTy();
  SmallVector<Type *> types;
  for (Value *argument : drop_begin(call.args()))
    types.push_back(argument->getType());
  Value *buffer = ConstantPointerNull::get(ir.getPtrTy());
  if (!types.empty()) {
    auto *type = StructType::get(ir.getContext(), types);
    BasicBlock &entry = call.getFunction()->getEntryBlock();
    IRBuilder<> atEntry(&entry, entry.getFirstInsertionPt());
    buffer = atEntry.CreateAlloca(type, 0, nullptr, "printed");
    for (auto [index, argument] : enumerate(drop_begin(call.args())))
      ir.CreateStore(argument, ir.CreateStructGEP(type, buffer, unsigned(index)));
  }
  const FunctionCallee print =
      module.getOrInsertFunction("vprintf", FunctionType::get(ir.getInt32Ty(), {pointer, pointer}, false));
  call.replaceAllUsesWith(ir.CreateCall(print, {ir.CreateAddrSpaceCast(call.getArgOperand(0), pointer), buffer}));
  call.eraseFromParent();
}

/// The driver's function of CUDA, which the simulated GPU turns into an error at the launch.
static void replaceFailure(CallInst &call, const MDNode &failure) {
  IRBuilder<> ir(&call);
  Type *pointer = ir.getPtrTy();
  const auto text = [&](unsigned index) { return cast<MDString>(failure.getOperand(index))->getString(); };
  unsigned line = 0;
  (void)text(2).getAsInteger(10, line);
  const FunctionCallee fail = call.getModule()->getOrInsertFunction(
      "__assertfail",
      FunctionType::get(ir.getVoidTy(), {pointer, pointer, ir.getInt32Ty(), pointer, ir.getInt64Ty()}, false));
  // AMD's data layout would place the texts among the constants of that target.
  const auto global = [&](unsigned index) {
    return ir.CreateAddrSpaceCast(ir.CreateGlobalString(text(index), "", kGlobalSpace), pointer);
  };
  ir.CreateCall(fail, {global(0), global(1), ir.getInt32(line), global(3), ir.getInt64(1)});
  call.replaceAllUsesWith(ir.getInt32(0));
  call.eraseFromParent();
}

//--- the module ----------------------------------------------------------------------------

static Error retargetInstruction(Instruction &instruction) {
  if (auto *marker = dyn_cast<LifetimeIntrinsic>(&instruction)) {
    marker->eraseFromParent();
    return Error::success();
  }
  if (isWaveFence(instruction)) {
    instruction.eraseFromParent();
    return Error::success();
  }
  if (auto *call = dyn_cast<CallInst>(&instruction);
      call && call->getCalledFunction() && call->getCalledFunction()->getName() == "printf" && call->arg_size() > 0) {
    if (const MDNode *failure = call->getMetadata(nereid::lowering::kFailureMetadata))
      replaceFailure(*call, *failure);
    else
      replacePrint(*call);
    return Error::success();
  }
  return retargetScope(instruction);
}

Error nereid::sim::retarget(Module &module, const TargetMachine &machine) {
  for (Function &function : module) {
    SmallVector<AllocaInst *> variables;
    for (BasicBlock &block : function)
      for (Instruction &instruction : make_early_inc_range(block)) {
        if (auto *variable = dyn_cast<AllocaInst>(&instruction); variable && variable->getAddressSpace())
          variables.push_back(variable);
        if (Error error = retargetInstruction(instruction))
          return error;
      }
    for (AllocaInst *variable : variables)
      replaceAlloca(*variable);
    retargetFunction(function);
  }
  if (Function *print = module.getFunction("printf"); print && print->use_empty())
    print->eraseFromParent();
  if (Error error = moveConstants(module))
    return error;
  if (NamedMDNode *flags = module.getModuleFlagsMetadata())
    flags->eraseFromParent();
  module.setTargetTriple(machine.getTargetTriple());
  module.setDataLayout(machine.createDataLayout());
  return Error::success();
}
