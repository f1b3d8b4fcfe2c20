// Breaks a valid plan in each way that the verifier knows, and looks for its text.
// SPDX-License-Identifier: MIT
#include "compiler/dialect/check/Dialect.h"
#include "compiler/target/cpu/CpuTarget.h"
#include "compiler/target/cpu/plan/PlanBuilder.h"
#include "compiler/target/cpu/plan/VerifyPlan.h"

#include "mlir/IR/MLIRContext.h"
#include "mlir/Parser/Parser.h"

#include <gtest/gtest.h>

#include <functional>

using namespace nereid;
using namespace nereid::cpu;

/// A row's prefix sums; the sum of a carried tile and of a tile that is read in reverse in each iteration.
static const char *const text = R"(
tt.func public @kernel(%x: !tt.ptr<f32>, %y: !tt.ptr<f32>, %n: i32) {
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %range = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
  %last = arith.constant dense<63> : tensor<64xi32>
  %xs = tt.splat %x : !tt.ptr<f32> -> tensor<64x!tt.ptr<f32>>
  %xp = tt.addptr %xs, %range : tensor<64x!tt.ptr<f32>>, tensor<64xi32>
  %ys = tt.splat %y : !tt.ptr<f32> -> tensor<64x!tt.ptr<f32>>
  %yp = tt.addptr %ys, %range : tensor<64x!tt.ptr<f32>>, tensor<64xi32>
  %v = tt.load %xp : tensor<64x!tt.ptr<f32>>
  %p = "tt.scan"(%v) <{axis = 0 : i32, reverse = false}> ({
  ^bb0(%a: f32, %b: f32):
    %c = arith.addf %a, %b : f32
    tt.scan.return %c : f32
  }) : (tensor<64xf32>) -> tensor<64xf32>
  %back = arith.subi %last, %range : tensor<64xi32>
  %t = scf.for %i = %zero to %n step %one iter_args(%carried = %p) -> (tensor<64xf32>) : i32 {
    %g = tt.gather %carried[%back] {axis = 0 : i32} : (tensor<64xf32>, tensor<64xi32>) -> tensor<64xf32>
    %s = arith.addf %g, %carried : tensor<64xf32>
    scf.yield %s : tensor<64xf32>
  }
  %d = arith.addf %t, %p : tensor<64xf32>
  tt.store %yp, %d : tensor<64x!tt.ptr<f32>>
  tt.return
})";

namespace {
class PlanVerifier : public testing::Test {
protected:
  void SetUp() override {
    context.loadDialect<check::CheckDialect, tt::TtDialect, mlir::arith::ArithDialect, mlir::math::MathDialect,
                        mlir::scf::SCFDialect, mlir::ub::UBDialect>();
    module = mlir::parseSourceString<mlir::ModuleOp>(text, &context);
    ASSERT_TRUE(module);
    auto begun = beginKernel(*module, options, target);
    ASSERT_TRUE(mlir::succeeded(begun));
    kernel = std::move(*begun);
    kernel->afterPlanStep = [&](llvm::StringRef step, const LoopPlan &plan) {
      steps.push_back(step.str());
      texts.push_back(print(plan, kernel->affineInfo));
    };
    ASSERT_TRUE(mlir::succeeded(makePlan(*kernel)));
    ASSERT_EQ(error(), "");
  }

  std::string error() { return findError(kernel->plan, kernel->affineInfo); }

  /// The nests of the body and of its regions, in program order.
  std::vector<Nest *> nests() {
    std::vector<Nest *> found;
    std::function<void(Sequence &)> visit = [&](Sequence &sequence) {
      for (Step &step : sequence.steps) {
        if (step.nest)
          found.push_back(step.nest.get());
        for (Sequence &region : step.regions)
          visit(region);
      }
    };
    visit(kernel->plan.body);
    return found;
  }

  /// A root that keeps a tile, for a loop that carries it.
  Root &keptRoot() {
    for (Nest *nest : nests())
      for (Root &root : nest->roots)
        if (root.kind == RootKind::Assign)
          return root;
    llvm_unreachable("the loop's tile is kept");
  }

  /// The first op of that kind in the kernel.
  template <typename Op> Op first() {
    Op found;
    module->walk([&](Op op) { found = found ? found : op; });
    return found;
  }

  /// A step in front of all others.
  Step &insert(StepKind kind) {
    auto &steps = kernel->plan.body.steps;
    steps.insert(steps.begin(), Step());
    steps.front().kind = kind;
    return steps.front();
  }

