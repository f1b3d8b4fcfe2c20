// Calls a visitor with the fields of a node: the base of all that treats every kind of node.
// SPDX-License-Identifier: MIT
#pragma once

#include "compiler/syntax/Ast.h"

namespace nereid::syntax {

/// visit(label, member) for each field of the node, in the order of CPython's `ast`, by the type of the member.
template <typename Visit> void forEachField(const Node &node, Visit &&visit) {
  switch (node.kind) {
#define F(label, member) visit(label, self.member)
#define EXPR(kind, description, ...) STMT(kind __VA_OPT__(, ) __VA_ARGS__)
#define STMT(kind, ...)                                                                                                \
  case NodeKind::kind: {                                                                                               \
    [[maybe_unused]] const auto &self = llvm::cast<kind>(node);                                                        \
    return void((0 __VA_OPT__(, ) __VA_ARGS__));                                                                       \
  }
#include "compiler/syntax/AstNodes.def"
#undef F
  }
}

} // namespace nereid::syntax
