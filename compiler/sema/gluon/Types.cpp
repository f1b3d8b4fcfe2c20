// Types of Gluon's language as values that hosts make, and the bank conflicts of accesses between two of them.
// SPDX-License-Identifier: MIT
#include "compiler/sema/gluon/Types.h"
#include "compiler/layout/SharedAccessPlan.h"
#include "compiler/sema/Diagnostics.h"
#include "compiler/sema/TileShape.h"
#include "compiler/sema/gluon/Arguments.h"

namespace nereid::sema {

static std::optional<Value> noAttribute(llvm::ArrayRef<Value> parts, llvm::StringRef name) {
  if (name == "rank" && parts[1].elements())
    return Value::integer(parts[1].elements()->size());
  return std::nullopt;
}

const RecordClass &tileTypeClass() {
  static constexpr llvm::StringLiteral fields[] = {"element_ty", "shape", "layout"};
  static const RecordClass record{"distributed_type", fields, gluonModule, noAttribute, true};
  return record;
}

const RecordClass &bufferTypeClass() {
  static constexpr llvm::StringLiteral fields[] = {"element_ty", "shape", "layout", "alloc_shape"};
  static const RecordClass record{"shared_memory_descriptor_type", fields, gluonModule, noAttribute, true};
  return record;
}

namespace {

/// What a type says of the tile or buffer.
struct Described {
  Type element;
  llvm::SmallVector<int64_t> shape;
  ttg::LayoutEncoding layout;
};

/// The argument, of that kind; nothing after an error.
std::optional<Described> typeOf(const CallSite &site, llvm::StringRef parameter, LayoutKind kind) {
  TtFunctionEmitter &emitter = site.emitter;
  const SourceRange range = site.rangeOf(parameter);
  const bool isShared = kind == LayoutKind::Shared;
  const Value &given = site[parameter];
  Described found;
  if (given.isPoison())
    return std::nullopt;
  if (const auto *known = given.get<TypeValue>(); known && known->type.isShared() == isShared && known->type.layout) {
    found = {known->type.element(), llvm::to_vector(llvm::ArrayRef<int64_t>(known->type.shape)),
             llvm::dyn_cast<ttg::LayoutEncoding>(known->type.layout)};
  } else if (const std::vector<Value> *parts = given.partsOf(isShared ? bufferTypeClass() : tileTypeClass())) {
    std::optional<Type> element = emitter.constantType((*parts)[0], range, "element_ty");
    auto shape = emitter.constantInts((*parts)[1], range, "shape");
    auto error = [&](std::string message) { emitter.error(diag::LayoutInvalid, range, message); };
    const mlir::Attribute layout = encodingOf(builderOf(site).getContext(), (*parts)[2], error);
    if (!element || !shape || !layout)
      return std::nullopt;
    found = {*element, *shape, llvm::dyn_cast<ttg::LayoutEncoding>(layout)};
  } else {
    emitter.error(diag::TypeExpected, range, parameter, isShared ? "shared_memory_descriptor_type" : "distributed_type",
                  shown(emitter, given));
    return std::nullopt;
  }
  if (found.layout && found.layout.isDistributed() != isShared && found.layout.getRank() == found.shape.size())
    return found;
  emitter.error(diag::TypeLayout, range, parameter, shown(emitter, given), found.shape.size());
  return std::nullopt;
}

Value emitBankConflicts(const CallSite &site) {
  auto tile = typeOf(site, "distr_ty", LayoutKind::Distributed);
  auto buffer = tile ? typeOf(site, "shared_ty", LayoutKind::Shared) : std::nullopt;
  if (!buffer)
    return Value::poison();
  if (tile->shape != buffer->shape || tile->element != buffer->element)
    return site.emitter.error(diag::TypesDiffer, site.range, tile->element.str(), shapeText(tile->shape),
                              buffer->element.str(), shapeText(buffer->shape));
  const unsigned bytes = layout::elementBytes(tile->element.bits());
  const layout::LinearLayout registers = tile->layout.toLinearLayout(tile->shape);
  layout::SharedAccessPattern pattern = layout::planSharedAccesses(
      registers, buffer->layout.toLinearLayout(buffer->shape), bytes, layout::BankModel().maxAccessBytes / bytes);
  const layout::Wavefronts counted =
      layout::countWavefronts(pattern, bytes, registers.inSize(layout::kLane), registers.inSize(layout::kWarp));
  const unsigned needed = counted.total - counted.conflicts;
  return Value::integer(needed ? counted.conflicts / needed : 0);
}

Value emitTileType(const CallSite &site) { return Value::record(tileTypeClass(), site.args.vec()); }
Value emitBufferType(const CallSite &site) { return Value::record(bufferTypeClass(), site.args.vec()); }

} // namespace

llvm::ArrayRef<Builtin> gluonTypeBuiltins() {
  static const Builtin table[] = {
      {"distributed_type",
       gluonModule,
       {{"element_ty"}, {"shape"}, {"layout"}},
       "The type of tiles of that element type, shape and layout.",
       emitTileType},
      {"shared_memory_descriptor_type",
       gluonModule,
       {{"element_ty"}, {"shape"}, {"layout"}, {"alloc_shape"}},
       "The type of buffers in shared memory.",
       emitBufferType},
      {"bank_conflicts",
       gluonModule,
       {{"distr_ty"}, {"shared_ty"}},
       "How many more wavefronts than needed each access has by which threads read or write a buffer of that type; a "
       "constant.",
       emitBankConflicts},
  };
  return table;
}

} // namespace nereid::sema
