// Declares the encodings of tiles and the memory space of buffers; each has a .cpp file of its own.
// SPDX-License-Identifier: MIT
#ifndef NEREID_TTG_ATTRS
#define NEREID_TTG_ATTRS

include "compiler/dialect/ttg/AttrInterfaces.td"
include "compiler/dialect/ttg/Dialect.td"
include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/TensorEncoding.td"

class Ttg_AnyEncoding<string name, string text, list<Trait> traits>
    : AttrDef<Ttg_Dialect, name, !listconcat(traits, [DeclareAttrInterfaceMethods<VerifiableTensorEncoding>])> {
  let mnemonic = text;
  let genVerifyDecl = 1;
  let extraClassDefinition = [{
    ::llvm::LogicalResult $cppClass::verifyEncoding(
        ::llvm::ArrayRef<int64_t> shape, ::mlir::Type,
        ::llvm::function_ref<::mlir::InFlightDiagnostic()> emitError) const {
      return verifyTile(emitError, *this, shape);
    }
  }];
}

class Ttg_Encoding<string name, string text, list<string> overridden = []>
    : Ttg_AnyEncoding<name, text, [DeclareAttrInterfaceMethods<LayoutEncoding, overridden>]>;

class Ttg_MatrixEncoding<string name, string text, list<string> overridden = []>
    : Ttg_AnyEncoding<name, text, [DeclareAttrInterfaceMethods<LayoutEncoding>,
                                   DeclareAttrInterfaceMethods<MatrixEncoding, overridden>]>;

def Ttg_Extents : ArrayRefParameter<"unsigned">;

def Ttg_BlockedAttr : Ttg_Encoding<"Blocked", "blocked"> {
  let summary = "boxes of elements per thread, of threads per warp, of warps";
  let description = [{
    Each thread holds a box of `sizePerThread` elements, a warp a box of
    `threadsPerWarp` threads, the CTA a box of `warpsPerCTA` warps; `order`
    lists dimensions from the fastest. A tile larger than all that repeats the
    pattern in further registers, a smaller one is held more than once.
    `CGALayout = [[0, 1]]`, printed for clusters of several CTAs, names the
    dimension that each bit of the CTA's index splits; the parameter lists these
    bases one after the other.
  }];
  let parameters = (ins Ttg_Extents:$sizePerThread, Ttg_Extents:$threadsPerWarp, Ttg_Extents:$warpsPerCTA,
      Ttg_Extents:$order, Ttg_Extents:$cgaLayout);
  let assemblyFormat = [{
    `<` `{` `sizePerThread` `=` custom<Extents>($sizePerThread) `,` `threadsPerWarp` `=` custom<Extents>($threadsPerWarp)
    `,` `warpsPerCTA` `=` custom<Extents>($warpsPerCTA) `,` `order` `=` custom<Extents>($order)
    `` custom<ClusterSplit>($cgaLayout, ref($order)) `` `}` `>`
  }];
  let builders = [AttrBuilder<(ins "::llvm::ArrayRef<unsigned>":$sizePerThread,
      "::llvm::ArrayRef<unsigned>":$threadsPerWarp, "::llvm::ArrayRef<unsigned>":$warpsPerCTA,
      "::llvm::ArrayRef<unsigned>":$order), [{
    return $_get($_ctxt, sizePerThread, threadsPerWarp, warpsPerCTA, order, ::llvm::ArrayRef<unsigned>());
  }]>];
}

def Ttg_SliceAttr : Ttg_Encoding<"Slice", "slice"> {
  let summary = "another encoding with one dimension removed";
  let parameters = (ins "unsigned":$dim, "::nereid::ttg::LayoutEncoding":$parent);
  let assemblyFormat = "`<` `{` `dim` `=` $dim `,` `parent` `=` $parent `}` `>`";
}

def Ttg_LinearAttr : Ttg_Encoding<"Linear", "linear"> {
  let summary = "the bases of a linear layout, written out";
  let parameters = (ins "::nereid::layout::LinearLayout":$layout);
  // One parameter holds the bases of all four inputs.
  let hasCustomAssemblyFormat = 1;
}