  mlir::MLIRContext context{mlir::MLIRContext::Threading::DISABLED};
  const support::Options options;
  const support::TargetSpec target = hostTarget();
  mlir::OwningOpRef<mlir::ModuleOp> module;
  std::unique_ptr<CpuKernel> kernel;
  std::vector<std::string> steps, texts;
};
} // namespace

TEST_F(PlanVerifier, every_step_is_seen_in_order) {
  EXPECT_EQ(steps, std::vector<std::string>({"sequence", "materialise-expensive", "protect-loads", "transpose-loads",
                                             "double-buffers", "peel-first-iterations", "reuse-operands",
                                             "postpone-dots", "choose-orders", "vectorise", "choose-versions",
                                             "plan-prefetches", "allocate-buffers"}));
  EXPECT_EQ(texts.front().find(" vector d0"), std::string::npos);
  EXPECT_NE(texts[9].find(" vector d0"), std::string::npos);
  EXPECT_EQ(texts.back(), printPlan(*kernel));
}

TEST_F(PlanVerifier, finds_a_buffer_that_does_not_exist) {
  nests().front()->roots.front().buffers.front() = 99;
  EXPECT_EQ(error(), "nest 0 names b99, which does not exist");
}

TEST_F(PlanVerifier, finds_a_buffer_that_is_read_before_it_is_written) {
  auto &body = kernel->plan.body.steps;
  const auto writer = llvm::find_if(body, [](const Step &step) { return step.kind == StepKind::Nest; });
  body.erase(writer);
  EXPECT_NE(error().find("before it is written"), std::string::npos) << error();
}

TEST_F(PlanVerifier, finds_a_tile_without_a_buffer) {
  auto scanned = llvm::find_if(kernel->plan.bufferOf, [](const auto &entry) {
    return llvm::isa_and_nonnull<tt::ScanOp>(entry.first.getDefiningOp());
  });
  ASSERT_NE(scanned, kernel->plan.bufferOf.end());
  nests().front()->roots.front().buffers.clear();
  kernel->plan.bufferOf.erase(scanned->first);
  EXPECT_NE(error().find("reads a tile that is neither computable nor in a buffer"), std::string::npos) << error();
}

TEST_F(PlanVerifier, finds_a_gather_without_a_source) {
  kernel->plan.wholeOperands.clear();
  EXPECT_NE(error().find("gathers from a tile that is in no buffer"), std::string::npos) << error();
}

TEST_F(PlanVerifier, finds_a_buffer_whose_innermost_dimension_does_not_exist) {
  kernel->plan.buffers[0].innermost = 7;
  EXPECT_EQ(error(), "b0 has an innermost dimension that does not exist");
}

TEST_F(PlanVerifier, finds_a_root_of_another_shape) {
  nests().front()->shape = {32};
  EXPECT_EQ(error(), "nest 0 has a root of another shape");
}

TEST_F(PlanVerifier, finds_a_buffer_that_is_too_small) {
  kernel->plan.buffers[nests().front()->roots.front().buffers.front()].shape = {8};
  EXPECT_NE(error().find("does not hold"), std::string::npos) << error();
}

TEST_F(PlanVerifier, finds_an_order_that_is_no_permutation) {
  nests().front()->order = {0, 0};
  EXPECT_EQ(error(), "nest 0 has an order that is no permutation of its loops");
}

TEST_F(PlanVerifier, finds_lanes_that_do_not_divide) {
  nests().front()->lanes = 48;
  EXPECT_EQ(error(), "nest 0 has 48 lanes, which do not divide its vector dimension");
}

TEST_F(PlanVerifier, finds_more_lanes_under_masks) {
  nests().front()->maskedLanes = 2 * nests().front()->lanes;
  EXPECT_NE(error().find("lanes under masks, which do not divide its lanes"), std::string::npos) << error();
}

TEST_F(PlanVerifier, finds_a_nest_without_roots) {
  nests().back()->roots.clear();
  EXPECT_NE(error().find("has no root"), std::string::npos) << error();
}

TEST_F(PlanVerifier, finds_a_nest_that_exists_twice) {
  nests().back()->id = nests().front()->id;
  EXPECT_EQ(error(), "nest 0 exists twice");
}

TEST_F(PlanVerifier, finds_a_step_without_its_nest) {
  for (Step &step : kernel->plan.body.steps)
    if (step.kind == StepKind::Nest)
      step.nest = nullptr;
  EXPECT_EQ(error(), "a step has no nest");
}

