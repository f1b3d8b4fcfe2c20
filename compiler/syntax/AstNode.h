// The base of all syntax tree nodes and the arena that owns them.
// SPDX-License-Identifier: MIT
//
// Nodes live in an AstContext, are trivially destructible and are immutable once the parser has returned. Ranges are
// byte offsets into the parsed SourceFile and agree with those of CPython's `ast`.
#pragma once

#include "compiler/support/SourceFile.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Allocator.h"

#include <type_traits>

namespace nereid::syntax {

using support::SourceRange;

// Limits of a tree's depth, so that recursion over it needs no check of its own. The parser recurses over nesting
// (brackets, operands, blocks); a chain such as `a + a + ...` nests to the left without recursion in the parser. An
// expression is never deeper than `maxExpressionDepth`, blocks never deeper than `maxBlockDepth`.
inline constexpr unsigned maxExpressionNesting = 200;
inline constexpr unsigned maxExpressionDepth = 2000;
inline constexpr unsigned maxBlockDepth = 200;

enum class NodeKind : uint8_t {
#define EXPR(kind, ...) kind,
#define STMT(kind, ...) kind,
#include "compiler/syntax/AstNodes.def"
};
// The name as in CPython's `ast`, but "ExprStmt" for its `Expr`.
llvm::StringRef toString(NodeKind kind);

struct Node {
  const NodeKind kind;
  SourceRange range;

protected:
  Node(NodeKind kind, SourceRange range) : kind(kind), range(range) {}
};

struct Expr : Node {
  uint16_t depth = 1; // 1 for a leaf
  static bool classof(const Node *node) { return node->kind <= NodeKind::Slice; }

protected:
  using Node::Node;
};

struct Stmt : Node {
  static bool classof(const Node *node) { return node->kind > NodeKind::Slice; }

protected:
  using Node::Node;
};

// Defines a node struct's kind and its classof. The structs are aggregates: the range, then the fields in their order.
template <NodeKind K, typename Base> struct NodeOf : Base {
  static constexpr NodeKind nodeKind = K;
  NodeOf(SourceRange range) : Base(K, range) {}
  static bool classof(const Node *node) { return node->kind == K; }
};
template <NodeKind K> using ExprOf = NodeOf<K, Expr>;
template <NodeKind K> using StmtOf = NodeOf<K, Stmt>;

// A name with its range.
struct Identifier {
  llvm::StringRef name;
  SourceRange range;
};

using ExprList = llvm::ArrayRef<const Expr *>;
using Block = llvm::ArrayRef<const Stmt *>;

// Owns nodes, their lists and interned names.
class AstContext {
public:
  AstContext() = default;
  AstContext(const AstContext &) = delete;
  AstContext &operator=(const AstContext &) = delete;

  template <typename T, typename... Args> T *create(Args &&...args) {
    static_assert(std::is_trivially_destructible_v<T>, "the arena runs no destructors");
    return new (arena.Allocate<T>()) T(std::forward<Args>(args)...);
  }
  template <typename T> llvm::ArrayRef<T> copy(llvm::ArrayRef<T> items) {
    static_assert(std::is_trivially_destructible_v<T>, "the arena runs no destructors");
    return items.copy(arena);
  }
  // Equal names share one address.
  llvm::StringRef intern(llvm::StringRef name) {
    auto found = names.find(name);
    return found != names.end() ? *found : *names.insert(copy(name)).first;
  }
  // A copy of any bytes, not interned.
  llvm::StringRef copy(llvm::StringRef bytes) { return bytes.copy(arena); }

private:
  llvm::BumpPtrAllocator arena;
  llvm::DenseSet<llvm::StringRef> names;
};

} // namespace nereid::syntax
