// Tests axis info and ranges: runs random integer tile programs and checks every value against the analyses.
// SPDX-License-Identifier: MIT
#include "compiler/index/AxisInfo.h"
#include "compiler/dialect/imported/Dialect.h"

#include "test/unit/index/TileInterpreter.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"
#include "gtest/gtest.h"

#include <random>

using namespace mlir;
using namespace nereid;
using namespace nereid::index;
using namespace nereid::test;

namespace {
constexpr int64_t rows = 8, columns = 16;

/// Builds tiles of 8 x 16 from ranges, arguments and constants, partly in a loop that carries one.
class RandomProgram {
public:
  RandomProgram(MLIRContext &context, unsigned seed) : random(seed), builder(&context), loc(builder.getUnknownLoc()) {
    module = ModuleOp::create(loc);
    builder.setInsertionPointToEnd(module->getBody());
    const Type i32 = builder.getI32Type();
    function = tt::FuncOp::create(builder, loc, "f", builder.getFunctionType({i32, i32, i32}, {}), "public");
    builder.setInsertionPointToStart(function.addEntryBlock());
    for (unsigned index = 0; index < divisors.size(); ++index) {
      divisors[index] = 1 << pick(6);
      function.setArgAttr(index, "tt.divisibility", builder.getI32IntegerAttr(divisors[index]));
    }
    tile = RankedTensorType::get({rows, columns}, i32);
    for (unsigned dim : {0u, 1u, 1u})
      tiles.push_back(range(dim));
    for (BlockArgument argument : function.getArguments())
      tiles.push_back(tt::SplatOp::create(builder, loc, tile, argument));
    for (unsigned step = 0; step < 6; ++step)
      addOp();
    if (pick(2))
      addLoop();
    for (unsigned step = 0; step < 4; ++step)
      addOp();
    tt::ReturnOp::create(builder, loc, ValueRange());
  }

  SmallVector<int64_t> arguments() {
    SmallVector<int64_t> numbers;
    for (int64_t divisor : divisors)
      numbers.push_back(divisor * (int64_t(pick(40)) - 10));
    return numbers;
  }

  OwningOpRef<ModuleOp> module;
  tt::FuncOp function;

private:
  unsigned pick(unsigned count) { return std::uniform_int_distribution<unsigned>(0, count - 1)(random); }
  Value any() { return tiles[pick(tiles.size())]; }

  Value constant(int64_t number) {
    return arith::ConstantOp::create(builder, loc, tile,
                                     SplatElementsAttr::get(tile, builder.getI32IntegerAttr(number)));
  }

  Value range(unsigned dim) {
    const int64_t extent = dim ? columns : rows, start = pick(3) * 4;
    Value line = tt::MakeRangeOp::create(builder, loc, RankedTensorType::get({extent}, builder.getI32Type()), start,
                                         start + extent);
    SmallVector<int64_t> shape = {rows, columns};
    shape[1 - dim] = 1;
    Value expanded =
        tt::ExpandDimsOp::create(builder, loc, RankedTensorType::get(shape, builder.getI32Type()), line, 1 - dim);
    return tt::BroadcastOp::create(builder, loc, tile, expanded);
  }

  /// A constant that is a power of two, one less than it, or anything small.
  Value anyConstant() {
    const int64_t power = int64_t(1) << pick(6);
    return constant(pick(3) == 0 ? power : pick(2) ? power - 1 : int64_t(pick(20)) - 4);
  }

  Value mask() {
    const auto predicate = static_cast<arith::CmpIPredicate>(pick(10));
    return arith::CmpIOp::create(builder, loc, predicate, any(), pick(2) ? any() : anyConstant());
  }

  Value resized() {
    const Type narrow = RankedTensorType::get({rows, columns}, builder.getIntegerType(pick(2) ? 8 : 4));
    Value small = arith::TruncIOp::create(builder, loc, narrow, any());
    if (pick(2))
      return arith::ExtSIOp::create(builder, loc, tile, small);
    return arith::ExtUIOp::create(builder, loc, tile, small);
  }

  Value reshaped() {
    const auto flat = RankedTensorType::get({rows * columns}, builder.getI32Type());
    const auto flipped = RankedTensorType::get({columns, rows}, builder.getI32Type());
    if (pick(2))
      return tt::ReshapeOp::create(builder, loc, tile, tt::ReshapeOp::create(builder, loc, flat, any(), false, false),
                                   false, false);
    Value trans = tt::TransOp::create(builder, loc, flipped, any(), builder.getDenseI32ArrayAttr({1, 0}));
    return tt::ReshapeOp::create(builder, loc, tile, trans, false, false);
  }

