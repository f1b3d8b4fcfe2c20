// Gluon's built-ins for copies from global memory to LDS without registers, and for stages of a loop.
// SPDX-License-Identifier: MIT
#include "compiler/sema/Diagnostics.h"
#include "compiler/sema/TileShape.h"
#include "compiler/sema/gluon/Arguments.h"
#include "compiler/sema/gluon/amd/AmdArguments.h"
#include "compiler/target/amd/dialect/Dialect.h"

namespace nereid::sema {
namespace {

//--- copies --------------------------------------------------------------------------------

/// The argument that is a buffer in shared memory; null after an error.
const TensorValue *sharedArgument(const CallSite &site, llvm::StringRef parameter) {
  const Value &given = site[parameter];
  if (const TensorValue *tensor = given.tensor(); tensor && tensor->type.isShared())
    return tensor;
  if (!given.isPoison())
    site.emitter.error(diag::SharedExpected, site.rangeOf(parameter), parameter, site.builtin.name,
                       given.tensor() ? given.tensor()->type.str() : given.kindName());
  return nullptr;
}

/// Whether the buffer holds tiles of that shape and element; reports an error otherwise.
bool checkDestination(const CallSite &site, const Type &dest, llvm::ArrayRef<int64_t> shape, Scalar element) {
  if (llvm::ArrayRef(dest.shape) != shape)
    site.emitter.error(diag::CopyShape, site.rangeOf("dest"), shapeText(dest.shape), shapeText(shape));
  else if (dest.scalar != element)
    site.emitter.error(diag::CopyType, site.rangeOf("dest"), abbreviationOf(dest.scalar), abbreviationOf(element));
  else
    return true;
  return false;
}

mlir::Type tokenType(const CallSite &site) { return ttg::AsyncTokenType::get(builderOf(site).getContext()); }

Value emitGlobalCopy(const CallSite &site) {
  const TensorValue *dest = checkAmd(site) ? sharedArgument(site, "dest") : nullptr;
  Value pointers = site["ptr"];
  if (!dest || pointers.isPoison())
    return Value::poison();
  if (!pointers.tensor() || !pointers.tensor()->type.isTile() || !pointers.tensor()->type.isPointer)
    return site.emitter.error(diag::NotAPointer, site.rangeOf("ptr"),
                              pointers.tensor() ? pointers.tensor()->type.str() : pointers.kindName(),
                              site.builtin.name, "; it takes a tile of pointers");
  const Type type = pointers.tensor()->type;
  std::optional<Value> mask = bufferMaskArgument(site), other = otherArgument(site, type.scalar);
  const auto cache = cacheArgument(site, "cache_modifier", /*isLoad=*/true);
  if (!mask || !other || !cache || !checkDestination(site, dest->type, type.shape, type.scalar) ||
      !broadcastGiven(site, {&pointers, &*mask, &*other}))
    return Value::poison();
  auto copy = ttg::AsyncCopyGlobalToLocalOp::create(builderOf(site), locationOf(site), tokenType(site),
                                                    irValue(pointers), dest->value, irValue(*mask), irValue(*other),
                                                    *cache, tt::EvictionPolicy::NORMAL);
  return site.emitter.settleLayouts(copy, site.range) ? Value() : Value::poison();
}

Value emitBufferCopy(const CallSite &site) {
  const TensorValue *dest = checkAmd(site) ? sharedArgument(site, "dest") : nullptr;
  if (!dest)
    return Value::poison();
  const Value pointer = bufferArgument(site);
  Value offsets = offsetsArgument(site);
  if (pointer.isPoison() || offsets.isPoison())
    return Value::poison();
  const Scalar element = pointer.tensor()->type.scalar;
  std::optional<Value> mask = bufferMaskArgument(site), other = otherArgument(site, element);
  const auto cache = cacheArgument(site, "cache_modifier", /*isLoad=*/true);
  if (!mask || !other || !cache || !checkDestination(site, dest->type, offsets.tensor()->type.shape, element) ||
      !broadcastGiven(site, {&offsets, &*mask, &*other}))
    return Value::poison();
  auto copy = amdg::BufferLoadToLocalOp::create(builderOf(site), locationOf(site), tokenType(site), dest->value,
                                                irValue(pointer), irValue(offsets), irValue(*mask), irValue(*other),
                                                mlir::Value(), *cache);
  return site.emitter.settleLayouts(copy, site.range) ? Value() : Value::poison();
}

Value emitCommitGroup(const CallSite &site) {
  if (!checkAmd(site))
    return Value::poison();
  ttg::AsyncCommitGroupOp::create(builderOf(site), locationOf(site), tokenType(site), mlir::ValueRange());
  return Value();
}

Value emitWaitGroup(const CallSite &site) {
  const auto count = checkAmd(site) ? intArgument(site, "num_outstanding") : std::nullopt;
  if (!count)
    return Value::poison();
  if (*count < 0)
    return site.emitter.error(diag::WaitCount, site.rangeOf("num_outstanding"), *count);
  ttg::AsyncWaitOp::create(builderOf(site), locationOf(site), tokenType(site), mlir::ValueRange(), int32_t(*count));
  return Value();
}

/// The attribute says that a wait before it orders the read; nothing else than that wait is needed anyway.
Value emitRelaxedLoad(const CallSite &site) {
  const TensorValue *buffer = checkAmd(site) ? sharedArgument(site, "smem") : nullptr;
  const mlir::Attribute layout = buffer ? tileLayoutArgument(site, "layout", buffer->type.shape) : mlir::Attribute();
  if (!layout)
    return Value::poison();
  const Type type = Type(buffer->type.scalar).withShape(buffer->type.shape).withLayout(layout);
  mlir::OpBuilder &builder = builderOf(site);
  auto load = ttg::LocalLoadOp::create(builder, locationOf(site), type.toMlir(builder.getContext()), buffer->value);
  load->setDiscardableAttr("ttg.amdg.syncedViaAsyncWait", builder.getBoolAttr(true));
  return Value::tensor(load.getResult(), type);
}

//--- stages of a loop ----------------------------------------------------------------------

constexpr llvm::StringLiteral stageModule = "triton.experimental.gluon.language.amd.warp_pipeline_stage";
constexpr llvm::StringLiteral kBorder = "triton.warp_pipeline.border";

std::optional<Value> noAttribute(llvm::ArrayRef<Value>, llvm::StringRef) { return std::nullopt; }

const RecordClass &stageClass() {
  static constexpr llvm::StringLiteral fields[] = {"label", "priority"};
  static const RecordClass record = {"warp_pipeline_stage", fields, stageModule, noAttribute};
  return record;
}

Value emitStage(const CallSite &site) {
  if (!checkAmd(site))
    return Value::poison();
  const std::optional<std::string> label = textOption(site, "label");
  std::optional<int64_t> priority;
  if (!site["priority"].isNone() && !(priority = intArgument(site, "priority")))
    return Value::poison();
  if (!label)
    return Value::poison();
  if (priority && (*priority < 0 || *priority > 3))
    return site.emitter.error(diag::StagePriority, site.rangeOf("priority"), *priority);
  return Value::record(stageClass(), {label->empty() ? Value(std::string("cluster")) : Value(*label),
                                      priority ? Value::integer(*priority) : Value()});
}

void setPriority(const CallSite &site, int32_t priority) {
  amdg::SetPriorityOp::create(builderOf(site), locationOf(site), priority);
}

Value emitEnterStage(const CallSite &site) {
  if (const std::vector<Value> *stage = site["self"].partsOf(stageClass()); stage && !(*stage)[1].isNone())
    setPriority(site, int32_t(*(*stage)[1].asInt64()));
  return site["self"];
}

/// No instruction moves from one stage to another.
Value emitExitStage(const CallSite &site) {
  const std::vector<Value> *stage = site["self"].partsOf(stageClass());
  if (!stage)
    return Value();
  auto border = amdg::SchedBarrierOp::create(builderOf(site), locationOf(site), 0);
  border->setDiscardableAttr(kBorder, builderOf(site).getStringAttr(*(*stage)[0].get<std::string>()));
  if (!(*stage)[1].isNone())
    setPriority(site, 0);
  return Value();
}

} // namespace

llvm::ArrayRef<Builtin> gluonAmdCopyBuiltins() {
  static const Builtin table[] = {
      {"global_load_to_shared",
       cdna4CopyModule,
       {{"dest"}, {"ptr"}, {"mask", "None"}, {"other", "None"}, {"cache_modifier", "\"\""}},
       "Starts a copy from where a tile of pointers points to a buffer in shared memory.",
       emitGlobalCopy},
      {"buffer_load_to_shared",
       cdna4CopyModule,
       {{"dest"}, {"ptr"}, {"offsets"}, {"mask", "None"}, {"other", "None"}, {"cache_modifier", "\"\""}},
       "Starts a copy of elements at 32-bit offsets from a pointer to a buffer in shared memory.",
       emitBufferCopy},
      {"commit_group", cdna4CopyModule, {}, "Makes the copies that were started a group.", emitCommitGroup},
      {"wait_group",
       cdna4CopyModule,
       {{"num_outstanding", "0"}},
       "Waits until all but the last `num_outstanding` groups of copies are done.",
       emitWaitGroup},
      {"load_shared_relaxed",
       cdna4CopyModule,
       {{"smem"}, {"layout"}},
       "Reads a buffer in shared memory that `wait_group` has made complete.",
       emitRelaxedLoad},
  };
  return table;
}

llvm::ArrayRef<Builtin> gluonAmdStageBuiltins() {
  static const Builtin table[] = {
      {"warp_pipeline_stage",
       amdModule,
       {{"label", "None"}, {"priority", "None"}},
       "A stage of a loop: instructions stay in it, and waves run it with a priority from 0 to 3.",
       emitStage},
      {"__enter__", stageModule, {{"self"}}, "Begins the stage.", emitEnterStage, true},
      {"__exit__", stageModule, {{"self"}, {"kind"}, {"value"}, {"trace"}}, "Ends the stage.", emitExitStage, true},
  };
  return table;
}

} // namespace nereid::sema
