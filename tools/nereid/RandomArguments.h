// Arguments of a launch from a line of text: shapes of arrays, which get random elements, and values of scalars.
// SPDX-License-Identifier: MIT
#pragma once

#include "artifact/Artifact.h"

#include <deque>
#include <optional>
#include <string>
#include <vector>

namespace nereid::tools {

struct RandomArguments {
  std::vector<char> packed;
  std::deque<std::vector<char>> arrays; ///< with room to align them
};

/// `text` has an entry per parameter that is not a constant: `4096x781` the shape of an array, or the value of a
/// scalar. Floats are random in 0.5 to 1 with either sign, integers in 0 to 7. Nothing where the text does not fit;
/// `problem` says why.
std::optional<RandomArguments> makeArguments(const artifact::Artifact &artifact, const std::string &text, uint64_t seed,
                                             std::string &problem);

} // namespace nereid::tools
