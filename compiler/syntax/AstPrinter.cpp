// Prints a tree as an indented S-expression; each child is on its own line after the name of its field.
// SPDX-License-Identifier: MIT
//
// Fields and order are those of CPython's `ast`, so that a script can print the same text from Python.
#include "compiler/syntax/Ast.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"

namespace nereid::syntax {

namespace {
class Printer {
public:
  Printer(const support::SourceFile &file, llvm::raw_ostream &os) : file(file), os(os) {}

  void print(const Node &node);
  void print(const Module &module);

private:
  void printExpr(const Expr &expr);
  void printCollection(const Expr &expr);
  void printConstant(const Constant &constant);
  void printStmt(const Stmt &stmt);
  void printDefinition(const Stmt &stmt);
  void printAssignment(const Stmt &stmt);
  void printControlFlow(const Stmt &stmt);
  void printImport(const Stmt &stmt);

  void open(llvm::StringRef name, SourceRange range);
  void close() {
    os << ')';
    --depth;
  }
  void startField(llvm::StringRef name) {
    os << '\n';
    os.indent(2 * depth) << name << ": ";
  }
  void field(llvm::StringRef name, const Node *node) {
    if (!node)
      return;
    startField(name);
    print(*node);
  }
  template <typename T> void fields(llvm::StringRef name, llvm::ArrayRef<const T *> nodes) {
    for (const T *node : nodes)
      field(name, node);
  }
  void printRange(SourceRange range);
  void quoted(llvm::StringRef text) {
    os << '"';
    llvm::printEscapedString(text, os);
    os << '"';
  }
  void flag(bool isSet, llvm::StringRef name) {
    if (isSet)
      os << ' ' << name;
  }
  void parameters(llvm::ArrayRef<Parameter> parameters);
  void keywords(llvm::ArrayRef<Keyword> keywords);
  void generators(llvm::ArrayRef<Comprehension> generators);
  void aliases(llvm::ArrayRef<Alias> aliases);

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
  fields("body", module.body);
  close();
  os << '\n';
}

void Printer::print(const Node &node) {
  open(toString(node.kind), node.range);
  if (const auto *expr = llvm::dyn_cast<Expr>(&node))
    printExpr(*expr);
  else
    printStmt(llvm::cast<Stmt>(node));
  close();
}

static llvm::StringRef toString(ParameterKind kind) {
  static constexpr llvm::StringLiteral names[] = {"posonly", "arg", "vararg", "kwonly", "kwarg"};
  return names[static_cast<unsigned>(kind)];
}

void Printer::parameters(llvm::ArrayRef<Parameter> parameters) {
  for (const Parameter &parameter : parameters) {
    startField(toString(parameter.kind));
    open("arg", parameter.range);
    os << ' ' << parameter.name;
    field("annotation", parameter.annotation);
    field("default", parameter.defaultValue);
    close();
  }
}

void Printer::keywords(llvm::ArrayRef<Keyword> keywords) {
  for (const Keyword &keyword : keywords) {
    startField("keyword");
    open("keyword", keyword.range);
    os << ' ' << (keyword.name.empty() ? "**" : keyword.name);
    field("value", keyword.value);
    close();
  }
}

void Printer::generators(llvm::ArrayRef<Comprehension> generators) {
  for (const Comprehension &generator : generators) {
    startField("generator");
    os << "(comprehension";
    ++depth;
    flag(generator.isAsync, "async");
    field("target", generator.target);
    field("iter", generator.iterable);
    fields("if", generator.conditions);
    close();
  }
}

void Printer::aliases(llvm::ArrayRef<Alias> aliases) {
  for (const Alias &alias : aliases) {
    startField("name");
    open("alias", alias.range);
    os << ' ' << alias.name;
    if (!alias.asName.empty())
      os << " as " << alias.asName;
    close();
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

void Printer::printExpr(const Expr &expr) {
  switch (expr.kind) {
  case NodeKind::BoolOp: {
    const auto &node = llvm::cast<BoolOp>(expr);
    os << ' ' << spelling(node.op);
    return fields("value", node.values);
  }
  case NodeKind::BinOp: {
    const auto &node = llvm::cast<BinOp>(expr);
    os << ' ' << spelling(node.op);
    field("left", node.left);
    return field("right", node.right);
  }
  case NodeKind::UnaryOp: {
    const auto &node = llvm::cast<UnaryOp>(expr);
    os << ' ' << spelling(node.op);
    return field("operand", node.operand);
  }
  case NodeKind::Compare: {
    const auto &node = llvm::cast<Compare>(expr);
    for (CompareOperator op : node.ops)
      os << ' ' << spelling(op);
    field("left", node.left);
    return fields("comparator", node.comparators);
  }
  case NodeKind::Lambda: {
    const auto &node = llvm::cast<Lambda>(expr);
    parameters(node.parameters);
    return field("body", node.body);
  }
  case NodeKind::IfExp: {
    const auto &node = llvm::cast<IfExp>(expr);
    field("test", node.test);
    field("body", node.body);
    return field("orelse", node.orelse);
  }
  case NodeKind::NamedExpr: {
    const auto &node = llvm::cast<NamedExpr>(expr);
    field("target", node.target);
    return field("value", node.value);
  }
  case NodeKind::Call: {
    const auto &node = llvm::cast<Call>(expr);
    field("func", node.callee);
    fields("arg", node.args);
    return keywords(node.keywords);
  }
  case NodeKind::Attribute: {
    const auto &node = llvm::cast<Attribute>(expr);
    os << ' ' << node.name;
    return field("value", node.value);
  }
  case NodeKind::Subscript: {
    const auto &node = llvm::cast<Subscript>(expr);
    field("value", node.value);
    return field("slice", node.index);
  }
  case NodeKind::Name:
    os << ' ' << llvm::cast<Name>(expr).id;
    return;
  case NodeKind::Constant:
    return printConstant(llvm::cast<Constant>(expr));
  default:
    return printCollection(expr);
  }
}

// Displays, comprehensions, strings, slices and other nodes that only hold parts.
void Printer::printCollection(const Expr &expr) {
  if (const auto *dict = llvm::dyn_cast<Dict>(&expr)) {
    for (auto [key, value] : llvm::zip_equal(dict->keys, dict->values)) {
      field("key", key);
      field("value", value);
    }
  } else if (const auto *set = llvm::dyn_cast<Set>(&expr)) {
    fields("elt", set->elements);
  } else if (const auto *list = llvm::dyn_cast<List>(&expr)) {
    fields("elt", list->elements);
  } else if (const auto *tuple = llvm::dyn_cast<Tuple>(&expr)) {
    fields("elt", tuple->elements);
  } else if (const auto *listComp = llvm::dyn_cast<ListComp>(&expr)) {
    field("elt", listComp->element);
    generators(listComp->generators);
  } else if (const auto *setComp = llvm::dyn_cast<SetComp>(&expr)) {
    field("elt", setComp->element);
    generators(setComp->generators);
  } else if (const auto *generator = llvm::dyn_cast<GeneratorExp>(&expr)) {
    field("elt", generator->element);
    generators(generator->generators);
  } else if (const auto *dictComp = llvm::dyn_cast<DictComp>(&expr)) {
    field("key", dictComp->key);
    field("value", dictComp->value);
    generators(dictComp->generators);
  } else if (const auto *await = llvm::dyn_cast<Await>(&expr)) {
    field("value", await->value);
  } else if (const auto *yield = llvm::dyn_cast<Yield>(&expr)) {
    field("value", yield->value);
  } else if (const auto *yieldFrom = llvm::dyn_cast<YieldFrom>(&expr)) {
    field("value", yieldFrom->value);
  } else if (const auto *starred = llvm::dyn_cast<Starred>(&expr)) {
    field("value", starred->value);
  } else if (const auto *joined = llvm::dyn_cast<JoinedStr>(&expr)) {
    fields("value", joined->values);
  } else if (const auto *formatted = llvm::dyn_cast<FormattedValue>(&expr)) {
    if (formatted->conversion)
      os << " !" << formatted->conversion;
    field("value", formatted->value);
    field("format_spec", formatted->formatSpec);
  } else if (const auto *slice = llvm::dyn_cast<Slice>(&expr)) {
    field("lower", slice->lower);
    field("upper", slice->upper);
    field("step", slice->step);
  }
}

void Printer::printStmt(const Stmt &stmt) {
  switch (stmt.kind) {
  case NodeKind::FunctionDef:
  case NodeKind::ClassDef:
    return printDefinition(stmt);
  case NodeKind::Assign:
  case NodeKind::AugAssign:
  case NodeKind::AnnAssign:
  case NodeKind::TypeAlias:
    return printAssignment(stmt);
  case NodeKind::Import:
  case NodeKind::ImportFrom:
    return printImport(stmt);
  case NodeKind::Return:
    return field("value", llvm::cast<Return>(stmt).value);
  case NodeKind::Delete:
    return fields("target", llvm::cast<Delete>(stmt).targets);
  case NodeKind::ExprStmt:
    return field("value", llvm::cast<ExprStmt>(stmt).value);
  case NodeKind::Raise:
    field("exc", llvm::cast<Raise>(stmt).exception);
    return field("cause", llvm::cast<Raise>(stmt).cause);
  case NodeKind::Assert:
    field("test", llvm::cast<Assert>(stmt).test);
    return field("msg", llvm::cast<Assert>(stmt).message);
  case NodeKind::Global:
    for (const Identifier &name : llvm::cast<Global>(stmt).names)
      os << ' ' << name.name;
    return;
  case NodeKind::Nonlocal:
    for (const Identifier &name : llvm::cast<Nonlocal>(stmt).names)
      os << ' ' << name.name;
    return;
  default:
    return printControlFlow(stmt);
  }
}

void Printer::printDefinition(const Stmt &stmt) {
  if (const auto *function = llvm::dyn_cast<FunctionDef>(&stmt)) {
    os << ' ' << function->name;
    flag(function->isAsync, "async");
    flag(!function->typeParameters.empty(), "generic");
    parameters(function->parameters);
    fields("decorator", function->decorators);
    field("returns", function->returns);
    return fields("body", function->body);
  }
  const auto &node = llvm::cast<ClassDef>(stmt);
  os << ' ' << node.name;
  flag(!node.typeParameters.empty(), "generic");
  fields("base", node.bases);
  keywords(node.keywords);
  fields("decorator", node.decorators);
  fields("body", node.body);
}

void Printer::printAssignment(const Stmt &stmt) {
  if (const auto *assign = llvm::dyn_cast<Assign>(&stmt)) {
    fields("target", assign->targets);
    field("value", assign->value);
  } else if (const auto *augmented = llvm::dyn_cast<AugAssign>(&stmt)) {
    os << ' ' << spelling(augmented->op);
    field("target", augmented->target);
    field("value", augmented->value);
  } else if (const auto *annotated = llvm::dyn_cast<AnnAssign>(&stmt)) {
    field("target", annotated->target);
    field("annotation", annotated->annotation);
    field("value", annotated->value);
  } else {
    const auto &alias = llvm::cast<TypeAlias>(stmt);
    os << ' ' << alias.name.name;
    field("value", alias.value);
  }
}

void Printer::printImport(const Stmt &stmt) {
  if (const auto *import = llvm::dyn_cast<Import>(&stmt))
    return aliases(import->names);
  const auto &node = llvm::cast<ImportFrom>(stmt);
  os << ' ' << std::string(node.level, '.') << node.module;
  aliases(node.names);
}

void Printer::printControlFlow(const Stmt &stmt) {
  if (const auto *ifNode = llvm::dyn_cast<If>(&stmt)) {
    field("test", ifNode->test);
    fields("body", ifNode->body);
    fields("orelse", ifNode->orelse);
  } else if (const auto *whileNode = llvm::dyn_cast<While>(&stmt)) {
    field("test", whileNode->test);
    fields("body", whileNode->body);
    fields("orelse", whileNode->orelse);
  } else if (const auto *forNode = llvm::dyn_cast<For>(&stmt)) {
    flag(forNode->isAsync, "async");
    field("target", forNode->target);
    field("iter", forNode->iterable);
    fields("body", forNode->body);
    fields("orelse", forNode->orelse);
  } else if (const auto *with = llvm::dyn_cast<With>(&stmt)) {
    flag(with->isAsync, "async");
    for (const WithItem &item : with->items) {
      field("item", item.context);
      field("as", item.target);
    }
    fields("body", with->body);
  } else if (const auto *match = llvm::dyn_cast<Match>(&stmt)) {
    field("subject", match->subject);
  } else if (const auto *tryNode = llvm::dyn_cast<Try>(&stmt)) {
    flag(tryNode->isStar, "star");
    fields("body", tryNode->body);
    for (const ExceptHandler &handler : tryNode->handlers) {
      startField("handler");
      open("except", handler.range);
      flag(!handler.name.name.empty(), handler.name.name);
      field("type", handler.type);
      fields("body", handler.body);
      close();
    }
    fields("orelse", tryNode->orelse);
    fields("finalbody", tryNode->finalbody);
  }
}

void print(const Module &module, llvm::raw_ostream &os) { Printer(*module.file, os).print(module); }

void print(const Node &node, const support::SourceFile &file, llvm::raw_ostream &os) {
  Printer(file, os).print(node);
  os << '\n';
}

} // namespace nereid::syntax
