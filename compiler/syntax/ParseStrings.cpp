// Parses string literals: one or several adjacent ones, plain, bytes and f-strings with their fields.
// SPDX-License-Identifier: MIT
#include "compiler/syntax/Diagnostics.h"
#include "compiler/syntax/ExpressionParser.h"

namespace nereid::syntax {

// `"a" f"{b}" 'c'` is one value.
const Expr *ExpressionParser::parseStrings() {
  uint32_t begin = here();
  StringParts parts;
  bool hasFields = false;
  bool isBytes = isAt(TokenKind::String) && stringForm(spelling(peek())).isBytes;
  while (isAt(TokenKind::String) || isAt(TokenKind::FStringStart)) {
    bool isPlain = isAt(TokenKind::String);
    bool isBytesHere = isPlain && stringForm(spelling(peek())).isBytes;
    if (isBytesHere != isBytes) {
      report(diag::MixedStringBytes, peek().range);
      return nullptr;
    }
    hasFields |= !isPlain;
    if (!(isPlain ? parsePlainString(parts) : parseFString(parts)))
      return nullptr;
  }
  if (hasFields)
    return joinParts(rangeFrom(begin), parts);
  auto *node = create<Constant>(begin, isBytes ? ConstantKind::Bytes : ConstantKind::Str);
  node->text = context.copy(llvm::StringRef(parts.text));
  return node;
}

bool ExpressionParser::parsePlainString(StringParts &parts) {
  SourceRange range = take().range;
  StringForm form = stringForm(file.text(range));
  SourceRange contents{range.begin + form.prefixBytes, range.end - form.quoteBytes};
  std::string value;
  if (!decodeString(file, contents, form, BraceRule::Keep, diagnostics, value))
    return false;
  addText(value, range, parts);
  return true;
}

bool ExpressionParser::parseFString(StringParts &parts) {
  StringForm form = stringForm(spelling(take()));
  while (!isAt(TokenKind::FStringEnd)) {
    if (isAt(TokenKind::FStringMiddle)) {
      if (!parseFStringText(form, BraceRule::Collapse, parts))
        return false;
    } else if (isAt(TokenKind::LeftBrace)) {
      if (!parseFStringField(form, parts))
        return false;
    } else {
      return expect(TokenKind::FStringEnd, "after its text");
    }
  }
  take();
  return true;
}

bool ExpressionParser::parseFStringText(StringForm form, BraceRule braces, StringParts &parts) {
  SourceRange range = take().range;
  std::string value;
  if (!decodeString(file, range, form, braces, diagnostics, value))
    return false;
  addText(value, range, parts);
  return true;
}

// The text from the end of the token before `first` to the current token.
std::string ExpressionParser::textWithoutComments(size_t first) const {
  std::string text;
  for (size_t i = first; i <= at; ++i) {
    llvm::StringRef gap = file.text({tokens[i - 1].range.end, tokens[i].range.begin});
    while (!gap.empty()) {
      size_t comment = std::min(gap.find('#'), gap.size());
      text += gap.take_front(comment);
      gap = gap.substr(std::min(gap.find_first_of("\r\n", comment), gap.size()));
    }
    if (i < at)
      text += spelling(tokens[i]);
  }
  return text;
}

// `{value}`, `{value=}`, `{value!r:spec}`
bool ExpressionParser::parseFStringField(StringForm form, StringParts &parts) {
  Level level(*this);
  if (!level)
    return false;
  uint32_t begin = here();
  uint32_t contentsBegin = take().range.end;
  size_t firstToken = at;
  if (isAt(TokenKind::RightBrace) || isAt(TokenKind::Exclamation) || isAt(TokenKind::Colon)) {
    report(diag::EmptyFStringField, {begin, peek().range.end});
    return false;
  }
  const Expr *value = parseYieldOrStarExpressions();
  if (!value)
    return false;
  bool showsItself = accept(TokenKind::Assign);
  if (showsItself) {
    addText(textWithoutComments(firstToken), {contentsBegin, here()}, parts);
  }
  char conversion = 0;
  if (accept(TokenKind::Exclamation) && !parseConversion(conversion))
    return false;
  const JoinedStr *spec = nullptr;
  if (accept(TokenKind::Colon) && !(spec = parseFormatSpec(form)))
    return false;
  if (!expect(TokenKind::RightBrace, "to close the field of the f-string"))
    return false;
  if (showsItself && !conversion && !spec)
    conversion = 'r';
  flushText(parts);
  parts.values.push_back(finish(create<FormattedValue>(begin, value, conversion, spec)));
  return parts.values.back() != nullptr;
}

// After the `!`.
bool ExpressionParser::parseConversion(char &conversion) {
  llvm::StringRef name = spelling(peek());
  bool isAdjacent = here() == tokens[at - 1].range.end;
  if (!isAdjacent || (name != "s" && name != "r" && name != "a")) {
    report(diag::InvalidConversion, support::join(tokens[at - 1].range, peek().range),
           file.text(support::join(tokens[at - 1].range, peek().range)));
    return false;
  }
  conversion = name.front();
  take();
  return true;
}

const JoinedStr *ExpressionParser::parseFormatSpec(StringForm form) {
  uint32_t begin = tokens[at - 1].range.begin; // its `:`
  StringParts parts;
  while (!isAt(TokenKind::RightBrace)) {
    if (isAt(TokenKind::FStringMiddle)) {
      if (!parseFStringText(form, BraceRule::Keep, parts))
        return nullptr;
    } else if (isAt(TokenKind::LeftBrace)) {
      if (!parseFStringField(form, parts))
        return nullptr;
    } else {
      expect(TokenKind::RightBrace, "to close the field of the f-string");
      return nullptr;
    }
  }
  return joinParts(rangeFrom(begin), parts);
}

void ExpressionParser::addText(llvm::StringRef text, SourceRange range, StringParts &parts) {
  parts.textRange = parts.hasText ? support::join(parts.textRange, range) : range;
  parts.hasText = true;
  parts.text += text;
}

void ExpressionParser::flushText(StringParts &parts) {
  if (!parts.text.empty()) {
    auto *node = context.create<Constant>(parts.textRange, ConstantKind::Str);
    node->text = context.copy(llvm::StringRef(parts.text));
    parts.values.push_back(node);
  }
  parts.text.clear();
  parts.hasText = false;
}

const JoinedStr *ExpressionParser::joinParts(SourceRange range, StringParts &parts) {
  flushText(parts);
  return finish(context.create<JoinedStr>(range, context.copy<const Expr *>(parts.values)));
}

} // namespace nereid::syntax
