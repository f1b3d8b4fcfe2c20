// Tiles that are regular in each chunk of lanes, though not over the whole tile: quotients and remainders of indices.
// SPDX-License-Identifier: MIT
//
// With `i = program * 1024 + arange(0, 1024)` and chunks of 16 lanes, which begin at multiples of 16, `i // 768` is one
// number in a chunk and `i % 768` counts up by one. The address of `x + i // 768 * 1280 + i % 768` is then computed
// once for a chunk, whose elements are adjacent. Axis info knows it: chunks are parts of its groups.
#pragma once

#include "compiler/target/cpu/plan/Affine.h"
#include "compiler/target/cpu/plan/IndexMap.h"

namespace nereid::cpu {

/// The distance of neighbours in chunks of `lanes` along the loop, of pointers in bytes; nullopt where it is not known
/// to be the same for all. Chunks begin at multiples of `lanes`.
std::optional<int64_t> chunkStep(AffineInfo &affineInfo, mlir::Value value, const IndexMap &map, int loop,
                                 unsigned lanes);

/// The largest of `most` and its halves, down to `fewest`, that `holds` is true of; 0 where there is none.
unsigned largestChunk(unsigned most, unsigned fewest, llvm::function_ref<bool(unsigned)> holds);

/// The most lanes of a chunk, up to `most`, in which the elements that `pointer` addresses are adjacent or one; 0 where
/// that is so in none of at least 8.
unsigned regularLanes(AffineInfo &affineInfo, mlir::Value pointer, const IndexMap &map, int loop, unsigned most);

/// Whether the value is a comparison of integers, other than a prefix, that has one result in each chunk, as
/// `i % 64 < 32`.
bool isUniformComparison(AffineInfo &affineInfo, mlir::Value value, const IndexMap &map, int loop, unsigned lanes);

/// The most lanes of a chunk, up to `most`, for which that is so; 0 where there are none of at least 16.
unsigned uniformLanes(AffineInfo &affineInfo, mlir::Value comparison, const IndexMap &map, int loop, unsigned most);

/// Whether the elements that `pointer` addresses are adjacent in chunks of at least 8 lanes along the dimension of its
/// tile.
bool hasContiguousChunks(AffineInfo &affineInfo, mlir::Value pointer, unsigned dim);

} // namespace nereid::cpu