  template <typename Op> Value binary() {
    Value left = any();
    return Op::create(builder, loc, left, pick(3) ? anyConstant() : any());
  }

  Value arithmetic() {
    switch (pick(15)) {
    case 0:
      return binary<arith::SubIOp>();
    case 1:
      return binary<arith::MulIOp>();
    case 2:
      return binary<arith::DivSIOp>();
    case 3:
      return binary<arith::DivUIOp>();
    case 4:
      return binary<arith::RemSIOp>();
    case 5:
      return binary<arith::RemUIOp>();
    case 6:
      return binary<arith::AndIOp>();
    case 7:
      return binary<arith::OrIOp>();
    case 8:
      return binary<arith::XOrIOp>();
    case 9:
      return binary<arith::ShLIOp>();
    case 10:
      return binary<arith::ShRSIOp>();
    case 11:
      return binary<arith::ShRUIOp>();
    case 12:
      return binary<arith::MinSIOp>();
    case 13:
      return binary<arith::MaxSIOp>();
    default:
      return binary<arith::AddIOp>();
    }
  }

  void addOp() {
    Value value;
    switch (pick(10)) {
    case 0:
      value = arith::SelectOp::create(builder, loc, mask(), any(), any());
      break;
    case 1:
      value = resized();
      break;
    case 2:
      value = reshaped();
      break;
    case 3:
      value = arith::ExtUIOp::create(builder, loc, tile, mask());
      break;
    case 4:
      value = arith::ExtSIOp::create(builder, loc, tile, mask());
      break;
    default:
      value = arithmetic();
    }
    tiles.push_back(value);
  }

  void addLoop() {
    auto scalar = [&](int64_t number) -> Value {
      return arith::ConstantOp::create(builder, loc, builder.getI32IntegerAttr(number));
    };
    auto loop = scf::ForOp::create(builder, loc, scalar(pick(3) * 4), scalar(20), scalar(4 + pick(2)), any());
    const SmallVector<Value> outside(tiles);
    {
      OpBuilder::InsertionGuard guard(builder);
      builder.setInsertionPointToStart(loop.getBody());
      tiles.push_back(loop.getRegionIterArg(0));
      tiles.push_back(tt::SplatOp::create(builder, loc, tile, loop.getInductionVar()));
      for (unsigned step = 0; step < 4; ++step)
        addOp();
      builder.setInsertionPointToEnd(loop.getBody());
      scf::YieldOp::create(builder, loc, tiles.back());
    }
    tiles = outside;
    tiles.push_back(loop.getResult(0));
  }

  std::mt19937 random;
  OpBuilder builder;
  Location loc;
  RankedTensorType tile;
  std::array<int64_t, 3> divisors;
  SmallVector<Value> tiles;
};

/// The reason why `info` is wrong for a tile with `elements`; empty where it holds.
std::string refute(const AxisInfo &info, ArrayRef<int64_t> shape, const Elements &elements, unsigned bits) {
  const auto [least, greatest] = std::minmax_element(elements.begin(), elements.end());
  if (bits > 1 && (*least < info.range.low || *greatest > info.range.high))
    return "out of range";
  for (unsigned dim = 0; dim < shape.size(); ++dim) {
    const AxisInfo::Dim &claim = info.dims[dim];
    const int64_t stride = llvm::product_of(shape.drop_front(dim + 1));
    for (size_t at = 0; at < elements.size(); ++at) {
      const int64_t coordinate = at / stride % shape[dim];
      const int64_t inGroup = coordinate % claim.group;
      if (elements[at] != elements[at - inGroup * stride] + inGroup * claim.step)
        return "no equal steps along dimension " + std::to_string(dim);
      if (inGroup == 0 && elements[at] % claim.divisibility != 0)
        return "no multiple along dimension " + std::to_string(dim);
    }
  }
  return "";
}
} // namespace

