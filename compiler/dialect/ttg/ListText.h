// Text of the lists and flags in encodings: `[1, 4]`, `[[0, 1], [1, 0]]` and `true`.
// SPDX-License-Identifier: MIT
#pragma once

#include "compiler/layout/Layout.h"

#include "mlir/Support/LLVM.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/LogicalResult.h"

namespace mlir {
class AsmParser;
class AsmPrinter;
} // namespace mlir

namespace nereid::ttg {

mlir::ParseResult parseExtents(mlir::AsmParser &parser, llvm::SmallVector<unsigned> &values);
void printExtents(mlir::AsmPrinter &printer, llvm::ArrayRef<unsigned> values);

/// A list of lists of numbers.
mlir::ParseResult parseBases(mlir::AsmParser &parser, llvm::SmallVector<llvm::SmallVector<int32_t, 4>> &bases);
void printBases(mlir::AsmPrinter &printer, llvm::ArrayRef<llvm::SmallVector<int32_t, 4>> bases);

/// `, CGALayout = [[0, 1]]` where the CTAs of a cluster split a tile, nothing where they do not; `split` holds the
/// bases one after the other, each as long as `order`.
mlir::ParseResult parseClusterSplit(mlir::AsmParser &parser, llvm::SmallVector<unsigned> &split,
                                    llvm::ArrayRef<unsigned> order);
void printClusterSplit(mlir::AsmPrinter &printer, llvm::ArrayRef<unsigned> split, llvm::ArrayRef<unsigned> order);

/// `offset = [[0, 1]], block = []`: the bases of inputs with these names, all of one length. The block's may be left
/// out.
mlir::ParseResult parseOffsetBases(mlir::AsmParser &parser, std::vector<layout::LinearLayout::Input> &inputs);
void printOffsetBases(mlir::AsmPrinter &printer, const layout::LinearLayout &layout, bool hasBlock);

/// `true` or `false`.
mlir::ParseResult parseFlag(mlir::AsmParser &parser, bool &flag);
void printFlag(mlir::AsmPrinter &printer, bool flag);

} // namespace nereid::ttg