TEST_F(PlanVerifier, finds_buffers_that_overlap) {
  ASSERT_GE(kernel->plan.buffers.size(), 2u);
  for (Buffer &buffer : kernel->plan.buffers)
    buffer.offset = 0;
  EXPECT_NE(error().find("overlap in the arena while both are live"), std::string::npos) << error();
}

TEST_F(PlanVerifier, finds_a_buffer_outside_of_the_arena) {
  kernel->plan.buffers.front().offset = kernel->plan.arenaBytes;
  EXPECT_EQ(error(), "b0 ends after the arena");
}

TEST_F(PlanVerifier, finds_a_second_buffer_that_no_loop_carries) {
  kernel->plan.buffers[nests().front()->roots.front().buffers.front()].isDouble = true;
  EXPECT_NE(error().find("is double, and no scf.for carries it"), std::string::npos) << error();
}

TEST_F(PlanVerifier, finds_a_buffer_with_fewer_bytes_than_elements) {
  kernel->plan.buffers.front().bytes = 4;
  EXPECT_EQ(error(), "b0 has fewer bytes than its elements");
}

TEST_F(PlanVerifier, finds_an_op_without_a_record_in_the_table) {
  nests().front()->roots.front().traits = nullptr;
  EXPECT_EQ(error(), "nest 0 has an op as root that is not in the table");
}

TEST_F(PlanVerifier, finds_roots_of_different_axes) {
  static const RootTraits alongRows = {.axis = [](mlir::Operation *) { return 1u; }};
  std::vector<Root> &roots = nests().front()->roots;
  roots.push_back(roots.front());
  roots.back().traits = &alongRows;
  EXPECT_EQ(error(), "nest 0 has roots of different axes");
}

TEST_F(PlanVerifier, finds_a_kept_tile_in_no_buffer) {
  keptRoot().buffers.clear();
  EXPECT_NE(error().find("keeps a tile in no buffer"), std::string::npos) << error();
}

TEST_F(PlanVerifier, finds_a_kept_tile_that_cannot_be_computed) {
  Root &root = keptRoot();
  root.kind = RootKind::Materialise;
  root.value = first<tt::ScanOp>()->getResult(0);
  EXPECT_NE(error().find("keeps a tile that it cannot compute"), std::string::npos) << error();
}

TEST_F(PlanVerifier, finds_a_root_without_its_result_s_buffer) {
  nests().front()->roots.front().buffers.clear();
  EXPECT_EQ(error(), "nest 0 has a root whose buffers are not those of its results");
}

TEST_F(PlanVerifier, finds_a_vector_dimension_without_a_loop) {
  nests().front()->vectorDim = -1;
  EXPECT_EQ(error(), "nest 0 has no loop over its vector dimension");
}

TEST_F(PlanVerifier, finds_a_guard_that_guards_nothing) {
  insert(StepKind::Guard);
  EXPECT_EQ(error(), "a guard has no load, copy or store");
}

TEST_F(PlanVerifier, finds_a_guard_that_copies_another_tile) {
  const BufferId copy = nests().front()->roots.front().buffers.front();
  const Root other = nests().front()->roots.front();
  Step &step = insert(StepKind::Guard);
  step.guard = std::make_unique<Guard>(Guard{first<tt::LoadOp>(), copy, {{first<tt::StoreOp>()}}});
  step.nest = std::make_unique<Nest>();
  step.nest->roots.push_back(other);
  EXPECT_EQ(error(), "a guard's nest does not copy its load");
}

TEST_F(PlanVerifier, finds_a_dot_without_operands) {
  insert(StepKind::Dot);
  EXPECT_EQ(error(), "a dot has no op or operands");
}

TEST_F(PlanVerifier, finds_kept_operands_without_keys_or_nests) {
  LoopPlan &plan = kernel->plan;
  plan.buffers.push_back(plan.buffers.front());
  plan.buffers.back().shape = {1, 2};
  KeptOperand kept;
  kept.keys = plan.buffers.size() - 1;
  plan.keptOperands.push_back(kept);
  EXPECT_EQ(error(), "kept operand 0 has keys for other tiles or scalars");
  plan.buffers.back().shape = {KeptOperand::keyCount(1), 1};
  EXPECT_EQ(error(), "kept operand 0 has 0 nests and 0 dots");
}

TEST_F(PlanVerifier, finds_a_nest_that_makes_no_kept_operand) {
  nests().front()->keptOperand = 0; // the plan keeps none
  nests().front()->versions.assign({NestVersion{VersionKind::Kept, {}}});
  EXPECT_EQ(error(), "nest 0 makes a kept operand that does not exist, or more than that");
}

