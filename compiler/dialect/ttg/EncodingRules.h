// Registers the rules by which shape ops of `tt` change encodings of `ttg`.
// SPDX-License-Identifier: MIT
#pragma once

namespace nereid::ttg {

class TtgDialect;

void addEncodingRules(TtgDialect &dialect);

} // namespace nereid::ttg
