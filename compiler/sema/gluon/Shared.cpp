// The classes of layouts of buffers in shared memory.
// SPDX-License-Identifier: MIT
#include "compiler/dialect/ttg/Dialect.h"
#include "compiler/layout/Distributed.h"
#include "compiler/sema/gluon/Layouts.h"
#include "compiler/sema/gluon/Names.h"

using mlir::Attribute;
using nereid::layout::LinearLayout;

namespace nereid::sema {
namespace {

using Fields = std::optional<std::vector<Value>>;
using Extents = llvm::ArrayRef<unsigned>;
using Bases = llvm::SmallVector<llvm::SmallVector<int32_t, 4>>;

//--- swizzled ------------------------------------------------------------------------------

Attribute encodeSwizzled(LayoutFields &fields) {
  const unsigned vec = fields.number("vec"), perPhase = fields.number("per_phase"),
                 maxPhase = fields.number("max_phase");
  const auto order = fields.numbers("order"), split = fields.flatBases("cga_layout");
  return fields.checked([&](auto emitError) {
    return ttg::SwizzledSharedAttr::getChecked(emitError, fields.context, vec, perPhase, maxPhase, Extents(order),
                                               Extents(split));
  });
}

Fields decodeSwizzled(Attribute encoding) {
  auto swizzled = llvm::dyn_cast<ttg::SwizzledSharedAttr>(encoding);
  if (!swizzled)
    return std::nullopt;
  return std::vector<Value>{Value::integer(swizzled.getVec()), Value::integer(swizzled.getPerPhase()),
                            Value::integer(swizzled.getMaxPhase()), numbersValue(swizzled.getOrder()),
                            flatBasesValue(swizzled.getCgaLayout(), swizzled.getRank())};
}

//--- bases ---------------------------------------------------------------------------------

Bases basesOf(const LinearLayout &linear, llvm::StringRef input) {
  Bases bases;
  for (unsigned bit = 0; bit < linear.inBits(input); ++bit)
    bases.push_back(linear.basis(input, bit));
  return bases;
}

/// The layout of offsets and CTAs; nothing after an error.
std::optional<LinearLayout> offsetsLayout(LayoutFields &fields, llvm::StringRef offsetField, llvm::StringRef blockField,
                                          Extents shape) {
  std::vector<LinearLayout::Input> inputs;
  for (const auto &[field, input] : {std::pair(offsetField, layout::kOffset), std::pair(blockField, layout::kBlock)}) {
    inputs.push_back({input.str(), {}});
    for (auto &basis : fields.bases(field)) {
      if (basis.size() != shape.size()) {
        fields.fail("`" + field.str() + "` has a basis of " + std::to_string(basis.size()) +
                    " numbers; the buffer has " + std::to_string(shape.size()) + " dimensions");
        return std::nullopt;
      }
      inputs.back().bases.push_back(basis);
    }
  }
  std::vector<LinearLayout::Output> outputs;
  for (auto [dim, extent] : llvm::enumerate(shape))
    outputs.push_back({layout::dimName(dim), int32_t(extent)});
  if (fields.failed)
    return std::nullopt;
  std::string reason;
  std::optional<LinearLayout> linear = LinearLayout::tryFromBases(inputs, outputs, reason);
  if (!linear)
    fields.fail(reason);
  return linear;
}

/// The extents that bases span.
llvm::SmallVector<unsigned> spanOf(llvm::ArrayRef<Bases> all) {
  llvm::SmallVector<unsigned> extents;
  for (const Bases &bases : all)
    for (const auto &basis : bases)
      for (auto [dim, coordinate] : llvm::enumerate(basis)) {
        if (extents.size() <= dim)
          extents.push_back(1);
        if (coordinate > 0)
          extents[dim] = std::max<unsigned>(extents[dim], llvm::NextPowerOf2(coordinate));
      }
  return extents;
}

Attribute encodeSharedLinear(LayoutFields &fields) {
  const unsigned alignment = fields.number("alignment");
  const llvm::SmallVector<unsigned> shape = spanOf({fields.bases("offset_bases"), fields.bases("block_bases")});
  if (!fields.failed && fields["offset_bases"].elements()->empty())
    return fields.fail("`offset_bases` must not be empty");
  std::optional<LinearLayout> linear = offsetsLayout(fields, "offset_bases", "block_bases", shape);
  if (!linear)
    return {};
  return fields.checked(
      [&](auto emitError) { return ttg::SharedLinearAttr::getChecked(emitError, fields.context, *linear, alignment); });
}

Fields decodeSharedLinear(Attribute encoding) {
  auto linear = llvm::dyn_cast<ttg::SharedLinearAttr>(encoding);
  if (!linear)
    return std::nullopt;
  return std::vector<Value>{basesValue(basesOf(linear.getLayout(), layout::kOffset)),
                            basesValue(basesOf(linear.getLayout(), layout::kBlock)),
                            Value::integer(linear.getAlignment())};
}

std::optional<Value> sharedLinearAttribute(llvm::ArrayRef<Value> parts, llvm::StringRef name) {
  if (name != "shape")
    return std::nullopt;
  llvm::SmallVector<unsigned> extents;
  for (const Value &bases : parts.take_front(2))
    for (const Value &basis : *bases.elements())
      for (auto [dim, coordinate] : llvm::enumerate(*basis.elements())) {
        extents.resize(std::max(extents.size(), dim + 1), 1);
        if (const int64_t value = coordinate.asInt64().value_or(0); value > 0)
          extents[dim] = std::max<unsigned>(extents[dim], llvm::NextPowerOf2(value));
      }
  return numbersValue(extents);
}

//--- padded --------------------------------------------------------------------------------

Attribute encodePadded(LayoutFields &fields) {
  const auto shape = fields.numbers("shape");
  llvm::SmallVector<unsigned> intervals, paddings;
  for (const auto &pair : fields.bases("interval_padding_pairs")) {
    if (pair.size() != 2)
      return fields.fail("`interval_padding_pairs` holds a list of " + std::to_string(pair.size()) +
                         " numbers; each is [interval, padding]");
    intervals.push_back(pair[0]);
    paddings.push_back(pair[1]);
  }
  std::optional<LinearLayout> linear = offsetsLayout(fields, "offset_bases", "cga_layout", shape);
  if (!linear)
    return {};
  return fields.checked([&](auto emitError) {
    return ttg::PaddedSharedAttr::getChecked(emitError, fields.context, Extents(intervals), Extents(paddings), *linear);
  });
}

Fields decodePadded(Attribute encoding) {
  auto padded = llvm::dyn_cast<ttg::PaddedSharedAttr>(encoding);
  if (!padded)
    return std::nullopt;
  std::vector<Value> pairs;
  for (auto [interval, padding] : llvm::zip_equal(padded.getIntervals(), padded.getPaddings()))
    pairs.push_back(numbersValue({interval, padding}));
  const LinearLayout &linear = padded.getLayout();
  llvm::SmallVector<unsigned> shape;
  for (llvm::StringRef output : linear.outputNames())
    shape.push_back(linear.outSize(output));
  return std::vector<Value>{Value::tuple(std::move(pairs)), basesValue(basesOf(linear, layout::kOffset)),
                            basesValue(basesOf(linear, layout::kBlock)), numbersValue(shape)};
}

//--- of matrix instructions ----------------------------------------------------------------

Attribute encodeNvmma(LayoutFields &fields) {
  const unsigned width = fields.number("swizzle_byte_width"), bits = fields.number("element_bitwidth"),
                 rank = fields.number("rank");
  const bool isTransposed = fields.flag("transposed"), isPadded = fields.flag("fp4_padded");
  const auto split = fields.flatBases("cga_layout");
  return fields.checked([&](auto emitError) {
    return ttg::NvmmaSharedAttr::getChecked(emitError, fields.context, width, isTransposed, bits, rank, isPadded,
                                            Extents(split));
  });
}

Fields decodeNvmma(Attribute encoding) {
  auto nvmma = llvm::dyn_cast<ttg::NvmmaSharedAttr>(encoding);
  if (!nvmma)
    return std::nullopt;
  return std::vector<Value>{Value::integer(nvmma.getSwizzlingByteWidth()),
                            Value::integer(nvmma.getElementBitWidth()),
                            Value::integer(nvmma.getRank()),
                            Value(bool(nvmma.getTransposed())),
                            Value(bool(nvmma.getFp4Padded())),
                            flatBasesValue(nvmma.getCgaLayout(), nvmma.getRank())};
}

std::optional<Value> noSharedAttribute(llvm::ArrayRef<Value>, llvm::StringRef) { return std::nullopt; }

} // namespace

llvm::ArrayRef<LayoutClass> sharedLayouts() {
  static constexpr llvm::StringLiteral swizzled[] = {"vec", "per_phase", "max_phase", "order", "cga_layout"},
                                       padded[] = {"interval_padding_pairs", "offset_bases", "cga_layout", "shape"},
                                       linear[] = {"offset_bases", "block_bases", "alignment"},
                                       nvmma[] = {"swizzle_byte_width", "element_bitwidth", "rank",
                                                  "transposed",         "fp4_padded",       "cga_layout"};
  static const LayoutClass table[] = {
      {{"SwizzledSharedLayout", swizzled, sharedLayoutModule, noSharedAttribute, true},
       LayoutKind::Shared,
       {{"vec"}, {"per_phase"}, {"max_phase"}, {"order"}, {"cga_layout", "()"}},
       "Rows whose vectors are permuted by XOR with the row.",
       encodeSwizzled,
       decodeSwizzled},
      {{"PaddedSharedLayout", padded, sharedLayoutModule, noSharedAttribute, true},
       LayoutKind::Shared,
       {{"interval_padding_pairs"}, {"offset_bases"}, {"cga_layout"}, {"shape"}},
       "Elements in the order of bases, with unused ones after each interval.",
       encodePadded,
       decodePadded},
      {{"SharedLinearLayout", linear, sharedLayoutModule, sharedLinearAttribute, true},
       LayoutKind::Shared,
       {{"offset_bases"}, {"block_bases", "()"}, {"alignment", "16"}},
       "The coordinates that each bit of an offset, and of the CTA's index, adds.",
       encodeSharedLinear,
       decodeSharedLinear},
      {{"NVMMASharedLayout", nvmma, sharedLayoutModule, noSharedAttribute, true},
       LayoutKind::Shared,
       {{"swizzle_byte_width"},
        {"element_bitwidth"},
        {"rank", "2"},
        {"transposed", "False"},
        {"fp4_padded", "False"},
        {"cga_layout", "()"}},
       "A matrix as NVIDIA's matrix instructions and TMA copies read it.",
       encodeNvmma,
       decodeNvmma},
  };
  return table;
}

} // namespace nereid::sema
