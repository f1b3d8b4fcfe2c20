// The classes of layouts of tiles in registers.
// SPDX-License-Identifier: MIT
#include "compiler/layout/Distributed.h"
#include "compiler/dialect/gluon/Dialect.h"
#include "compiler/sema/gluon/Layouts.h"
#include "compiler/sema/gluon/Names.h"

using mlir::Attribute;
using nereid::layout::LinearLayout;

namespace nereid::sema {
namespace {

using Fields = std::optional<std::vector<Value>>;
using Extents = llvm::ArrayRef<unsigned>;

//--- open ----------------------------------------------------------------------------------

template <typename Attr> Attribute encodeOpen(LayoutFields &fields) { return Attr::get(fields.context); }
template <typename Attr> Fields decodeOpen(Attribute encoding) {
  return llvm::isa<Attr>(encoding) ? Fields(std::vector<Value>()) : std::nullopt;
}

//--- blocked -------------------------------------------------------------------------------

Attribute encodeBlocked(LayoutFields &fields) {
  const auto size = fields.numbers("size_per_thread"), threads = fields.numbers("threads_per_warp"),
             warps = fields.numbers("warps_per_cta"), order = fields.numbers("order"),
             split = fields.flatBases("cga_layout");
  return fields.checked([&](auto emitError) {
    return ttg::BlockedAttr::getChecked(emitError, fields.context, Extents(size), Extents(threads), Extents(warps),
                                        Extents(order), Extents(split));
  });
}

Fields decodeBlocked(Attribute encoding) {
  auto blocked = llvm::dyn_cast<ttg::BlockedAttr>(encoding);
  if (!blocked)
    return std::nullopt;
  return std::vector<Value>{numbersValue(blocked.getSizePerThread()), numbersValue(blocked.getThreadsPerWarp()),
                            numbersValue(blocked.getWarpsPerCTA()), numbersValue(blocked.getOrder()),
                            flatBasesValue(blocked.getCgaLayout(), blocked.getRank())};
}

//--- slice ---------------------------------------------------------------------------------

Attribute encodeSlice(LayoutFields &fields) {
  const unsigned dim = fields.number("dim");
  const Attribute parent = fields.layout("parent");
  if (!parent)
    return {};
  if (gluon::isOpen(parent))
    return parent; // what is left of an open layout is open
  return fields.checked([&](auto emitError) {
    return ttg::SliceAttr::getChecked(emitError, fields.context, dim, llvm::cast<ttg::LayoutEncoding>(parent));
  });
}

Fields decodeSlice(Attribute encoding) {
  auto slice = llvm::dyn_cast<ttg::SliceAttr>(encoding);
  if (!slice)
    return std::nullopt;
  return std::vector<Value>{Value::integer(slice.getDim()), layoutValue(slice.getParent())};
}

//--- linear --------------------------------------------------------------------------------

constexpr std::pair<llvm::StringLiteral, llvm::StringLiteral> linearInputs[] = {{"reg_bases", layout::kRegister},
                                                                                {"lane_bases", layout::kLane},
                                                                                {"warp_bases", layout::kWarp},
                                                                                {"block_bases", layout::kBlock}};

Attribute encodeLinear(LayoutFields &fields) {
  const auto shape = fields.numbers("shape");
  std::vector<LinearLayout::Input> inputs;
  for (const auto &[field, input] : linearInputs) {
    inputs.push_back({input.str(), {}});
    for (auto &basis : fields.bases(field)) {
      if (basis.size() != shape.size())
        return fields.fail("`" + field.str() + "` has a basis of " + std::to_string(basis.size()) +
                           " numbers; the shape has " + std::to_string(shape.size()) + " dimensions");
      inputs.back().bases.push_back(basis);
    }
  }
  std::vector<LinearLayout::Output> outputs;
  for (auto [dim, extent] : llvm::enumerate(shape))
    outputs.push_back({layout::dimName(dim), int32_t(extent)});
  if (fields.failed)
    return {};
  std::string reason;
  std::optional<LinearLayout> linear = LinearLayout::tryFromBases(inputs, outputs, reason);
  if (!linear)
    return fields.fail(reason);
  return fields.checked(
      [&](auto emitError) { return ttg::LinearAttr::getChecked(emitError, fields.context, *linear); });
}

Fields decodeLinear(Attribute encoding) {
  auto attr = llvm::dyn_cast<ttg::LinearAttr>(encoding);
  if (!attr)
    return std::nullopt;
  const LinearLayout &linear = attr.getLayout();
  std::vector<Value> fields;
  for (const auto &[field, input] : linearInputs) {
    llvm::SmallVector<llvm::SmallVector<int32_t, 4>> bases;
    for (unsigned bit = 0; bit < linear.inBits(input); ++bit)
      bases.push_back(linear.basis(input, bit));
    fields.push_back(basesValue(bases));
  }
  llvm::SmallVector<unsigned> shape;
  for (llvm::StringRef output : linear.outputNames())
    shape.push_back(linear.outSize(output));
  fields.push_back(numbersValue(shape));
  return fields;
}

//--- matrix instructions -------------------------------------------------------------------

Attribute encodeMma(LayoutFields &fields) {
  const auto version = fields.numbers("version"), warps = fields.numbers("warps_per_cta"),
             instruction = fields.numbers("instr_shape");
  if (fields.failed)
    return {};
  if (version.size() != 2)
    return fields.fail("`version` must be [major, minor], got " + fields["version"].repr());
  if (llvm::any_of(fields.flatBases("cga_layout"), [](unsigned step) { return step != 0; }))
    return fields.fail(
        "`cga_layout` splits a tile over the CTAs of a cluster, which results of matrix instructions do not "
        "support; leave it out");
  return fields.checked([&](auto emitError) {
    return ttg::NvidiaMmaAttr::getChecked(emitError, fields.context, version[0], version[1], Extents(warps),
                                          Extents(instruction));
  });
}

Fields decodeMma(Attribute encoding) {
  auto mma = llvm::dyn_cast<ttg::NvidiaMmaAttr>(encoding);
  if (!mma)
    return std::nullopt;
  return std::vector<Value>{numbersValue({mma.getVersionMajor(), mma.getVersionMinor()}),
                            numbersValue(mma.getWarpsPerCTA()), numbersValue(mma.getInstrShape()), Value::tuple({})};
}

Attribute encodeDotOperand(LayoutFields &fields) {
  const unsigned operand = fields.number("operand_index"), width = fields.number("k_width");
  const Attribute parent = fields.layout("parent");
  if (!parent)
    return {};
  if (gluon::isOpen(parent))
    return fields.fail("`parent` must be the layout of a dot's result, got " + layoutText(parent));
  return fields.checked([&](auto emitError) {
    return ttg::DotOperandAttr::getChecked(emitError, fields.context, operand, llvm::cast<ttg::LayoutEncoding>(parent),
                                           width);
  });
}

Fields decodeDotOperand(Attribute encoding) {
  auto operand = llvm::dyn_cast<ttg::DotOperandAttr>(encoding);
  if (!operand)
    return std::nullopt;
  return std::vector<Value>{Value::integer(operand.getOpIdx()), layoutValue(operand.getParent()),
                            Value::integer(operand.getKWidth())};
}

//--- attributes ----------------------------------------------------------------------------

/// The number of dimensions; nothing for a layout that fits tiles of any.
std::optional<int64_t> rankOf(const Value &layout) {
  const LayoutClass *known = layoutClassOf(layout);
  const std::vector<Value> &parts = *layout.parts();
  auto part = [&](llvm::StringRef field) -> const Value * {
    const auto *found = llvm::find(known->record.fields, field);
    return found == known->record.fields.end() ? nullptr : &parts[found - known->record.fields.begin()];
  };
  if (const Value *parent = part("parent")) {
    const std::optional<int64_t> rank = rankOf(*parent);
    return rank && part("dim") ? std::optional(*rank - 1) : rank;
  }
  for (llvm::StringRef field : {"order", "shape", "warps_per_cta"})
    if (const Value *list = part(field); list && list->elements())
      return list->elements()->size();
  return std::nullopt;
}

template <const LayoutClass &(*classOf)()>
std::optional<Value> attributeOf(llvm::ArrayRef<Value> parts, llvm::StringRef name) {
  const Value layout = Value::record(classOf().record, parts.vec());
  if (name == "rank")
    if (std::optional<int64_t> rank = rankOf(layout))
      return Value::integer(*rank);
  return std::nullopt;
}

template <size_t row> const LayoutClass &rowOf() { return distributedLayouts()[row]; }

} // namespace

llvm::ArrayRef<LayoutClass> distributedLayouts() {
  static constexpr llvm::StringLiteral blocked[] = {"size_per_thread", "threads_per_warp", "warps_per_cta", "order",
                                                    "cga_layout"},
                                       slice[] = {"dim", "parent"},
                                       linear[] = {"reg_bases", "lane_bases", "warp_bases", "block_bases", "shape"},
                                       operand[] = {"operand_index", "parent", "k_width"},
                                       mma[] = {"version", "warps_per_cta", "instr_shape", "cga_layout"};
  static const LayoutClass table[] = {
      {{"AutoLayout", {}, distributedModule, attributeOf<rowOf<0>>, true},
       LayoutKind::Distributed,
       {},
       "A layout that follows from those of the tiles that the tile is computed with.",
       encodeOpen<gluon::AutoAttr>,
       decodeOpen<gluon::AutoAttr>},
      {{"CoalescedLayout", {}, distributedModule, attributeOf<rowOf<1>>, true},
       LayoutKind::Distributed,
       {},
       "The layout in which a warp's accesses to memory are adjacent.",
       encodeOpen<gluon::CoalescedAttr>,
       decodeOpen<gluon::CoalescedAttr>},
      {{"BlockedLayout", blocked, distributedModule, attributeOf<rowOf<2>>, true},
       LayoutKind::Distributed,
       {{"size_per_thread"}, {"threads_per_warp"}, {"warps_per_cta"}, {"order"}, {"cga_layout", "()"}},
       "Boxes of elements per thread, of threads per warp, of warps.",
       encodeBlocked,
       decodeBlocked},
      {{"SliceLayout", slice, distributedModule, attributeOf<rowOf<3>>, true},
       LayoutKind::Distributed,
       {{"dim"}, {"parent"}},
       "Another layout with one dimension removed.",
       encodeSlice,
       decodeSlice},
      {{"DistributedLinearLayout", linear, distributedModule, attributeOf<rowOf<4>>, true},
       LayoutKind::Distributed,
       {{"reg_bases"}, {"lane_bases"}, {"warp_bases"}, {"block_bases"}, {"shape"}},
       "The coordinates that each bit of a register's, lane's, warp's and CTA's index adds.",
       encodeLinear,
       decodeLinear},
      {{"DotOperandLayout", operand, distributedModule, attributeOf<rowOf<5>>, true},
       LayoutKind::Distributed,
       {{"operand_index"}, {"parent"}, {"k_width"}},
       "An operand of a dot whose result has the parent layout.",
       encodeDotOperand,
       decodeDotOperand},
      {{"NVMMADistributedLayout", mma, distributedModule, attributeOf<rowOf<6>>, true},
       LayoutKind::Distributed,
       {{"version"}, {"warps_per_cta"}, {"instr_shape"}, {"cga_layout", "()"}},
       "The result of NVIDIA's matrix instructions.",
       encodeMma,
       decodeMma},
  };
  return table;
}

} // namespace nereid::sema
