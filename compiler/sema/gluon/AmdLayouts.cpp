// The classes of layouts of AMD's matrix instructions.
// SPDX-License-Identifier: MIT
#include "compiler/dialect/ttg/Dialect.h"
#include "compiler/sema/gluon/Layouts.h"
#include "compiler/sema/gluon/Names.h"

using mlir::Attribute;

namespace nereid::sema {
namespace {

using Fields = std::optional<std::vector<Value>>;
using Extents = llvm::ArrayRef<unsigned>;

/// GPUs with these layouts have no clusters, whose CTAs could split a tile.
bool refuseClusters(LayoutFields &fields) {
  const auto split = fields.flatBases("cga_layout");
  if (llvm::any_of(split, [](unsigned step) { return step != 0; }))
    fields.fail("`cga_layout` splits a tile over a cluster, which GPUs with this layout do not have; leave it out");
  return !fields.failed;
}

//--- mfma ----------------------------------------------------------------------------------

Attribute encodeMfma(LayoutFields &fields) {
  const unsigned version = fields.number("version");
  const auto instruction = fields.numbers("instr_shape"), warps = fields.numbers("warps_per_cta");
  const bool isTransposed = fields.flag("transposed");
  const unsigned bits = fields["element_bitwidth"].isNone() ? 32 : fields.number("element_bitwidth");
  const llvm::SmallVector<unsigned> tiles = fields["tiles_per_warp"].isNone()
                                                ? llvm::SmallVector<unsigned>(warps.size(), 1)
                                                : fields.numbers("tiles_per_warp");
  if (!refuseClusters(fields))
    return {};
  return fields.checked([&](auto emitError) {
    return ttg::AmdMfmaAttr::getChecked(emitError, fields.context, version, Extents(warps), Extents(instruction),
                                        isTransposed, Extents(tiles), bits);
  });
}

Fields decodeMfma(Attribute encoding) {
  auto mfma = llvm::dyn_cast<ttg::AmdMfmaAttr>(encoding);
  if (!mfma)
    return std::nullopt;
  return std::vector<Value>{Value::integer(mfma.getVersion()),
                            numbersValue(mfma.getInstrShape()),
                            Value(mfma.getIsTransposed()),
                            numbersValue(mfma.getWarpsPerCTA()),
                            Value::integer(mfma.getElementBitWidth()),
                            numbersValue(mfma.getTilesPerWarp()),
                            Value::tuple({})};
}

std::optional<Value> attributeOfMfma(llvm::ArrayRef<Value> parts, llvm::StringRef name) {
  const std::vector<Value> *warps = parts[3].elements();
  return name == "rank" && warps ? std::optional(Value::integer(warps->size())) : std::nullopt;
}

//--- wmma ----------------------------------------------------------------------------------

Attribute encodeWmma(LayoutFields &fields) {
  const unsigned version = fields.number("version");
  const bool isTransposed = fields.flag("transposed");
  const auto warps = fields.flatBases("warp_bases"), registers = fields.flatBases("reg_bases");
  const unsigned rank = fields["rank"].isNone() ? 2 : fields.number("rank");
  const llvm::SmallVector<unsigned> instruction =
      fields["instr_shape"].isNone() ? llvm::SmallVector<unsigned>{16, 16, 16} : fields.numbers("instr_shape");
  if (!refuseClusters(fields))
    return {};
  if (version == 3)
    return fields.fail("version 3 is for gfx1250 GPUs, which are not supported yet; versions 1 and 2 are for gfx11 and "
                       "gfx12");
  return fields.checked([&](auto emitError) {
    return ttg::AmdWmmaAttr::getChecked(emitError, fields.context, version, isTransposed, rank, Extents(registers),
                                        Extents(warps), Extents(instruction));
  });
}

Fields decodeWmma(Attribute encoding) {
  auto wmma = llvm::dyn_cast<ttg::AmdWmmaAttr>(encoding);
  if (!wmma)
    return std::nullopt;
  return std::vector<Value>{Value::integer(wmma.getVersion()),
                            Value(wmma.getIsTranspose()),
                            flatBasesValue(wmma.getWarpBases(), wmma.getRank()),
                            flatBasesValue(wmma.getRegisterBases(), wmma.getRank()),
                            numbersValue(wmma.getInstrShape()),
                            Value::tuple({}),
                            Value::integer(wmma.getRank())};
}

std::optional<Value> attributeOfWmma(llvm::ArrayRef<Value>, llvm::StringRef) { return std::nullopt; }

} // namespace

llvm::ArrayRef<LayoutClass> amdLayouts() {
  static constexpr llvm::StringLiteral mfma[] = {"version",          "instr_shape",    "transposed", "warps_per_cta",
                                                 "element_bitwidth", "tiles_per_warp", "cga_layout"},
                                       wmma[] = {"version",     "transposed", "warp_bases", "reg_bases",
                                                 "instr_shape", "cga_layout", "rank"};
  static const LayoutClass table[] = {
      {{"AMDMFMALayout", mfma, distributedModule, attributeOfMfma, true},
       LayoutKind::Distributed,
       {{"version"},
        {"instr_shape"},
        {"transposed"},
        {"warps_per_cta"},
        {"element_bitwidth", "None"},
        {"tiles_per_warp", "None"},
        {"cga_layout", "()"}},
       "The result of CDNA's matrix instructions (mfma).",
       encodeMfma,
       decodeMfma,
       amdModule},
      {{"AMDWMMALayout", wmma, distributedModule, attributeOfWmma, true},
       LayoutKind::Distributed,
       {{"version"},
        {"transposed"},
        {"warp_bases"},
        {"reg_bases", "()"},
        {"instr_shape", "None"},
        {"cga_layout", "()"},
        {"rank", "None"}},
       "The result of RDNA's matrix instructions (wmma).",
       encodeWmma,
       decodeWmma,
       amdModule},
  };
  return table;
}

} // namespace nereid::sema
