// Suggests the name that a misspelt one in a kernel was meant to be.
// SPDX-License-Identifier: MIT
#pragma once

#include "compiler/sema/TtFunctionEmitter.h"

namespace nereid::sema {

/// Each gives the end of a message, "; did you mean `load`?", or nothing where no name is near.
std::string suggestVisible(TtFunctionEmitter &emitter, llvm::StringRef name);
std::string suggestMember(llvm::StringRef module, llvm::StringRef name);
std::string suggestTensorAttribute(llvm::StringRef name);
std::string suggestTypeAttribute(llvm::StringRef name);
std::string suggestRecordAttribute(const RecordClass &record, llvm::StringRef name);

} // namespace nereid::sema
