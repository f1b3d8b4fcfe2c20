// Prints a tree as an indented S-expression; each child is on its own line after the name of its field.
// SPDX-License-Identifier: MIT
//
// Fields and order are those of CPython's `ast`, so that a script can print the same text from Python.
#include "compiler/syntax/AstFields.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"

namespace nereid::syntax {

namespace {
// The overloads of () print a field by its type: names, operators and flags after the kind, nodes on lines of their
// own.
class Printer {
public:
  Printer(const support::SourceFile &file, llvm::raw_ostream &os) : file(file), os(os) {}

  void print(const Node &node);
  void print(const Module &module);

  void operator()(llvm::StringRef label, const Node *node) {
    if (!node)
      return;
    startField(label);
    print(*node);
  }
  template <typename T> void operator()(llvm::StringRef label, llvm::ArrayRef<T> items) {
    for (const T &item : items)
      (*this)(label, item);
  }
  void operator()(llvm::StringRef label, llvm::StringRef name) { os << (label == "module" ? "" : " ") << name; }
  void operator()(llvm::StringRef, unsigned level) { os << ' ' << std::string(level, '.'); } // before the module's name
  void operator()(llvm::StringRef, const Identifier &name) { os << ' ' << name.name; }
  template <typename T>
    requires std::is_enum_v<T>
  void operator()(llvm::StringRef, T op) {
    os << ' ' << spelling(op);
  }
  void operator()(llvm::StringRef label, bool isSet) {
    if (isSet)
      os << ' ' << label;
  }
  void operator()(llvm::StringRef, char conversion) {
    if (conversion)
      os << " !" << conversion;
  }
  void operator()(llvm::StringRef label, SourceRange typeParameters) { (*this)(label, !typeParameters.empty()); }
  void operator()(llvm::StringRef label, const Parameter &parameter);
  void operator()(llvm::StringRef label, const Keyword &keyword);
  void operator()(llvm::StringRef label, const Comprehension &generator);
  void operator()(llvm::StringRef label, const Alias &alias);
  void operator()(llvm::StringRef label, const WithItem &item);
  void operator()(llvm::StringRef label, const ExceptHandler &handler);
  void operator()(llvm::StringRef label, const DictEntries &entries);

private:
  void printConstant(const Constant &constant);

  void open(llvm::StringRef name, SourceRange range);
  void close() {
    os << ')';
    --depth;
  }
  void startField(llvm::StringRef name) {
    os << '\n';
    os.indent(2 * depth) << name << ": ";
  }
  void printRange(SourceRange range);
  void quoted(llvm::StringRef text) {
    os << '"';
    llvm::printEscapedString(text, os);
    os << '"';
  }

  const support::SourceFile &file;
  llvm::raw_ostream &os;
  unsigned depth = 0;
};
} // namespace

void Printer::printRange(SourceRange range) {
  support::LineColumn begin = file.position(range.begin);
  support::LineColumn end = file.position(range.end);
  os << begin.line << ':' << begin.column << '-' << end.line << ':' << end.column;
}

void Printer::open(llvm::StringRef name, SourceRange range) {
  os << '(' << name << ' ';
  printRange(range);
  ++depth;
}

void Printer::print(const Module &module) {
  os << "(Module";
  ++depth;
  (*this)("body", module.body);
  close();
  os << '\n';
}

void Printer::print(const Node &node) {
  open(toString(node.kind), node.range);
  if (const auto *constant = llvm::dyn_cast<Constant>(&node))
    printConstant(*constant);
  else
    forEachField(node, *this);
  close();
}

static llvm::StringRef toString(ParameterKind kind) {
  static constexpr llvm::StringLiteral names[] = {"posonly", "arg", "vararg", "kwonly", "kwarg"};
  return names[static_cast<unsigned>(kind)];
}

void Printer::operator()(llvm::StringRef, const Parameter &parameter) {
  startField(toString(parameter.kind));
  open("arg", parameter.range);
  os << ' ' << parameter.name;
  (*this)("annotation", parameter.annotation);
  (*this)("default", parameter.defaultValue);
  close();
}

void Printer::operator()(llvm::StringRef label, const Keyword &keyword) {
  startField(label);
  open("keyword", keyword.range);
  os << ' ' << (keyword.name.empty() ? "**" : keyword.name);
  (*this)("value", keyword.value);
  close();
}

void Printer::operator()(llvm::StringRef label, const Comprehension &generator) {
  startField(label);
  os << "(comprehension";
  ++depth;
  (*this)("async", generator.isAsync);
  (*this)("target", generator.target);
  (*this)("iter", generator.iterable);
  (*this)("if", generator.conditions);
  close();
}

void Printer::operator()(llvm::StringRef label, const Alias &alias) {
  startField(label);
  open("alias", alias.range);
  os << ' ' << alias.name;
  if (!alias.asName.empty())
    os << " as " << alias.asName;
  close();
}

void Printer::operator()(llvm::StringRef label, const WithItem &item) {
  (*this)(label, item.context);
  (*this)("as", item.target);
}

void Printer::operator()(llvm::StringRef label, const ExceptHandler &handler) {
  startField(label);
  open("except", handler.range);
  if (!handler.name.name.empty())
    os << ' ' << handler.name.name;
  (*this)("type", handler.type);
  (*this)("body", handler.body);
  close();
}

void Printer::operator()(llvm::StringRef, const DictEntries &entries) {
  for (auto [key, value] : llvm::zip_equal(entries.keys, entries.values)) {
    (*this)("key", key);
    (*this)("value", value);
  }
}

void Printer::printConstant(const Constant &constant) {
  os << ' ';
  switch (constant.constantKind) {
  case ConstantKind::None:
    os << "None";
    return;
  case ConstantKind::True:
    os << "True";
    return;
  case ConstantKind::False:
    os << "False";
    return;
  case ConstantKind::Ellipsis:
    os << "Ellipsis";
    return;
  case ConstantKind::Int:
    os << "int " << llvm::toString(constant.integer(), 10, /*Signed=*/false);
    return;
  case ConstantKind::Float:
    os << "float " << llvm::format("%.17g", constant.number);
    return;
  case ConstantKind::Imaginary:
    os << "imaginary " << llvm::format("%.17g", constant.number);
    return;
  case ConstantKind::Str:
    os << "str ";
    return quoted(constant.text);
  case ConstantKind::Bytes:
    os << "bytes ";
    return quoted(constant.text);
  }
}

void print(const Module &module, llvm::raw_ostream &os) { Printer(*module.file, os).print(module); }

void print(const Node &node, const support::SourceFile &file, llvm::raw_ostream &os) {
  Printer(file, os).print(node);
  os << '\n';
}

} // namespace nereid::syntax
