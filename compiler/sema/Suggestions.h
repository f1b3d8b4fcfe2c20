// Suggests the name that a misspelt one in a kernel was meant to be.
// SPDX-License-Identifier: MIT
#pragma once

#include "compiler/sema/TtFunctionEmitter.h"

namespace nereid::sema {

/// Each gives the end of a message, "; did you mean `load`?", or nothing where no name is near.
/// For a function of Python that kernels lack the hint says what serves instead.
std::string hintForName(TtFunctionEmitter &emitter, llvm::StringRef name);
/// Whether it is `triton` or a module of the language.
bool isOwnModule(llvm::StringRef module);
/// The function of libdevice with this name, which is `triton.language.extra`'s; empty where there is none.
std::string hintForLibdevice(llvm::StringRef name);
/// For a function of an array library: the one of the language with the same meaning, or nothing.
std::string hintForFunction(llvm::StringRef name);
std::string suggestMember(llvm::StringRef module, llvm::StringRef name);
std::string suggestTensorAttribute(llvm::StringRef name);
std::string suggestTypeAttribute(llvm::StringRef name);
/// The type of the language for a type of Python, NumPy or torch: "numpy.float32" is `tl.float32`.
std::string hintForDtype(llvm::StringRef name);
/// The hint for a conversion of a tensor by such a type.
std::string hintForConversion(llvm::StringRef name);
std::string suggestRecordAttribute(const RecordClass &record, llvm::StringRef name);
/// For shapes of different rank that do not broadcast: how an index with `None` aligns the lesser one, or nothing.
std::string hintForAlignment(llvm::ArrayRef<int64_t> left, llvm::ArrayRef<int64_t> right);
/// To an error in `tl.max` or `tl.min` of the library, the function that may have been meant.
void noteExtreme(TtFunctionEmitter &emitter, SourceRange range);
/// For values of two paths that must have one type.
llvm::StringRef hintForTypes(const Value &one, const Value &other);
/// The hint for an operator that these operands lack.
llvm::StringRef hintForOperands(syntax::BinaryOperator op, const Value &left, const Value &right);
llvm::StringRef hintForComparison(syntax::CompareOperator op, const Value &right);

} // namespace nereid::sema
