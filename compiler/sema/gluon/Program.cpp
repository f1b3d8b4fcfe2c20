// Built-ins of Gluon's language about the program's threads, and dots that threads compute by themselves.
// SPDX-License-Identifier: MIT
#include "compiler/sema/Diagnostics.h"
#include "compiler/sema/TileShape.h"
#include "compiler/sema/builtins/Gather.h"
#include "compiler/sema/gluon/Arguments.h"

namespace nereid::sema {
namespace {

Value emitNumWarps(const CallSite &site) {
  if (!checkLanguage(site))
    return Value::poison();
  return Value::integer(ttg::numWarpsOf(builderOf(site).getInsertionBlock()->getParentOp()));
}

Value emitNumCtas(const CallSite &site) {
  return checkLanguage(site) ? Value::integer(site.emitter.module.options.numCtas) : Value::poison();
}

Value emitBarrier(const CallSite &site) {
  auto isOfCluster = checkLanguage(site) ? boolArgument(site, "cluster") : std::nullopt;
  if (!isOfCluster)
    return Value::poison();
  if (*isOfCluster && site.emitter.module.options.numCtas > 1)
    return site.emitter.error(diag::BarrierOfCluster, site.range, site.emitter.module.options.numCtas);
  ttg::BarrierOp::create(builderOf(site), locationOf(site), ttg::AddressSpaces::All);
  return Value();
}

//--- dot_fma -------------------------------------------------------------------------------

/// Whether the tile is operand `index` of a dot with that accumulator; reports an error otherwise.
bool isOperand(const CallSite &site, llvm::StringRef parameter, const TensorValue &tile, const Type &acc,
               unsigned index) {
  auto operand = llvm::dyn_cast<ttg::DotOperandAttr>(tile.type.layout);
  if (operand && operand.getOpIdx() == index && operand.getParent() == acc.layout)
    return true;
  site.emitter.error(diag::DotOperandLayout, site.rangeOf(parameter), parameter, site.builtin.name,
                     llvm::formatv("DotOperandLayout({0}, {1}, 0)", index, layoutText(acc.layout)).str(),
                     layoutText(tile.type.layout));
  return false;
}

Value emitDotFma(const CallSite &site) {
  std::optional<TensorValue> a = tileOf(site, "a"), b = tileOf(site, "b"), acc = tileOf(site, "acc");
  if (!a || !b || !acc)
    return Value::poison();
  const Type &result = acc->type;
  if (!llvm::isa<ttg::BlockedAttr>(result.layout))
    return site.emitter.error(diag::DotFmaLayout, site.rangeOf("acc"), layoutText(result.layout));
  if (!isOperand(site, "a", *a, result, 0) || !isOperand(site, "b", *b, result, 1))
    return Value::poison();
  auto shape = tt::dotShape(a->type.shape, b->type.shape, reporterOf(site));
  if (failed(shape))
    return Value::poison();
  if (*shape != tt::Shape(result.shape) || a->type.element() != b->type.element())
    return site.emitter.error(diag::DotFmaTypes, site.range, a->type.str(), b->type.str(), result.str());
  return emitOp<tt::DotOp>(site, result, Value(*a), Value(*b), Value(*acc), tt::InputPrecision::IEEE, 0);
}

//--- histogram -----------------------------------------------------------------------------

Value emitGluonHistogram(const CallSite &site) {
  auto bins = checkLanguage(site) ? intArgument(site, "num_bins") : std::nullopt;
  const mlir::Attribute layout = bins ? tileLayoutArgument(site, "layout", *bins) : mlir::Attribute();
  return layout ? histogram(site, layout) : Value::poison();
}

} // namespace

llvm::ArrayRef<Builtin> gluonProgramBuiltins() {
  static const Builtin table[] = {
      {"num_warps",
       gluonModule,
       {},
       "The warps that run this code, those of a partition inside of one; a constant.",
       emitNumWarps},
      {"num_ctas", gluonModule, {}, "The CTAs of a program's cluster; a constant.", emitNumCtas},
      {"barrier",
       gluonModule,
       {{"cluster", "False"}},
       "Waits for all threads that run this code, and orders their accesses to memory.",
       emitBarrier},
      {"dot_fma",
       gluonModule,
       {{"a"}, {"b"}, {"acc"}},
       "The product of two tiles plus a third, by the threads' own multiplications.",
       emitDotFma},
      {"histogram",
       gluonModule,
       {{"input"}, {"num_bins"}, {"mask", "None"}, {"layout", "None"}},
       "How many elements are 0, 1, 2 ..., in a layout; others, and those that the mask leaves out, do not count.",
       emitGluonHistogram},
  };
  return table;
}

} // namespace nereid::sema
