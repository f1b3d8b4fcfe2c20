// libFuzzer target: no text may crash lexer, parser, printer or message renderer, or break their invariants.
// SPDX-License-Identifier: MIT
//
// Invariants: a tree or an error, never both; layout tokens are balanced; a tree's depth is within its limits; what a
// terminal would show has no control character. A seed corpus: the .in files of test/golden/syntax.
#include "compiler/syntax/Lexer.h"
#include "compiler/syntax/Parser.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/raw_ostream.h"

#include <cstdint>
#include <cstdio>
#include <cstdlib>

using namespace nereid;

static void require(bool holds, const char *what) {
  if (holds)
    return;
  std::fprintf(stderr, "broken invariant: %s\n", what);
  std::abort();
}

static void checkMessages(const support::DiagnosticEngine &diagnostics) {
  std::string text = diagnostics.render();
  require(llvm::none_of(text, [](char c) { return (c >= 0 && c < 0x20 && c != '\n') || c == 0x7f; }),
          "no control character in messages");
  require(text.size() < 10'000 * (diagnostics.size() + 1), "messages are short");
}

static void checkTokens(const support::SourceFile &file, syntax::FirstIndent firstIndent) {
  support::DiagnosticEngine diagnostics;
  std::vector<syntax::Token> tokens = syntax::lex(file, diagnostics, firstIndent);
  require(!tokens.empty() && tokens.back().kind == syntax::TokenKind::EndOfText, "tokens end with the end of the text");
  long depth = 0;
  for (const syntax::Token &token : tokens) {
    require(token.range.begin <= token.range.end && token.range.end <= file.text().size(), "tokens lie in the text");
    depth += token.kind == syntax::TokenKind::Indent;
    depth -= token.kind == syntax::TokenKind::Dedent;
    require(depth >= 0, "no dedent without an indent");
  }
  require(depth == 0, "each indent has a dedent");
  require(llvm::none_of(tokens, [](const syntax::Token &token) { return token.kind == syntax::TokenKind::Error; }) ||
              diagnostics.hasErrors(),
          "an error token was reported");
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  support::SourceFile file("fuzz.py", std::string(reinterpret_cast<const char *>(data), size));
  checkTokens(file, syntax::FirstIndent::IsError);
  checkTokens(file, syntax::FirstIndent::IsCommon);

  syntax::AstContext context;
  support::DiagnosticEngine ofModule, ofFunction;
  const syntax::Module *module = syntax::parseModule(file, context, ofModule);
  require((module == nullptr) == ofModule.hasErrors(), "a module or an error");
  if (module)
    syntax::print(*module, llvm::nulls());
  const syntax::FunctionDef *function = syntax::parseFunction(file, context, ofFunction);
  require((function == nullptr) == ofFunction.hasErrors(), "a function or an error");
  if (function)
    syntax::print(*function, file, llvm::nulls());
  checkMessages(ofModule);
  checkMessages(ofFunction);
  return 0;
}
