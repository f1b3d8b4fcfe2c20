// Plans the gathers of `ttg`.
// SPDX-License-Identifier: MIT
#pragma once

#include "compiler/dialect/ttg/Dialect.h"
#include "compiler/layout/Gather.h"

namespace nereid::ttg {

/// The d such that each of the gather's indices is its own coordinate along the axis XOR d, inside of the source.
std::optional<uint32_t> exchangeDistance(tt::GatherOp op);

/// The exchange that implements a gather whose operands have one layout; nothing where its source goes through a buffer
/// that is read at any index.
std::optional<layout::ExchangePlan> planExchange(tt::GatherOp op);

} // namespace nereid::ttg
