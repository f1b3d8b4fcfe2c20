// Decides whether a fatal error of code generation comes from a kernel's inline assembly.
// SPDX-License-Identifier: MIT
#pragma once

#include "compiler/driver/Backend.h"

#include "mlir/IR/Location.h"

#include <optional>

namespace nereid::driver {

/// The inline assembly without which code generation, which has failed by a fatal error, goes past that phase; nothing
/// where it fails without any assembly, too: then the error is the compiler's own. Compiles the kernel again for each
/// text of assembly.
std::optional<mlir::Location> findGuiltyAssembly(const Compilation &failed, const Backend &backend);

} // namespace nereid::driver
