// Writes all bytes to a descriptor.
// SPDX-License-Identifier: MIT
#pragma once

#include <string_view>

namespace nereid::runtime {

/// False, with errno set, where not all bytes could be written.
bool writeAll(int fd, std::string_view bytes);

} // namespace nereid::runtime
