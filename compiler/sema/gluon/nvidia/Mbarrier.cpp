// Gluon's barriers in shared memory (mbarrier): allocation, arrivals and waits.
// SPDX-License-Identifier: MIT
#include "compiler/sema/Diagnostics.h"
#include "compiler/sema/gluon/Layouts.h"
#include "compiler/sema/gluon/nvidia/Operands.h"

namespace nereid::sema {
namespace {

mlir::Attribute barrierEncoding(mlir::MLIRContext *context) {
  const unsigned order[] = {0};
  return ttg::SwizzledSharedAttr::get(context, 1, 1, 1, order);
}

/// Whether the call is for a barrier of this CTA alone; reports an error otherwise.
bool checkOneCta(const CallSite &site, llvm::StringRef parameter, bool isGiven) {
  const unsigned numCtas = ttg::numCtasOf(site.emitter.module.op);
  if (numCtas == 1 && !isGiven)
    return true;
  site.emitter.error(diag::MbarrierOfCluster, isGiven ? site.rangeOf(parameter) : site.range, numCtas);
  return false;
}

Value emitBarrierLayout(const CallSite &site) {
  const std::vector<Value> *bases = site["cga_layout"].elements();
  if (bases && !bases->empty() && !checkOneCta(site, "cga_layout", true))
    return Value::poison();
  return layoutValue(barrierEncoding(builderOf(site).getContext()));
}

/// The CTAs of a cluster each have a barrier.
Value emitAllocateBarrier(const CallSite &site) {
  if (!checkLanguage(site))
    return Value::poison();
  llvm::SmallVector<int64_t> shape = {1};
  if (!site["batch"].isNone()) {
    auto batch = intArgument(site, "batch");
    if (!batch)
      return Value::poison();
    if (*batch < 1)
      return site.emitter.error(diag::BarrierCount, site.rangeOf("batch"), *batch);
    shape.insert(shape.begin(), *batch);
  }
  auto isOfTwo = boolArgument(site, "two_ctas");
  if (!isOfTwo || !checkOneCta(site, "two_ctas", *isOfTwo))
    return Value::poison();
  mlir::MLIRContext *context = builderOf(site).getContext();
  const Type type = Type::shared(Scalar::Int64, shape, barrierEncoding(context), shape);
  auto op = ttg::LocalAllocOp::create(builderOf(site), locationOf(site), type.toMlir(context), mlir::Value(),
                                      mlir::IntegerAttr());
  return checkRules(site, op) ? Value::tensor(op, type) : Value::poison();
}

Value emitInitBarrier(const CallSite &site) {
  const TensorValue *barrier = checkLanguage(site) ? barrierArgument(site, "mbarrier") : nullptr;
  auto count = intArgument(site, "count");
  if (!barrier || !count)
    return Value::poison();
  return emitChecked<ttng::InitBarrierOp>(site, barrier->value, uint32_t(*count), /*ofThreads=*/false);
}

Value emitInvalidate(const CallSite &site) {
  const TensorValue *barrier = checkLanguage(site) ? barrierArgument(site, "mbarrier") : nullptr;
  return barrier ? emitChecked<ttng::InvalBarrierOp>(site, barrier->value) : Value::poison();
}

Value emitWaitBarrier(const CallSite &site) {
  const TensorValue *barrier = checkLanguage(site) ? barrierArgument(site, "mbarrier") : nullptr;
  mlir::Value phase = scalarArgument(site, "phase", Scalar::Int32);
  const bool always = site["pred"].is<bool>() && *site["pred"].get<bool>();
  mlir::Value where = always ? mlir::Value() : scalarArgument(site, "pred", Scalar::Int1);
  auto deps = site.emitter.elementsOf(site["deps"], site.rangeOf("deps"));
  if (!barrier || !phase || (!always && !where) || !deps)
    return Value::poison();
  llvm::SmallVector<mlir::Value> buffers;
  for (const Value &dep : *deps)
    if (dep.tensor() && dep.tensor()->type.isShared())
      buffers.push_back(dep.tensor()->value);
    else
      return site.emitter.error(diag::BufferExpected, site.rangeOf("deps"), site.builtin.name, "deps", describe(dep));
  return emitChecked<ttng::WaitBarrierOp>(site, barrier->value, phase, where, buffers, /*byWarp=*/true);
}

Value emitArriveBarrier(const CallSite &site) {
  const TensorValue *barrier = checkLanguage(site) ? barrierArgument(site, "mbarrier") : nullptr;
  const bool counts =
      llvm::any_of(site.builtin.params, [](const BuiltinParam &param) { return param.name == "count"; });
  auto count = counts ? intArgument(site, "count") : std::optional<int64_t>(1);
  if (!site["from_cta"].isNone() && !checkOneCta(site, "from_cta", true))
    return Value::poison();
  const bool always = site["pred"].is<bool>() && *site["pred"].get<bool>();
  mlir::Value where = always ? mlir::Value() : scalarArgument(site, "pred", Scalar::Int1);
  if (!barrier || !count || (!always && !where))
    return Value::poison();
  return emitChecked<ttng::ArriveBarrierOp>(site, barrier->value, uint32_t(*count), where, /*byWarp=*/false);
}

Value emitExpectBytes(const CallSite &site) {
  const TensorValue *barrier = checkLanguage(site) ? barrierArgument(site, "mbarrier") : nullptr;
  auto bytes = intArgument(site, "bytes_per_cta");
  if (!site["from_cta"].isNone() && !checkOneCta(site, "from_cta", true))
    return Value::poison();
  mlir::Value where = scalarArgument(site, "pred", Scalar::Int1);
  if (!barrier || !bytes || !where)
    return Value::poison();
  return emitChecked<ttng::BarrierExpectOp>(site, barrier->value, uint32_t(*bytes), where);
}

/// The barriers of one CTA are visible to its threads after a barrier of them, which the compiler adds.
Value emitFenceInit(const CallSite &site) {
  if (!checkLanguage(site))
    return Value::poison();
  if (ttg::numCtasOf(site.emitter.module.op) == 1)
    return Value();
  return emitChecked<ttng::ClusterBarrierOp>(site);
}

void addShared(std::vector<Builtin> &table, llvm::StringRef module) {
  table.push_back({"MBarrierLayout", module, {{"cga_layout", "None"}}, "The layout of barriers.", emitBarrierLayout});
  table.push_back({"allocate_mbarrier",
                   module,
                   {{"batch", "None"}, {"two_ctas", "False"}},
                   "Allocates a barrier, or `batch` of them, which `index` selects.",
                   emitAllocateBarrier});
  table.push_back({"init",
                   module,
                   {{"mbarrier"}, {"count"}},
                   "Initialises barriers; `count` arrivals complete a phase.",
                   emitInitBarrier});
  table.push_back({"invalidate",
                   module,
                   {{"mbarrier"}},
                   "Ends the use of barriers, so that their memory is free.",
                   emitInvalidate});
  table.push_back({"wait",
                   module,
                   {{"mbarrier"}, {"phase"}, {"pred", "True"}, {"deps", "()"}},
                   "Waits until the phase of that parity, 0 or 1, is complete; `deps` are the buffers waited for.",
                   emitWaitBarrier});
}

} // namespace

llvm::ArrayRef<Builtin> gluonMbarrierBuiltins() {
  static const std::vector<Builtin> table = [] {
    static constexpr llvm::StringLiteral ampere = "triton.experimental.gluon.language.nvidia.ampere.mbarrier";
    static constexpr llvm::StringLiteral hopper = "triton.experimental.gluon.language.nvidia.hopper.mbarrier";
    std::vector<Builtin> rows;
    addShared(rows, ampere);
    addShared(rows, hopper);
    rows.push_back({"arrive",
                    ampere,
                    {{"mbarrier"}, {"pred", "True"}, {"from_cta", "None"}},
                    "One thread arrives, after the accesses of all.",
                    emitArriveBarrier});
    rows.push_back({"arrive",
                    hopper,
                    {{"mbarrier"}, {"count", "1"}, {"pred", "True"}, {"from_cta", "None"}},
                    "One thread arrives `count` times, after the accesses of all.",
                    emitArriveBarrier});
    rows.push_back({"expect",
                    hopper,
                    {{"mbarrier"}, {"bytes_per_cta"}, {"pred", "True"}, {"from_cta", "None"}},
                    "Arrives at a barrier, whose phase then also waits for so many bytes of TMA copies.",
                    emitExpectBytes});
    rows.push_back({"fence_init_release_cluster",
                    hopper,
                    {},
                    "Makes initialised barriers visible to the cluster's other CTAs.",
                    emitFenceInit});
    return rows;
  }();
  return table;
}

} // namespace nereid::sema
