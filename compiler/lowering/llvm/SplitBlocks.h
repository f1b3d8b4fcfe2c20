// Splits large basic blocks before instruction selection.
// SPDX-License-Identifier: MIT
#pragma once

namespace llvm {
class FunctionPass;
}

namespace nereid::lowering {

/// A pass for LLVM's code generator, to run directly before instruction selection. A block that becomes more than
/// `most` machine instructions is split into parts of half as many.
llvm::FunctionPass *createSplitBlocksPass(unsigned most);

} // namespace nereid::lowering
