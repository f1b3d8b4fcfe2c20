// Tests from which elements of its operands each op takes those of its results.
// SPDX-License-Identifier: MIT
#include "compiler/dialect/ttg/Dialect.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Parser/Parser.h"
#include "gtest/gtest.h"

using namespace mlir;
using namespace nereid;

namespace {

using Kind = tt::ElementIndex::Kind;

/// `i0 7 * ?`: a dimension of the result, a fixed index, any index, an unknown one.
std::string textOf(const std::optional<tt::ElementMap> &map) {
  if (!map)
    return "none";
  auto text = [](tt::ElementIndex index) {
    switch (index.kind) {
    case Kind::ResultDim:
      return "i" + std::to_string(index.number);
    case Kind::Fixed:
      return std::to_string(index.number);
    case Kind::Any:
      return std::string("*");
    case Kind::Unknown:
      return std::string("?");
    }
    return std::string();
  };
  return llvm::join(llvm::map_range(*map, text), " ");
}

/// The last op of a function with this body before its return.
struct LastOp {
  explicit LastOp(const std::string &parameters, const std::string &body) {
    context.loadDialect<ttg::TtgDialect, arith::ArithDialect, scf::SCFDialect>();
    const std::string text = "tt.func public @kernel(" + parameters + ") {\n" + body + "\ntt.return\n}";
    module = parseSourceString<ModuleOp>(text, &context);
    EXPECT_TRUE(module) << text;
    tt::FuncOp function = *module->getOps<tt::FuncOp>().begin();
    op = function.getBody().front().getTerminator()->getPrevNode();
  }

  std::string map(unsigned operand = 0, unsigned result = 0) { return textOf(tt::elementMapOf(op, operand, result)); }
  /// The indices of the operands whose elements the results hold.
  std::string sources() {
    auto number = [](OpOperand &operand) { return std::to_string(operand.getOperandNumber()); };
    const OperandRange range = tt::elementSources(op);
    std::string text;
    for (OpOperand &operand : op->getOpOperands())
      if (operand.getOperandNumber() - range.getBeginOperandIndex() < range.size())
        text += number(operand);
    return text;
  }

  MLIRContext context{MLIRContext::Threading::DISABLED};
  OwningOpRef<ModuleOp> module;
  Operation *op = nullptr;
};

TEST(ElementMap, ScalarsHaveNoIndex) {
  EXPECT_EQ(LastOp("%x: i32", "%r = tt.splat %x : i32 -> tensor<4x8xi32>").map(), "");
  EXPECT_EQ(LastOp("%x: tensor<1x1xi32>", "%r = tt.unsplat %x : tensor<1x1xi32>").map(), "0 0");
}

TEST(ElementMap, ShapesThatGrow) {
  EXPECT_EQ(
      LastOp("%x: tensor<4x8xi32>", "%r = tt.expand_dims %x {axis = 0 : i32} : tensor<4x8xi32> -> tensor<1x4x8xi32>")
          .map(),
      "i1 i2");
  EXPECT_EQ(
      LastOp("%x: tensor<4x8xi32>", "%r = tt.expand_dims %x {axis = 1 : i32} : tensor<4x8xi32> -> tensor<4x1x8xi32>")
          .map(),
      "i0 i2");
  EXPECT_EQ(LastOp("%x: tensor<4x1xi32>", "%r = tt.broadcast %x : tensor<4x1xi32> -> tensor<4x8xi32>").map(), "i0 0");
  EXPECT_EQ(LastOp("%x: tensor<1x8xi32>", "%r = tt.broadcast %x : tensor<1x8xi32> -> tensor<4x8xi32>").map(), "0 i1");
}

TEST(ElementMap, Transpositions) {
  EXPECT_EQ(LastOp("%x: tensor<2x4x8xi32>",
                   "%r = tt.trans %x {order = array<i32: 2, 0, 1>} : tensor<2x4x8xi32> -> tensor<8x2x4xi32>")
                .map(),
            "i1 i2 i0");
}

TEST(ElementMap, Reshapes) {
  auto map = [](const std::string &from, const std::string &to) {
    return LastOp("%x: tensor<" + from + "xi32>",
                  "%r = tt.reshape %x : tensor<" + from + "xi32> -> tensor<" + to + "xi32>")
        .map();
  };
  EXPECT_EQ(map("4x8", "4x1x8"), "i0 i2");
  EXPECT_EQ(map("1x4x1x8", "4x8"), "0 i0 0 i1");
  EXPECT_EQ(map("4x8", "32"), "? ?");
  EXPECT_EQ(map("4x8x2", "4x16"), "i0 ? ?");
  EXPECT_EQ(map("4x4x8", "4x8x4"), "i0 ? ?");
  EXPECT_EQ(map("1x1", "1"), "0 0");
}

TEST(ElementMap, HalvesAndPairs) {
  LastOp join("%x: tensor<4xi32>, %y: tensor<4xi32>", "%r = tt.join %x, %y : tensor<4xi32> -> tensor<4x2xi32>");
  EXPECT_EQ(join.map(0), "i0");
  EXPECT_EQ(join.map(1), "i0");
  EXPECT_EQ(join.sources(), "01");
  LastOp split("%x: tensor<4x2xi32>", "%a, %b = tt.split %x : tensor<4x2xi32> -> tensor<4xi32>");
  EXPECT_EQ(split.map(0, 0), "i0 0");
  EXPECT_EQ(split.map(0, 1), "i0 1");
  LastOp cat("%x: tensor<4xi32>, %y: tensor<4xi32>", "%r = tt.cat %x, %y : tensor<4xi32> -> tensor<8xi32>");
  EXPECT_EQ(cat.map(1), "?");
  EXPECT_EQ(cat.sources(), "01");
}

TEST(ElementMap, AGatherNeedsItsSourceAlongTheAxis) {
  LastOp gather("%x: tensor<16x4xf32>, %i: tensor<8x4xi32>",
                "%r = tt.gather %x[%i] {axis = 0 : i32} : (tensor<16x4xf32>, tensor<8x4xi32>) -> tensor<8x4xf32>");
  EXPECT_EQ(gather.map(0), "* i1");
  EXPECT_EQ(gather.map(1), "i0 i1");
  EXPECT_EQ(gather.sources(), "0");
}

TEST(ElementMap, ElementwiseOpsAndAccessesKeepTheIndex) {
  LastOp sum("%x: tensor<4x8xi32>", "%r = arith.addi %x, %x : tensor<4x8xi32>");
  EXPECT_EQ(sum.map(1), "i0 i1");
  EXPECT_EQ(sum.sources(), "");
  LastOp select("%c: i1, %x: tensor<4xi32>", "%r = arith.select %c, %x, %x : tensor<4xi32>");
  EXPECT_EQ(select.map(0), "");
  EXPECT_EQ(select.map(2), "i0");
  EXPECT_EQ(select.sources(), "12");
  LastOp store("%p: tensor<4x!tt.ptr<i32>>, %x: tensor<4xi32>", "tt.store %p, %x : tensor<4x!tt.ptr<i32>>");
  EXPECT_EQ(store.map(1), "i0");
  EXPECT_EQ(store.sources(), "");
}

TEST(ElementMap, OpsThatCombineElementsHaveNone) {
  LastOp histogram("%x: tensor<64xi32>", "%r = tt.histogram %x : tensor<64xi32> -> tensor<16xi32>");
  EXPECT_EQ(histogram.map(), "none");
  EXPECT_EQ(histogram.sources(), "");
}

} // namespace
