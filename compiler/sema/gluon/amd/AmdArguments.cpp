// Reads the arguments that the built-ins for AMD's GPUs share.
// SPDX-License-Identifier: MIT
#include "compiler/sema/gluon/amd/AmdArguments.h"

#include "artifact/TargetInfo.h"
#include "compiler/sema/Diagnostics.h"

#include "llvm/ADT/StringExtras.h"

namespace nereid::sema {

bool checkAmd(const CallSite &site) {
  TtFunctionEmitter &emitter = site.emitter;
  if (!emitter.module.isGluon) {
    emitter.error(diag::GluonOnly, site.range, site.builtin.name);
    return false;
  }
  const support::TargetSpec &target = emitter.module.target;
  if (target.backend == artifact::kHip.name)
    return true;
  const std::string arch = target.arch.empty() ? "" : ":" + target.arch;
  emitter.error(diag::OtherVendor, site.range, site.builtin.name, "AMD's GPUs", target.backend + arch);
  return false;
}

Value bufferArgument(const CallSite &site) {
  const TensorValue *tensor = site["ptr"].tensor();
  if (site["ptr"].isPoison() || (tensor && tensor->type.isPointer && !tensor->type.isTile()))
    return site["ptr"];
  return site.emitter.error(diag::BufferPointer, site.rangeOf("ptr"), site.builtin.name,
                            tensor ? tensor->type.str() : site["ptr"].kindName());
}

Value offsetsArgument(const CallSite &site) {
  const TensorValue *tensor = site["offsets"].tensor();
  if (site["offsets"].isPoison())
    return Value::poison();
  const bool isTile = tensor && tensor->type.isTile() && !tensor->type.isPointer;
  if (isTile && (tensor->type.scalar == Scalar::Int32 || tensor->type.scalar == Scalar::UInt32))
    return site["offsets"];
  return site.emitter.error(diag::BufferOffsets, site.rangeOf("offsets"), site.builtin.name,
                            tensor ? tensor->type.str() : site["offsets"].kindName());
}

std::optional<Value> bufferMaskArgument(const CallSite &site) {
  if (site["mask"].isNone())
    return Value();
  const Value mask = tensorArgument(site, "mask");
  const Value truth = mask.isPoison() ? mask : site.emitter.cast(mask, Scalar::Int1, site.rangeOf("mask"));
  return truth.isPoison() ? std::nullopt : std::optional(truth);
}

std::optional<Value> otherArgument(const CallSite &site, const Type &element) {
  if (site["other"].isNone())
    return Value();
  if (site["mask"].isNone()) {
    site.emitter.error(diag::OtherWithoutMask, site.rangeOf("other"));
    return std::nullopt;
  }
  const Value other = site.emitter.cast(site["other"], element, site.rangeOf("other"));
  return other.isPoison() ? std::nullopt : std::optional(other);
}

std::optional<tt::CacheModifier> cacheArgument(const CallSite &site, llvm::StringRef parameter, bool isLoad) {
  using enum tt::CacheModifier;
  static constexpr std::pair<llvm::StringLiteral, tt::CacheModifier> ofLoads[] = {
      {".ca", CA}, {".cg", CG}, {".cs", CS}, {".cv", CV}};
  static constexpr std::pair<llvm::StringLiteral, tt::CacheModifier> ofStores[] = {
      {".wb", WB}, {".cg", CG}, {".cs", CS}, {".wt", WT}};
  const std::optional<std::string> text = textOption(site, parameter);
  if (!text || text->empty())
    return text ? std::optional(NONE) : std::nullopt;
  std::vector<std::string> allowed;
  for (const auto &[name, modifier] : isLoad ? llvm::ArrayRef(ofLoads) : llvm::ArrayRef(ofStores)) {
    if (*text == name)
      return modifier;
    allowed.push_back("`" + name.str() + "`");
  }
  site.emitter.error(diag::CacheModifierUnknown, site.rangeOf(parameter), *text, llvm::join(allowed, ", "));
  return std::nullopt;
}

} // namespace nereid::sema
