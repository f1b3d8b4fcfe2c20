// Tests that each op of `tt` states its rules, or is known to need none: a new op must decide.
// SPDX-License-Identifier: MIT
#include "compiler/dialect/ttg/Dialect.h"

#include "gtest/gtest.h"

#include <set>

using namespace mlir;
using namespace nereid;

namespace {

using Names = std::set<std::string>;

/// The ops of `tt`, except for functions and terminators, for which `isStated` is false.
Names unstated(llvm::function_ref<bool(RegisteredOperationName)> isStated) {
  MLIRContext context(MLIRContext::Threading::DISABLED);
  context.loadDialect<ttg::TtgDialect>();
  Names names;
  unsigned numOps = 0;
  for (RegisteredOperationName op : context.getRegisteredOperations()) {
    if (op.getDialectNamespace() != "tt")
      continue;
    ++numOps;
    const bool isStructure = op.hasTrait<OpTrait::IsTerminator>() || op.hasInterface<FunctionOpInterface>();
    if (!isStructure && !isStated(op))
      names.insert(op.getStringRef().str());
  }
  EXPECT_GT(numOps, 50u);
  return names;
}

/// Ops without tiles.
const Names kScalar = {"tt.advance", "tt.get_num_programs", "tt.get_program_id", "tt.make_tensor_ptr",
                       "tt.make_tensor_descriptor"};

Names operator+(Names a, const Names &b) {
  a.insert(b.begin(), b.end());
  return a;
}

TEST(OpRules, EachOpRelatesTheLayoutsOfItsTiles) {
  const Names found = unstated([](RegisteredOperationName op) {
    return op.hasTrait<OpTrait::Elementwise>() || op.hasTrait<tt::SameEncoding>() ||
           op.hasInterface<ttg::LayoutRelationOpInterface>();
  });
  const Names leaves = {"tt.make_range", "tt.splat"}, readers = {"tt.assert", "tt.print", "tt.unsplat"};
  const Names rewrittenBefore = {"tt.descriptor_gather", "tt.descriptor_load", "tt.descriptor_reduce",
                                 "tt.descriptor_scatter", "tt.descriptor_store"};
  const Names signatures = {"tt.call"};
  EXPECT_EQ(found, kScalar + leaves + readers + rewrittenBefore + signatures);
}

TEST(OpRules, EachOpExcludesPadding) {
  const Names found = unstated([](RegisteredOperationName op) {
    return op.hasTrait<OpTrait::Elementwise>() || op.hasInterface<tt::ElementMapOpInterface>() ||
           op.hasInterface<tt::PaddableOpInterface>();
  });
  const Names keptOrRewritten = {"tt.call", "tt.dot_scaled", "tt.make_range"};
  EXPECT_EQ(found, kScalar + keptOrRewritten);
}

TEST(OpRules, EachAccessStatesItsOperands) {
  const Names found = unstated([](RegisteredOperationName op) {
    return !op.getStringRef().starts_with("tt.atomic") || op.hasInterface<tt::MemoryAccessOpInterface>();
  });
  EXPECT_EQ(found, Names());
}

} // namespace