def Ttg_NvidiaMmaAttr : Ttg_MatrixEncoding<"NvidiaMma", "nvidia_mma", ["verifyOperand"]> {
  let summary = "the accumulator of matrix instructions";
  let description = [{
    `versionMajor` 2 stands for the instructions of a warp (`mma.sync`): `instrShape`
    names boxes of 16 rows and 8 columns, and the CTA holds a box of `warpsPerCTA`
    warps, whose last dimension runs fastest. 3 stands for those of four warps
    (`wgmma`): `instrShape` is [16, N, K], a warp holds 16 rows and N columns, and
    the first dimension of `warpsPerCTA` runs fastest, so that the rows of four
    consecutive warps follow one another.
  }];
  let parameters = (ins "unsigned":$versionMajor, "unsigned":$versionMinor, Ttg_Extents:$warpsPerCTA,
      Ttg_Extents:$instrShape);
  let assemblyFormat = [{
    `<` `{` `versionMajor` `=` $versionMajor `,` `versionMinor` `=` $versionMinor `,`
    `warpsPerCTA` `=` custom<Extents>($warpsPerCTA) `,` `instrShape` `=` custom<Extents>($instrShape) `` `}` `>`
  }];
  let extraClassDeclaration = [{
    bool isWgmma() const;
  }];
}

def Ttg_AmdMfmaAttr : Ttg_MatrixEncoding<"AmdMfma", "amd_mfma"> {
  let summary = "the accumulator of CDNA's matrix instructions (mfma)";
  let description = [{
    `instrShape` is [M, N, K], or [M, N] where the deepest instruction will do, with
    M = N, 16 or 32. `version` is the generation: 1 for gfx908, 2 for gfx90a, 3 for
    gfx942, 4 for gfx950. A lane holds a column and runs of four rows;
    `isTransposed`, a row and runs of four columns. With `elementBitWidth = 64`,
    printed where it is not 32, the accumulator is f64. The last dimension of
    `warpsPerCTA` runs fastest. A wave holds `tilesPerWarp` adjacent tiles, printed
    where they are more than one.
  }];
  let parameters = (ins "unsigned":$version, Ttg_Extents:$warpsPerCTA, Ttg_Extents:$instrShape, "bool":$isTransposed,
      Ttg_Extents:$tilesPerWarp, "unsigned":$elementBitWidth);
  let builders = [AttrBuilder<(ins "unsigned":$version, "::llvm::ArrayRef<unsigned>":$warpsPerCTA,
      "::llvm::ArrayRef<unsigned>":$instrShape, "bool":$isTransposed, CArg<"unsigned", "32">:$elementBitWidth), [{
    return $_get($_ctxt, version, warpsPerCTA, instrShape, isTransposed,
                 ::llvm::SmallVector<unsigned>(warpsPerCTA.size(), 1), elementBitWidth);
  }]>];
  // The parts may come in any order.
  let hasCustomAssemblyFormat = 1;
  let extraClassDeclaration = [{
    ::nereid::layout::AmdMatrixTile getTile() const;
    /// K of the instruction that the author asks for; 0: the deepest one.
    unsigned getInstrDepth() const;
    /// The layout of the scales of operand 0 or 1 of a scaled instruction: a tile [.., rows or columns, groups along K].
    ::nereid::layout::LinearLayout scaleLayout(unsigned operand, ::llvm::ArrayRef<int64_t> shape) const;
  }];
}