TEST_F(PlanVerifier, finds_versions_that_nothing_chooses) {
  Nest &nest = *nests().front();
  nest.versions.assign({NestVersion{VersionKind::Uncopied, {}}});
  EXPECT_EQ(error(), "nest 0 has a version that nothing chooses");
  nest.versions.assign({NestVersion{VersionKind::Uncopied, {first<tt::LoadOp>()}}});
  EXPECT_EQ(error(), "nest 0 has a version without a copy that no guard makes");
  nest.versions.push_back(nest.versions.front());
  EXPECT_EQ(error(), "nest 0 has two versions for one case");
}

TEST_F(PlanVerifier, finds_cases_and_versions_that_do_not_fit) {
  Nest &nest = *nests().front();
  nest.versions.assign({NestVersion{VersionKind::InPlace, {first<tt::LoadOp>()}}});
  EXPECT_EQ(error(), "nest 0 has a version without its copy, but copies nothing");
  nest.versions.assign({NestVersion{VersionKind::Exact, {first<tt::LoadOp>()}}});
  EXPECT_EQ(error(), "nest 0 has no version for sums that overflow, or for sums that do not");
  nest.versions.assign({NestVersion{VersionKind::FirstIteration, {first<mlir::scf::ForOp>()}}});
  EXPECT_EQ(error(), "nest 0 has no version for a first iteration, or for one that is not peeled");
  nest.versions.assign({NestVersion{VersionKind::Kept, {}}});
  EXPECT_EQ(error(), "nest 0 has no version for a kept tile, or for one that it does not make");
}

TEST_F(PlanVerifier, finds_prefetches_of_what_is_not_there) {
  Prefetch tile{first<tt::LoadOp>(), index::Polynomial::ofConstant(256), nests().front()->id};
  Prefetches &prefetches = kernel->plan.prefetches[nullptr];
  prefetches.tiles = {tile};
  EXPECT_EQ(error(), "");
  EXPECT_NE(print(kernel->plan, kernel->affineInfo).find("prefetch load0 of the next program, 256 bytes on, in nest 0"),
            std::string::npos);
  prefetches.tiles.front().distance = index::Polynomial();
  EXPECT_EQ(error(), "a program prefetches the tile that it has");
  prefetches.tiles = {tile};
  prefetches.tiles.front().nest = 99;
  EXPECT_EQ(error(), "a program prefetches in a nest that does not exist");
  prefetches.tiles = {tile};
  prefetches.tiles.front().dot = tile.access;
  EXPECT_EQ(error(), "a program prefetches in a dot of another loop");
  prefetches.tiles = {tile};
  prefetches.storeAfter = first<tt::StoreOp>();
  EXPECT_EQ(error(), "a program prefetches what is stored after it, without a dot or a store");
  kernel->plan.prefetches.clear();
  kernel->plan.prefetches[first<mlir::scf::ForOp>()].tiles = {tile};
  EXPECT_EQ(error(), "a loop prefetches a tile that it does not access");
  kernel->plan.prefetches.clear();
  kernel->plan.prefetches[tile.access].tiles = {tile};
  EXPECT_EQ(error(), "a loop that is no scf.for prefetches");
}

TEST_F(PlanVerifier, finds_a_tile_that_is_staged_in_another_shape) {
  Root &root = keptRoot();
  kernel->plan.buffers.push_back(kernel->plan.buffers[root.buffers.front()]);
  kernel->plan.buffers.back().shape = {32};
  kernel->plan.buffers.back().isDouble = false;
  root.staging = kernel->plan.buffers.size() - 1;
  EXPECT_EQ(error(), "nest 1 stages a tile in a buffer of another shape");
}

/// The plan of a kernel with dots, for a processor with these features.
struct PlanOfDots {
  mlir::MLIRContext context{mlir::MLIRContext::Threading::DISABLED};
  mlir::OwningOpRef<mlir::ModuleOp> module;
  support::Options options;
  support::TargetSpec target;
  std::unique_ptr<CpuKernel> kernel;
  TileDot *dot = nullptr; ///< the first