TEST(AxisInfo, claims_hold_in_random_programs) {
  MLIRContext context;
  context.loadDialect<tt::TtDialect, arith::ArithDialect, scf::SCFDialect>();
  unsigned finished = 0, runs = 0, steps = 0, narrow = 0;
  for (unsigned seed = 0; seed < 3000; ++seed) {
    RandomProgram program(context, seed);
    ASSERT_TRUE(succeeded(verify(*program.module)));
    const AxisInfoAnalysis analysis(program.function);
    std::string problem;
    TileInterpreter interpreter([&](Value value, const Elements &elements) {
      auto tile = dyn_cast<RankedTensorType>(value.getType());
      const SmallVector<int64_t> shape = tile ? llvm::to_vector(tile.getShape()) : SmallVector<int64_t>{1};
      const AxisInfo info = analysis.of(value);
      runs += info.contiguity(info.dims.size() - 1) > 1;
      steps += info.dims.back().step > 1;
      const unsigned bits = tt::elementOf(value.getType()).getIntOrFloatBitWidth();
      narrow += info.range.high < 1000;
      const std::string wrong = refute(info, shape, elements, bits);
      if (problem.empty() && !wrong.empty()) {
        llvm::raw_string_ostream os(problem);
        os << wrong << " at " << value;
      }
    });
    for (unsigned call = 0; call < 3; ++call)
      finished += interpreter.run(program.function, program.arguments());
    if (!problem.empty()) {
      program.module->dump();
      FAIL() << "seed " << seed << ": " << problem;
    }
  }
  // Enough programs must finish for the test to be meaningful.
  EXPECT_GT(finished, 1000u);
  EXPECT_GT(runs, 5000u);
  EXPECT_GT(steps, 1000u);
  EXPECT_GT(narrow, 5000u);
}

TEST(AxisInfo, what_a_loop_body_assumes_holds_for_no_result) {
  MLIRContext context;
  context.loadDialect<tt::TtDialect, arith::ArithDialect, scf::SCFDialect, imported::LlvmDialect>();
  auto module = parseSourceString<ModuleOp>(R"mlir(
    tt.func public @f(%from: i32, %count: i32) -> i32 {
      %c0 = arith.constant 0 : i32
      %c1 = arith.constant 1 : i32
      %c16 = arith.constant 16 : i32
      %end = scf.for %i = %c0 to %count step %c1 iter_args(%x = %from) -> (i32) : i32 {
        %rest = arith.remsi %x, %c16 : i32
        %holds = arith.cmpi eq, %rest, %c0 : i32
        llvm.intr.assume %holds : i1
        %next = arith.addi %x, %c16 : i32
        scf.yield %next : i32
      }
      tt.return %end : i32
    })mlir",
                                            &context);
  ASSERT_TRUE(module);
  auto function = *module->getOps<tt::FuncOp>().begin();
  scf::ForOp loop = *function.getOps<scf::ForOp>().begin();
  const AxisInfoAnalysis analysis(function);
  EXPECT_EQ(analysis.of(loop.getYieldedValues()[0]).dims[0].divisibility, 16);
  EXPECT_EQ(analysis.of(loop.getResult(0)).dims[0].divisibility, 1);
}

TEST(AxisInfo, of_steps_quotients_and_code_with_effects) {
  MLIRContext context;
  context.loadDialect<tt::TtDialect, arith::ArithDialect>();
  auto module = parseSourceString<ModuleOp>(R"mlir(
    tt.func public @f(%p: !tt.ptr<f16>) {
      %r = tt.make_range {start = 0 : i32, end = 64 : i32} : tensor<64xi32>
      %c4 = arith.constant dense<4> : tensor<64xi32>
      %c32 = arith.constant dense<32> : tensor<64xi32>
      %far = arith.muli %r, %c4 : tensor<64xi32>
      %back = arith.subi %c32, %r : tensor<64xi32>
      %line = arith.divsi %far, %c32 : tensor<64xi32>
      %rest = arith.remsi %far, %c32 : tensor<64xi32>
      %s = tt.splat %p : !tt.ptr<f16> -> tensor<64x!tt.ptr<f16>>
      %q = tt.addptr %s, %far : tensor<64x!tt.ptr<f16>>, tensor<64xi32>
      %clock = tt.elementwise_inline_asm "" {constraints = "=r,r", packed_element = 1 : i32, pure = false} %c4 : tensor<64xi32> -> tensor<64xi32>
      tt.return
    })mlir",
                                            &context);
  ASSERT_TRUE(module);
  auto function = *module->getOps<tt::FuncOp>().begin();
  const AxisInfoAnalysis analysis(function);
  std::vector<std::pair<int64_t, int64_t>> groups; // sizes and steps
  for (Operation &op : llvm::drop_begin(function.getBody().front().without_terminator(), 3)) {
    const AxisInfo::Dim dim = analysis.of(op.getResult(0)).dims[0];
    groups.push_back({dim.group, dim.step});
  }
  const std::vector<std::pair<int64_t, int64_t>> wanted = {{64, 4}, {64, -1}, {8, 0}, {8, 4}, {64, 0}, {64, 8}, {1, 0}};
  EXPECT_EQ(groups, wanted);
}