def Ttg_AmdWmmaAttr : Ttg_MatrixEncoding<"AmdWmma", "amd_wmma"> {
  let summary = "the accumulator of RDNA's matrix instructions (wmma)";
  let description = [{
    Tiles of 16 rows and columns. `version` is 1 for gfx11, whose lanes hold every
    second row of a column, and 2 for gfx12, whose lanes hold eight adjacent rows;
    `isTranspose` exchanges rows and columns. `ctaLayout = {register = [[1, 0]],
    warp = [[0, 1]]}` says by how many tiles each bit of a wave's number of
    registers, and of the CTA's number of waves, moves; the parameters list these
    bases one after the other. `warpsPerCTA = [2, 2]`, whose last dimension runs
    fastest, is read, too.
  }];
  let parameters = (ins "unsigned":$version, "bool":$isTranspose, "unsigned":$numDims, Ttg_Extents:$registerBases,
      Ttg_Extents:$warpBases, Ttg_Extents:$instrShape);
  let builders = [AttrBuilder<(ins "unsigned":$version, "bool":$isTranspose,
      "::llvm::ArrayRef<unsigned>":$warpsPerCTA), [{
    return $_get($_ctxt, version, isTranspose, unsigned(warpsPerCTA.size()), ::llvm::ArrayRef<unsigned>(),
                 basesOfWarps(warpsPerCTA), ::llvm::ArrayRef<unsigned>({16, 16, 16}));
  }]>];
  let hasCustomAssemblyFormat = 1;
  let extraClassDeclaration = [{
    ::nereid::layout::AmdMatrixTile getTile() const;
    /// The bases of waves whose last dimension runs fastest.
    static ::llvm::SmallVector<unsigned> basesOfWarps(::llvm::ArrayRef<unsigned> warpsPerCTA);
  }];
}

def Ttg_DotOperandAttr : Ttg_Encoding<"DotOperand", "dot_op"> {
  let summary = "an operand of a dot whose result has the parent encoding";
  let description = [{
    Operand 0 is the left one. With a matrix instruction as parent each lane
    holds vectors of `kWidth` adjacent elements along K; with another parent,
    printed without `kWidth`, a thread holds all of K.
  }];
  let parameters = (ins "unsigned":$opIdx, "::nereid::ttg::LayoutEncoding":$parent,
      DefaultValuedParameter<"unsigned", "0">:$kWidth);
  let assemblyFormat = [{
    `<` `{` `opIdx` `=` $opIdx `,` `parent` `=` $parent (`,` `kWidth` `=` $kWidth^)? `}` `>`
  }];
}

def Ttg_SwizzledSharedAttr : Ttg_Encoding<"SwizzledShared", "swizzled_shared", ["isDistributed"]> {
  let summary = "rows in shared memory whose vectors are permuted by XOR with the row";
  let description = [{
    Column c of row r lies at `((c / vec) ^ ((r / perPhase) % maxPhase)) * vec + c % vec` of its row. `CGALayout` is that
    of `#ttg.blocked`.
  }];
  let parameters = (ins "unsigned":$vec, "unsigned":$perPhase, "unsigned":$maxPhase, Ttg_Extents:$order,
      Ttg_Extents:$cgaLayout);
  let assemblyFormat = [{
    `<` `{` `vec` `=` $vec `,` `perPhase` `=` $perPhase `,` `maxPhase` `=` $maxPhase `,`
    `order` `=` custom<Extents>($order) `` custom<ClusterSplit>($cgaLayout, ref($order)) `` `}` `>`
  }];
  let builders = [AttrBuilder<(ins "unsigned":$vec, "unsigned":$perPhase, "unsigned":$maxPhase,
      "::llvm::ArrayRef<unsigned>":$order), [{
    return $_get($_ctxt, vec, perPhase, maxPhase, order, ::llvm::ArrayRef<unsigned>());
  }]>];
}

def Ttg_AmdRotatingSharedAttr : Ttg_Encoding<"AmdRotatingShared", "amd_rotating_shared", ["isDistributed"]> {
  let summary = "swizzled rows whose permutation also changes from one group of rows to the next";
  let description = [{
    The phase of row r is `((r / perPhase) ^ (r / maxPhase)) % maxPhase`: rows that are maxPhase apart differ, too. So
    neither lanes that write rows far apart nor lanes that read adjacent rows meet in one bank.
  }];
  let parameters = (ins "unsigned":$vec, "unsigned":$perPhase, "unsigned":$maxPhase, Ttg_Extents:$order);
  let assemblyFormat = [{
    `<` `{` `vec` `=` $vec `,` `perPhase` `=` $perPhase `,` `maxPhase` `=` $maxPhase `,`
    `order` `=` custom<Extents>($order) `` `}` `>`
  }];
}

