// Gives `tt` the rules by which its shape ops change encodings of `ttg`.
// SPDX-License-Identifier: MIT
#pragma once

namespace nereid::ttg {

class TtgDialect;

void addEncodingRules(TtgDialect &dialect);

} // namespace nereid::ttg
