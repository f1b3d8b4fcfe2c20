// The special registers of a thread, as one list of words.
// SPDX-License-Identifier: MIT
#pragma once

#include "runtime/sim/ptx/Launch.h"

#include <array>
#include <bit>
#include <iterator>
#include <string_view>

namespace nereid::sim {

inline constexpr std::string_view kSpecialNames[] = {"%tid.x",
                                                     "%tid.y",
                                                     "%tid.z",
                                                     "%ntid.x",
                                                     "%ntid.y",
                                                     "%ntid.z",
                                                     "%ctaid.x",
                                                     "%ctaid.y",
                                                     "%ctaid.z",
                                                     "%nctaid.x",
                                                     "%nctaid.y",
                                                     "%nctaid.z",
                                                     "%clusterid.x",
                                                     "%clusterid.y",
                                                     "%clusterid.z",
                                                     "%nclusterid.x",
                                                     "%nclusterid.y",
                                                     "%nclusterid.z",
                                                     "%cluster_ctaid.x",
                                                     "%cluster_ctaid.y",
                                                     "%cluster_ctaid.z",
                                                     "%cluster_nctaid.x",
                                                     "%cluster_nctaid.y",
                                                     "%cluster_nctaid.z",
                                                     "%laneid",
                                                     "%warpid",
                                                     "%nwarpid",
                                                     "%lanemask_eq",
                                                     "%lanemask_lt",
                                                     "%lanemask_le",
                                                     "%lanemask_gt",
                                                     "%lanemask_ge",
                                                     "%cluster_ctarank",
                                                     "%cluster_nctarank",
                                                     "%dynamic_smem_size",
                                                     "%total_smem_size",
                                                     "%smid",
                                                     "%nsmid",
                                                     "%gridid",
                                                     "%is_explicit_cluster"};

/// An index into the names. The last one is a predicate, the others have 32 bits.
using Special = uint32_t;
inline constexpr Special kIsExplicitCluster = std::size(kSpecialNames) - 1;

/// The values, in the order of the names.
struct SpecialValues {
  Dim tid, ntid, ctaid, nctaid, clusterid, nclusterid, clusterCtaid, clusterNctaid;
  uint32_t laneid = 0, warpid = 0, nwarpid = 0;
  uint32_t lanemaskEq = 0, lanemaskLt = 0, lanemaskLe = 0, lanemaskGt = 0, lanemaskGe = 0;
  uint32_t clusterCtarank = 0, clusterNctarank = 0, dynamicSmemSize = 0, totalSmemSize = 0;
  uint32_t smid = 0, nsmid = 1, gridid = 1, isExplicitCluster = 0;
};
using SpecialWords = std::array<uint32_t, std::size(kSpecialNames)>;
static_assert(sizeof(SpecialValues) == sizeof(SpecialWords));

} // namespace nereid::sim
