// How the gathers of `ttg` are executed.
// SPDX-License-Identifier: MIT
#pragma once

#include "compiler/dialect/ttg/Dialect.h"
#include "compiler/layout/Gather.h"

namespace nereid::analysis {

/// The d where each of the gather's indices is its own place along the axis exclusive-or d, inside of the source.
std::optional<uint32_t> exchangeDistance(tt::GatherOp op);

/// The exchange of elements that a gather is where its operands have one layout; nothing where its source goes through
/// a buffer that is read at any index.
std::optional<layout::ExchangePlan> planExchange(tt::GatherOp op);

/// Bytes of shared memory that a gather needs.
uint32_t gatherBytes(tt::GatherOp op);

} // namespace nereid::analysis