  PlanOfDots(const char *text, const char *features) : target{"cpu", "x86-64", features} {
    context.loadDialect<check::CheckDialect, tt::TtDialect, mlir::arith::ArithDialect, mlir::math::MathDialect,
                        mlir::scf::SCFDialect, mlir::ub::UBDialect>();
    module = mlir::parseSourceString<mlir::ModuleOp>(text, &context);
    auto begun = beginKernel(*module, options, target);
    kernel = std::move(*begun);
    if (mlir::failed(makePlan(*kernel)))
      return;
    for (Step &step : kernel->plan.body.steps)
      forEachStep(step, [&](Step &inner) { dot = dot ? dot : inner.dot.get(); });
  }
  std::string error() { return findError(kernel->plan, kernel->affineInfo); }
};

TEST(PlanVerifierOfDots, finds_orders_and_forms_that_do_not_fit) {
  PlanOfDots made(R"(
tt.func public @kernel(%x: !tt.ptr<i8>, %y: !tt.ptr<i32>) {
  %none = arith.constant dense<0> : tensor<16x16xi32>
  %xs = tt.splat %x : !tt.ptr<i8> -> tensor<16x16x!tt.ptr<i8>>
  %v = tt.load %xs : tensor<16x16x!tt.ptr<i8>>
  %d = tt.dot %v, %v, %none : tensor<16x16xi8> * tensor<16x16xi8> -> tensor<16x16xi32>
  %ys = tt.splat %y : !tt.ptr<i32> -> tensor<16x16x!tt.ptr<i32>>
  tt.store %ys, %d : tensor<16x16x!tt.ptr<i32>>
  tt.return
})",
                  "+avx512bw,+avx512dq,+avx512f,+avx512vl,+avx512vnni");
  ASSERT_NE(made.dot, nullptr);
  ASSERT_EQ(made.error(), "");
  const BufferId d = made.dot->d;
  made.kernel->plan.buffers[d].innermost = 0;
  EXPECT_EQ(made.error(), "b" + std::to_string(d) + " is accessed as a whole and is not row-major");
  made.kernel->plan.buffers[d].innermost = -1;
  made.dot->iterations = 4;
  EXPECT_EQ(made.error(), "a dot waits for the next iteration, but its result does not");
  made.dot->unsignedA.reset();
  EXPECT_EQ(made.error(), "a dot has the wrong buffers for its form");
}

TEST(PlanVerifierOfDots, finds_dots_that_wait_while_their_operands_change) {
  PlanOfDots made(R"(
tt.func public @kernel(%x: !tt.ptr<i8>, %y: !tt.ptr<i32>, %n: i32) {
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %none = arith.constant dense<0> : tensor<64x64xi32>
  %t = scf.for %i = %zero to %n step %one iter_args(%sum = %none) -> (tensor<64x64xi32>) : i32 {
    %p = tt.addptr %x, %i : !tt.ptr<i8>, i32
    %ps = tt.splat %p : !tt.ptr<i8> -> tensor<64x64x!tt.ptr<i8>>
    %v = tt.load %ps : tensor<64x64x!tt.ptr<i8>>
    %q = tt.addptr %p, %one : !tt.ptr<i8>, i32
    %qs = tt.splat %q : !tt.ptr<i8> -> tensor<64x64x!tt.ptr<i8>>
    %w = tt.load %qs : tensor<64x64x!tt.ptr<i8>>
    %d = tt.dot %v, %w, %sum : tensor<64x64xi8> * tensor<64x64xi8> -> tensor<64x64xi32>
    scf.yield %d : tensor<64x64xi32>
  }
  %ys = tt.splat %y : !tt.ptr<i32> -> tensor<64x64x!tt.ptr<i32>>
  tt.store %ys, %t : tensor<64x64x!tt.ptr<i32>>
  tt.return
})",
                  "+avx512bw,+avx512dq,+avx512f,+avx512vl,+avx512vnni,+amx-tile,+amx-int8");
  ASSERT_NE(made.dot, nullptr);
  ASSERT_EQ(made.error(), "");
  EXPECT_EQ(made.dot->iterations, 4u);
  for (KeptOperand &kept : made.kernel->plan.keptOperands)
    if (kept.tiles == made.dot->packed)
      kept.loop = nullptr;
  EXPECT_EQ(made.error(), "a dot waits for the next iteration, but its right operand is not kept");
}

TEST_F(PlanVerifier, finds_control_flow_without_its_regions) {
  insert(StepKind::Control).op = first<mlir::scf::ForOp>();
  EXPECT_EQ(error(), "control flow has no op or fewer regions than it");
}

TEST_F(PlanVerifier, finds_a_scalar_step_without_an_op) {
  insert(StepKind::Scalar);
  EXPECT_EQ(error(), "a scalar step has no op");
}
