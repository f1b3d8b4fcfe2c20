// Merges the families' tables of built-ins and finds entries by module and name.
// SPDX-License-Identifier: MIT
#include "artifact/TargetInfo.h"
#include "compiler/sema/Builtin.h"
#include "compiler/sema/builtins/Emission.h"
#include "compiler/sema/builtins/ModuleConstants.h"
#include "compiler/sema/gluon/Names.h"
#include "compiler/sema/gluon/SharedMemory.h"

#include "llvm/ADT/STLExtras.h"

#include <tuple>

namespace nereid::sema {

static constexpr llvm::StringLiteral propagateNanModule = "triton.language.PropagateNan";
static constexpr llvm::StringLiteral kindModule = "triton.language.dtype.KIND";
static constexpr llvm::StringLiteral signednessModule = "triton.language.dtype.SIGNEDNESS";

static std::tuple<llvm::StringRef, llvm::StringRef> keyOf(const Builtin *builtin) {
  return {builtin->module, builtin->name};
}

llvm::ArrayRef<const Builtin *> allBuiltins() {
  static const std::vector<const Builtin *> sorted = [] {
    std::vector<const Builtin *> entries;
    for (llvm::ArrayRef<Builtin> family :
         {programBuiltins(),        creationBuiltins(),      memoryBuiltins(),           elementwiseBuiltins(),
          shapeBuiltins(),          joinBuiltins(),          gatherBuiltins(),           reduceBuiltins(),
          scanBuiltins(),           mapBuiltins(),           controlBuiltins(),          debugBuiltins(),
          hintBuiltins(),           dotBuiltins(),           externBuiltins(),           targetBuiltins(),
          atomicBuiltins(),         blockPointerBuiltins(),  descriptorBuiltins(),       gluonLayoutBuiltins(),
          gluonTileBuiltins(),      gluonProgramBuiltins(),  gluonTypeBuiltins(),        gluonAmdBufferBuiltins(),
          gluonAmdMatrixBuiltins(), gluonAmdCopyBuiltins(),  gluonAmdStageBuiltins(),    gluonWarpBuiltins(),
          gluonAsyncCopyBuiltins(), gluonMbarrierBuiltins(), gluonTmaBuiltins(),         gluonNvidiaMatrixBuiltins(),
          gluonClusterBuiltins(),   gluonSharedBuiltins(),   gluonSharedGatherBuiltins()})
      for (const Builtin &builtin : family)
        entries.push_back(&builtin);
    llvm::sort(entries, [](const Builtin *a, const Builtin *b) { return keyOf(a) < keyOf(b); });
    return entries;
  }();
  return sorted;
}

/// Other names of `tl`, with the same contents.
static constexpr llvm::StringLiteral aliases[] = {"triton.language.core", "triton.language.random",
                                                  "triton.language.standard"};

/// Modules of the package that have the same names as the package.
static constexpr llvm::StringLiteral gluonParts[] = {"._core", "._layouts", "._math", "._standard"};

/// Every target has the module libdevice under its own name.
llvm::StringRef canonicalModule(llvm::StringRef module) {
  if (llvm::is_contained(aliases, module))
    return languageModule;
  if (llvm::StringRef part = module; part.consume_front(gluonModule) && llvm::is_contained(gluonParts, part))
    return gluonModule;
  if (llvm::StringRef part = module; part.consume_front(amdModule) && part == "._layouts")
    return amdModule;
  for (const artifact::TargetInfo *target : artifact::allTargets())
    if (module == (llvm::Twine("triton.language.extra.") + target->name + ".libdevice").str())
      return libdeviceModule;
  return module;
}

const Builtin *findBuiltin(llvm::StringRef module, llvm::StringRef name) {
  llvm::ArrayRef<const Builtin *> all = allBuiltins();
  const std::tuple key(canonicalModule(module), name);
  const auto *found = llvm::lower_bound(all, key, [](const Builtin *entry, const auto &k) { return keyOf(entry) < k; });
  return found != all.end() && keyOf(*found) == key ? *found : nullptr;
}

const Builtin *findMember(llvm::StringRef name) {
  for (llvm::StringRef module : {llvm::StringRef(languageModule), llvm::StringRef(tensorModule)})
    if (const Builtin *builtin = findBuiltin(module, name); builtin && builtin->isMember)
      return builtin;
  return nullptr;
}

/// Gluon's packages, and the modules of its built-ins.
static bool isGluonModule(llvm::StringRef name) {
  if (name == "triton.experimental" || name == "triton.experimental.gluon")
    return true;
  return name.starts_with(gluonModule) && llvm::any_of(allBuiltins(), [&](const Builtin *each) {
           llvm::StringRef module = each->module;
           return module.consume_front(name) && (module.empty() || module.front() == '.');
         });
}

bool isBuiltinModule(llvm::StringRef name) {
  if (name.starts_with("triton.experimental"))
    return isGluonModule(name);
  static constexpr llvm::StringLiteral modules[] = {"triton",
                                                    languageModule,
                                                    mathModule,
                                                    propagateNanModule,
                                                    kindModule,
                                                    signednessModule,
                                                    "triton.language.extra",
                                                    libdeviceModule,
                                                    "triton.language.extra.cuda",
                                                    "triton.language.extra.cuda.libdevice",
                                                    "triton.language.extra.hip",
                                                    "triton.language.extra.hip.libdevice",
                                                    "triton.language.extra.cpu",
                                                    "triton.language.extra.cpu.libdevice",
                                                    "triton.language.target_info"};
  return llvm::is_contained(modules, name) || llvm::is_contained(aliases, name);
}

std::optional<Value> moduleConstant(llvm::StringRef givenModule, llvm::StringRef name) {
  const llvm::StringRef module = canonicalModule(givenModule);
  if (module == languageModule && name == "TRITON_MAX_TENSOR_NUMEL")
    return Value::integer(1048576);
  if (module == languageModule && name == "pi32_t")
    return Value(TypeValue{Type::pointerTo(Scalar::Int32)});
  if (module == propagateNanModule && name == "ALL")
    return Value::integer(0xFFFF);
  if (module == propagateNanModule && name == "NONE")
    return Value::integer(0);
  static constexpr llvm::StringLiteral kinds[] = {"BOOLEAN", "INTEGRAL", "FLOATING"}, signs[] = {"SIGNED", "UNSIGNED"};
  for (auto [index, member] : llvm::enumerate(kinds))
    if (module == kindModule && name == member)
      return Value::integer(index);
  for (auto [index, member] : llvm::enumerate(signs))
    if (module == signednessModule && name == member)
      return Value::integer(index);
  return std::nullopt;
}

} // namespace nereid::sema
