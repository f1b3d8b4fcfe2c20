// Recursive descent over expressions; the statement parser derives from it.
// SPDX-License-Identifier: MIT
//
// ExpressionParser.cpp has the operators, ParseAtoms.cpp the brackets and displays, ParseCalls.cpp postfix operators
// and parameters, ParseStrings.cpp the literals, ParseTargets.cpp assignment targets.
#pragma once

#include "compiler/syntax/Strings.h"
#include "compiler/syntax/TokenCursor.h"

#include "llvm/ADT/SmallVector.h"

namespace nereid::syntax {

class ExpressionParser : public TokenCursor {
protected:
  using TokenCursor::TokenCursor;
  using Items = llvm::SmallVector<const Expr *, 8>;

  // Operators, loosest first
  const Expr *parseNamedExpression();
  const Expr *parseExpression();
  const Expr *parseDisjunction();
  const Expr *parseBitOr() { return parseBinary(0); }
  // `a, *b` without brackets: a tuple, or a single expression.
  const Expr *parseStarExpressions(bool allowNamed = false);
  const Expr *parseYield();
  const Expr *parseYieldOrStarExpressions() { return isAt(TokenKind::Yield) ? parseYield() : parseStarExpressions(); }

  // Parameters of a lambda (ended by `:`) or a function (ended by `)`); the end token is not consumed.
  bool parseParameters(TokenKind closer, llvm::SmallVectorImpl<Parameter> &parameters);
  struct Arguments {
    uint32_t open = 0; // its `(`
    Items args;
    llvm::SmallVector<Keyword, 4> keywords;
    bool hasUnpackedKeywords = false;
  };
  // From `(` to `)`.
  bool parseArguments(Arguments &arguments);

  // Targets
  bool parseTargets(llvm::StringRef verb, Items &targets, bool &hasComma);
  // As above, as one expression: a tuple where there is a comma.
  const Expr *parseTargetList(llvm::StringRef verb);
  bool checkTargets(ExprList targets, llvm::StringRef verb);
  bool checkTarget(const Expr *target, llvm::StringRef verb);
  bool checkSingleTarget(const Expr *target, llvm::StringRef ofWhat);

  bool canStartExpression(TokenKind kind) const;
  bool isAtComprehension() const;

  // Computes the depth of a node from its parts; null where the expression is too deep.
  template <typename T> const T *finish(T *node) { return setDepth(*node) ? node : nullptr; }

  // Counts one level of recursion; reports an error and returns false beyond the limit.
  class Level {
  public:
    explicit Level(ExpressionParser &parser);
    ~Level() { --parser.nesting; }
    Level(const Level &) = delete;
    explicit operator bool() const { return isAllowed; }

  private:
    ExpressionParser &parser;
    bool isAllowed;
  };

private:
  using ParseFunction = const Expr *(ExpressionParser::*)();
  const Expr *parseLambda();
  const Expr *parseConjunction();
  const Expr *parseNot();
  const Expr *parseComparison();
  const Expr *parseBinary(unsigned minPrecedence);
  const Expr *parseUnary();
  const Expr *parsePower();
  const Expr *parseAwait();
  const Expr *parseBoolOp(BoolOperator op, TokenKind token, ParseFunction parseOperand);
  const Expr *parseUnaryOp(UnaryOperator op, ParseFunction parseOperand);
  const Expr *parseStarred(ParseFunction parseOperand);

  const Expr *parseStarExpression(bool allowNamed);
  const Expr *parsePrimary();
  const Expr *parseAttribute(uint32_t begin, const Expr *value);
  const Expr *parseCall(uint32_t begin, const Expr *callee);
  bool parseKeyword(Arguments &arguments);
  bool parseArgument(Arguments &arguments);
  const Expr *parseGeneratorArgument(const Arguments &arguments, const Expr *element);
  const Expr *parseSubscript(uint32_t begin, const Expr *value);
  const Expr *parseIndex();
  const Expr *parseSlice();
  bool parseParameter(bool isFunction, Parameter &parameter);
  bool parseStarParameter(bool isFunction, ParameterKind &kind, llvm::SmallVectorImpl<Parameter> &parameters);
  bool parseParameterSlash(TokenKind closer, llvm::SmallVectorImpl<Parameter> &parameters);
  bool checkParameters(llvm::ArrayRef<Parameter> parameters);

  const Expr *parseAtom();
  const Expr *parseName();
  const Expr *parseNumber();
  const Expr *parseKeywordConstant(ConstantKind kind);
  const Expr *parseParentheses();
  const Expr *parseList();
  const Expr *parseBraces();
  const Expr *parseDict(uint32_t begin, const Expr *firstKey, const Expr *firstValue);
  bool parseDictItem(const Expr *&key, const Expr *&value);
  bool parseItems(TokenKind closer, Items &items);
  bool parseGenerators(llvm::SmallVectorImpl<Comprehension> &generators);
  template <typename T> const Expr *parseComprehension(uint32_t begin, const Expr *element, TokenKind closer);
  std::nullptr_t reportMissingExpression();

  // The values of an f-string, with adjacent text merged.
  struct StringParts {
    Items values;
    std::string text;
    SourceRange textRange;
    bool hasText = false;
  };
  const Expr *parseStrings();
  bool parsePlainString(StringParts &parts);
  bool parseFString(StringParts &parts);
  bool parseFStringText(StringForm form, BraceRule braces, StringParts &parts);
  bool parseFStringField(StringForm form, StringParts &parts);
  bool parseConversion(char &conversion);
  const JoinedStr *parseFormatSpec(StringForm form);
  std::string textWithoutComments(size_t first) const;
  void addText(llvm::StringRef text, SourceRange range, StringParts &parts);
  void flushText(StringParts &parts);
  const JoinedStr *joinParts(SourceRange range, StringParts &parts);

  bool setDepth(Expr &node);

  unsigned nesting = 0;
};

} // namespace nereid::syntax