def Ttg_PaddedSharedAttr : Ttg_Encoding<"PaddedShared", "padded_shared", ["isDistributed"]> {
  let summary = "elements in shared memory in the order of a linear layout, with gaps";
  let description = [{
    `#ttg.padded_shared<[512:+8] {offset = [[0, 1], ...], block = []}>` has 8 unused elements after each 512; several
    intervals add up. Gaps avoid bank conflicts. The order of an identity is written `{order = [1, 0], shape = [64, 32]}`.
  }];
  let parameters = (ins ArrayRefParameter<"unsigned">:$intervals, ArrayRefParameter<"unsigned">:$paddings,
      "::nereid::layout::LinearLayout":$layout);
  // The intervals and their gaps are pairs, and one parameter holds the bases of both inputs.
  let hasCustomAssemblyFormat = 1;
  let extraClassDeclaration = [{
    /// Intervals and gaps, in elements.
    ::nereid::layout::Padding getPadding() const;
  }];
}

def Ttg_SharedLinearAttr : Ttg_Encoding<"SharedLinear", "shared_linear", ["isDistributed"]> {
  let summary = "elements in shared memory in the order of a linear layout, written out";
  let description = [{
    `#ttg.shared_linear<{offset = [[0, 1], [0, 2], [1, 0]]}, alignment = 16>`: the bases of the offset's bits, those of
    the CTA's in `block` where a cluster splits the tile, and the alignment of the buffer in bytes. An offset whose basis
    is zero holds no element of its own.
  }];
  let parameters = (ins "::nereid::layout::LinearLayout":$layout, "unsigned":$alignment);
  // One parameter holds the bases of both inputs.
  let hasCustomAssemblyFormat = 1;
}

def Ttg_NvmmaSharedAttr : Ttg_Encoding<"NvmmaShared", "nvmma_shared", ["isDistributed"]> {
  let summary = "a matrix in shared memory as matrix instructions and TMA copies read it";
  let description = [{
    Panels of `swizzlingByteWidth` bytes (16 where that is 0) along the last
    dimension, or, `transposed`, the one before it; all rows of a panel come
    before the next panel. Bits 4 and up of a byte's address are changed by XOR
    with its bits 7 and up: three of them for 128 bytes, two for 64, one for 32.
    `rank`, printed where it is not 2, counts further dimensions in front; a row
    alone has rank 1. `fp4Padded`, printed where it is true: each 8 bytes, which
    hold 16 elements, are followed by 8 unused ones. `CGALayout` is that of
    `#ttg.blocked`.
  }];
  let parameters = (ins "unsigned":$swizzlingByteWidth, "bool":$transposed, "unsigned":$elementBitWidth,
      DefaultValuedParameter<"unsigned", "2">:$rank, DefaultValuedParameter<"bool", "false">:$fp4Padded,
      OptionalArrayRefParameter<"unsigned">:$cgaLayout);
  // Optional parameters after one another have no declarative form.
  let hasCustomAssemblyFormat = 1;
  let builders = [AttrBuilder<(ins "unsigned":$swizzlingByteWidth, "bool":$transposed, "unsigned":$elementBitWidth,
      CArg<"unsigned", "2">:$rank), [{
    return $_get($_ctxt, swizzlingByteWidth, transposed, elementBitWidth, rank, /*fp4Padded=*/false,
                 ::llvm::ArrayRef<unsigned>());
  }]>];
  let extraClassDeclaration = [{
    /// Reports an error where a buffer of this shape and element type cannot have the encoding.
    ::llvm::LogicalResult verifyBuffer(::llvm::ArrayRef<int64_t> shape, ::mlir::Type element,
                                       ::llvm::function_ref<::mlir::InFlightDiagnostic()> emitError) const;
    /// Bytes after which the pattern of permuted addresses repeats: the alignment of a buffer.
    unsigned alignmentBytes() const;
  }];
}

def Ttg_SharedMemoryAttr : AttrDef<Ttg_Dialect, "SharedMemory"> {
  let mnemonic = "shared_memory";
  let summary = "the memory that the threads of a CTA share";
  let assemblyFormat = "";
}

#endif
