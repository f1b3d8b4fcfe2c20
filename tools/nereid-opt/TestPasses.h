// Passes that only report the results of analyses.
// SPDX-License-Identifier: MIT
#pragma once

namespace nereid {

/// `test-print-shared-plan`.
void registerTestPasses();

} // namespace nereid
