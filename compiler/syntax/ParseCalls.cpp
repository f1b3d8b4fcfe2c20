// Parses postfix operators (attribute, call, index), and the parameters of functions and lambdas.
// SPDX-License-Identifier: MIT
#include "compiler/syntax/Diagnostics.h"
#include "compiler/syntax/ExpressionParser.h"

#include "llvm/ADT/StringSet.h"

namespace nereid::syntax {

// All bracket nesting passes through here, so its depth is counted here.
const Expr *ExpressionParser::parsePrimary() {
  Level level(*this);
  if (!level)
    return nullptr;
  uint32_t begin = here();
  const Expr *value = parseAtom();
  while (value) {
    if (isAt(TokenKind::Dot))
      value = parseAttribute(begin, value);
    else if (isAt(TokenKind::LeftParen))
      value = parseCall(begin, value);
    else if (isAt(TokenKind::LeftSquare))
      value = parseSubscript(begin, value);
    else
      break;
  }
  return value;
}

const Expr *ExpressionParser::parseAttribute(uint32_t begin, const Expr *value) {
  take();
  Identifier name;
  if (!expectName("after `.`", name))
    return nullptr;
  return finish(create<Attribute>(begin, value, name.name, name.range));
}

const Expr *ExpressionParser::parseCall(uint32_t begin, const Expr *callee) {
  Arguments arguments;
  if (!parseArguments(arguments))
    return nullptr;
  return finish(create<Call>(begin, callee, arguments.args, arguments.keywords));
}

bool ExpressionParser::parseArguments(Arguments &arguments) {
  arguments.open = take().range.begin;
  while (!isAt(TokenKind::RightParen)) {
    bool isNamed = isAt(TokenKind::Name) && peek(1).kind == TokenKind::Assign;
    bool isKeyword = isNamed || isAt(TokenKind::StarStar);
    if (!(isKeyword ? parseKeyword(arguments) : parseArgument(arguments)))
      return false;
    if (!accept(TokenKind::Comma))
      break;
  }
  if (!expect(TokenKind::RightParen, "to close the arguments"))
    return false;
  llvm::StringSet<> seen;
  for (const Keyword &keyword : arguments.keywords) {
    if (keyword.name.empty() || seen.insert(keyword.name).second)
      continue;
    report(diag::RepeatedKeyword, keyword.nameRange, keyword.name);
    return false;
  }
  return true;
}

// `name=value` or `**value`
bool ExpressionParser::parseKeyword(Arguments &arguments) {
  Keyword keyword;
  uint32_t begin = here();
  if (accept(TokenKind::StarStar)) {
    arguments.hasUnpackedKeywords = true;
  } else {
    const Token &token = take();
    keyword.name = context.intern(spelling(token));
    keyword.nameRange = token.range;
    take(); // `=`
  }
  keyword.value = parseExpression();
  keyword.range = rangeFrom(begin);
  arguments.keywords.push_back(keyword);
  return keyword.value != nullptr;
}

bool ExpressionParser::parseArgument(Arguments &arguments) {
  const Expr *arg = isAt(TokenKind::Star) ? parseStarred(&ExpressionParser::parseExpression) : parseNamedExpression();
  if (!arg)
    return false;
  // `*args` may follow `name=value`, but not `**kwargs`.
  bool isStarred = llvm::isa<Starred>(arg);
  if (arguments.hasUnpackedKeywords || (!arguments.keywords.empty() && !isStarred)) {
    report(diag::PositionalAfterKeyword, arg->range,
           arguments.hasUnpackedKeywords ? "`**` arguments" : "keyword arguments");
    return false;
  }
  if (isAtComprehension())
    arg = parseGeneratorArgument(arguments, arg);
  arguments.args.push_back(arg);
  return arg != nullptr;
}

// `f(a for a in b)`: the parentheses of the call are those of the generator.
const Expr *ExpressionParser::parseGeneratorArgument(const Arguments &arguments, const Expr *element) {
  llvm::SmallVector<Comprehension, 2> generators;
  if (llvm::isa<Starred>(element)) {
    report(diag::StarInComprehension, element->range, "*");
    return nullptr;
  }
  if (!parseGenerators(generators))
    return nullptr;
  bool isFirst = arguments.args.empty() && arguments.keywords.empty();
  if (!isFirst || isAt(TokenKind::Comma)) {
    report(diag::BareGenerator, rangeFrom(element->range.begin));
    return nullptr;
  }
  auto *node = create<GeneratorExp>(arguments.open, element, generators);
  node->range.end = peek().range.end;
  return finish(node);
}

const Expr *ExpressionParser::parseSubscript(uint32_t begin, const Expr *value) {
  take();
  const Expr *index = parseIndex();
  if (!index || !expect(TokenKind::RightSquare, "to close the index"))
    return nullptr;
  return finish(create<Subscript>(begin, value, index));
}

const Expr *ExpressionParser::parseIndex() {
  uint32_t begin = here();
  const Expr *first = parseSlice();
  if (!first || (!isAt(TokenKind::Comma) && !llvm::isa<Starred>(first)))
    return first;
  Items elements{first};
  while (accept(TokenKind::Comma) && !isAt(TokenKind::RightSquare)) {
    elements.push_back(parseSlice());
    if (!elements.back())
      return nullptr;
  }
  return finish(create<Tuple>(begin, elements));
}

const Expr *ExpressionParser::parseSlice() {
  uint32_t begin = here();
  const Expr *lower = nullptr;
  if (!isAt(TokenKind::Colon) && !(lower = parseStarExpression(/*allowNamed=*/true)))
    return nullptr;
  if (!isAt(TokenKind::Colon) || llvm::isa_and_present<Starred>(lower))
    return lower;
  take();
  auto isPartNext = [&] { return !isAt(TokenKind::Colon) && !isAt(TokenKind::Comma) && !isAt(TokenKind::RightSquare); };
  const Expr *upper = nullptr;
  const Expr *step = nullptr;
  if (isPartNext() && !(upper = parseExpression()))
    return nullptr;
  if (accept(TokenKind::Colon) && isPartNext() && !(step = parseExpression()))
    return nullptr;
  return finish(create<Slice>(begin, lower, upper, step));
}

// Name, annotation and default; the caller sets the kind.
bool ExpressionParser::parseParameter(bool isFunction, Parameter &parameter) {
  uint32_t begin = here();
  Identifier name;
  if (!expectName("for a parameter", name))
    return false;
  parameter.name = name.name;
  parameter.nameRange = name.range;
  if (isFunction && accept(TokenKind::Colon)) {
    bool canBeStarred = parameter.kind == ParameterKind::VarPositional;
    parameter.annotation = canBeStarred ? parseStarExpression(/*allowNamed=*/false) : parseExpression();
    if (!parameter.annotation)
      return false;
  }
  parameter.range = rangeFrom(begin);
  bool isCollector = parameter.kind == ParameterKind::VarPositional || parameter.kind == ParameterKind::VarKeyword;
  if (!isAt(TokenKind::Assign))
    return true;
  if (isCollector) {
    report(diag::MisplacedParameter, peek().range, ("`" + parameter.name + "` collects arguments").str(),
           "it cannot have a default");
    return false;
  }
  take();
  parameter.defaultValue = parseExpression();
  return parameter.defaultValue != nullptr;
}

// `*` or `*args`; later parameters are keyword-only.
bool ExpressionParser::parseStarParameter(bool isFunction, ParameterKind &kind,
                                          llvm::SmallVectorImpl<Parameter> &parameters) {
  SourceRange star = take().range;
  if (kind == ParameterKind::KeywordOnly) {
    report(diag::MisplacedParameter, star, "a second `*` among the parameters", "keep one of them");
    return false;
  }
  kind = ParameterKind::KeywordOnly;
  if (isAt(TokenKind::Comma)) {
    if (peek(1).kind == TokenKind::Name)
      return true;
  } else if (isAt(TokenKind::Name)) {
    Parameter parameter;
    parameter.kind = ParameterKind::VarPositional;
    bool ok = parseParameter(isFunction, parameter);
    parameters.push_back(parameter);
    return ok;
  }
  report(diag::MisplacedParameter, star, "`*` is followed by no parameter", "name one after it, or remove it");
  return false;
}

// `/`: the parameters before it are positional-only.
bool ExpressionParser::parseParameterSlash(TokenKind closer, llvm::SmallVectorImpl<Parameter> &parameters) {
  SourceRange slash = take().range;
  bool isMisplaced = parameters.empty() || llvm::any_of(parameters, [](const Parameter &parameter) {
                       return parameter.kind != ParameterKind::PositionalOrKeyword;
                     });
  if (isMisplaced || (!isAt(closer) && !isAt(TokenKind::Comma))) {
    report(diag::MisplacedParameter, slash, "`/` is not allowed here",
           "it stands alone, once, after a positional parameter and before any `*`");
    return false;
  }
  for (Parameter &parameter : parameters)
    parameter.kind = ParameterKind::PositionalOnly;
  return true;
}

bool ExpressionParser::parseParameters(TokenKind closer, llvm::SmallVectorImpl<Parameter> &parameters) {
  bool isFunction = closer == TokenKind::RightParen;
  ParameterKind kind = ParameterKind::PositionalOrKeyword;
  while (!isAt(closer)) {
    if (!parameters.empty() && parameters.back().kind == ParameterKind::VarKeyword) {
      report(diag::MisplacedParameter, peek().range, "a parameter follows `**" + parameters.back().name.str() + "`",
             "put it before");
      return false;
    }
    if (isAt(TokenKind::Star)) {
      if (!parseStarParameter(isFunction, kind, parameters))
        return false;
    } else if (isAt(TokenKind::Slash)) {
      if (!parseParameterSlash(closer, parameters))
        return false;
    } else {
      Parameter parameter;
      parameter.kind = accept(TokenKind::StarStar) ? ParameterKind::VarKeyword : kind;
      if (!parseParameter(isFunction, parameter))
        return false;
      parameters.push_back(parameter);
    }
    if (!accept(TokenKind::Comma))
      break;
  }
  return checkParameters(parameters);
}

bool ExpressionParser::checkParameters(llvm::ArrayRef<Parameter> parameters) {
  llvm::StringSet<> seen;
  const Parameter *withDefault = nullptr;
  for (const Parameter &parameter : parameters) {
    if (!seen.insert(parameter.name).second) {
      report(diag::DuplicateParameter, parameter.nameRange, parameter.name);
      return false;
    }
    bool isPositional =
        parameter.kind == ParameterKind::PositionalOnly || parameter.kind == ParameterKind::PositionalOrKeyword;
    if (!isPositional)
      continue;
    if (withDefault && !parameter.defaultValue) {
      report(diag::ParameterWithoutDefault, parameter.nameRange, parameter.name, withDefault->name);
      return false;
    }
    if (parameter.defaultValue)
      withDefault = &parameter;
  }
  return true;
}

} // namespace nereid::syntax
