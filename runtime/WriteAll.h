// Writes to a descriptor until everything is written.
// SPDX-License-Identifier: MIT
#pragma once

#include <string_view>

namespace nereid::runtime {

/// False, with errno, where not all of it could be written.
bool writeAll(int fd, std::string_view bytes);

} // namespace nereid::runtime
