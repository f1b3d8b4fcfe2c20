// Names of token kinds in messages.
// SPDX-License-Identifier: MIT
#include "compiler/syntax/Lexer.h"

namespace nereid::syntax {

llvm::StringRef describe(TokenKind kind) {
  switch (kind) {
#define TOKEN(name, description)                                                                                       \
  case TokenKind::name:                                                                                                \
    return description;
#include "compiler/syntax/Tokens.def"
  }
  return "token";
}

bool isKeyword(TokenKind kind) { return kind >= TokenKind::False && kind <= TokenKind::Yield; }

} // namespace nereid::syntax
