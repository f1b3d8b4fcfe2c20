// Cuts source text into Python's tokens, with indentation made explicit.
// SPDX-License-Identifier: MIT
//
// Guarantees for the parser: the list ends with EndOfText; each logical line ends with Newline; Indent and Dedent are
// balanced and stand only after a Newline; text that cannot be read was reported and left an Error token in its logical
// line.
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

// What the first line's indentation means: an error in a module, the common indentation of a cut-out.
enum class FirstIndent : uint8_t { IsError, IsCommon };

// How many errors one text can have before the rest is not looked at.
inline constexpr size_t maxSyntaxErrors = 50;

std::vector<Token> lex(const support::SourceFile &file, support::DiagnosticEngine &diagnostics,
                       FirstIndent firstIndent);

} // namespace nereid::syntax
