// Splits source text into Python's tokens, with explicit indentation tokens.
// SPDX-License-Identifier: MIT
//
// Guarantees for the parser: the list ends with EndOfText; each logical line ends with Newline; Indent and Dedent are
// balanced and occur only after a Newline; invalid text was reported and left an Error token in its logical line.
#pragma once

#include "compiler/support/Diagnostic.h"

#include <vector>

namespace nereid::syntax {

using support::SourceRange;

enum class TokenKind : uint8_t {
#define TOKEN(name, description) name,
#include "compiler/syntax/Tokens.def"
};
// "`(`", "end of line", "number".
llvm::StringRef describe(TokenKind kind);
bool isKeyword(TokenKind kind);

struct Token {
  TokenKind kind;
  SourceRange range;
};

// The meaning of the first line's indentation: an error in a module, the common indentation of an extract.
enum class FirstIndent : uint8_t { IsError, IsCommon };

// The number of errors after which the rest of a text is skipped.
inline constexpr size_t maxSyntaxErrors = 50;

std::vector<Token> lex(const support::SourceFile &file, support::DiagnosticEngine &diagnostics,
                       FirstIndent firstIndent);

} // namespace nereid::syntax
