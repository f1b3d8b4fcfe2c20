// Turns tensor descriptors that TMA supports into tensor maps, and accesses through them into tile accesses.
//
//   %d = tt.make_tensor_descriptor %p, [...], [...] : <f16>, <128x64xf16>   ->   %m = ttng.make_tensor_map %p, ...
//   %x = tt.descriptor_load %d[%i, %j]                                     ->   %x = ttng.tile_load %m[%i, %j]
//
// All descriptors of one type are converted or none, since a value of that type may come from any of them. The others
// are expanded into pointers and masks, as on targets without TMA. The same holds for tiles that no dot reads or
// produces: threads access these faster directly than through shared memory.
// SPDX-License-Identifier: MIT
#include "compiler/analysis/MemoryAccess.h"
#include "compiler/analysis/ValueFlow.h"
#include "compiler/dialect/tt/Elements.h"
#include "compiler/dialect/tt/Report.h"
#include "compiler/index/AxisInfo.h"
#include "compiler/target/nvidia/dialect/Dialect.h"
#include "compiler/target/nvidia/dialect/HostTensorMaps.h"
#include "compiler/target/nvidia/passes/Diagnostics.h"
#include "compiler/target/nvidia/passes/Passes.h"
#include "compiler/target/nvidia/passes/maps/DescriptorFields.h"
#include "compiler/target/nvidia/passes/maps/TileLimits.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/Support/MathExtras.h"

namespace nereid::nvidia {
#define GEN_PASS_DEF_LOWERDESCRIPTORSTOTMA
#include "compiler/target/nvidia/passes/Passes.h.inc"
} // namespace nereid::nvidia

using namespace mlir;
using namespace nereid;
using namespace nereid::nvidia;
using namespace nereid::ttg;
using tt::TensorDescType;

//--- types ---------------------------------------------------------------------------------

//--- profitability -------------------------------------------------------------------------

namespace {
/// Follows tiles through ops, loops and branches.
class TileWalk {
public:
  /// Whether a dot uses the tile, directly or not, or the tile is computed from a dot.
  bool feedsDot(Value tile) {
    return walk(
        tile, [&](Value value) { return llvm::any_of(value.getUses(), [&](OpOperand &use) { return follow(use); }); });
  }
  bool comesFromDot(Value tile) {
    return walk(tile, [&](Value value) { return lookBack(value); });
  }

private:
  bool walk(Value from, llvm::function_ref<bool(Value)> visit) {
    add(from);
    for (unsigned index = 0; index < values.size(); ++index)
      if (visit(values[index]))
        return true;
    return false;
  }
  void add(Value value) {
    if (isa<RankedTensorType>(value.getType()))
      values.insert(value);
  }
  bool follow(OpOperand &use);
  bool lookBack(Value value);

  llvm::SetVector<Value> values;
};
} // namespace

/// True at a dot.
bool TileWalk::follow(OpOperand &use) {
  Operation *op = use.getOwner();
  if (isa<tt::DotOpInterface>(op))
    return true;
  for (Value value : analysis::forwardedFrom(use))
    add(value);
  if (op->getNumRegions() == 0)
    for (Value result : op->getResults())
      add(result);
  return false;
}

/// True where the value is the result of a dot.
bool TileWalk::lookBack(Value value) {
  for (Value source : analysis::forwardedTo(value))
    add(source);
  Operation *op = value.getDefiningOp();
  if (!op)
    return false;
  if (isa<tt::DotOpInterface>(op))
    return true;
  if (op->getNumRegions() == 0)
    for (Value operand : op->getOperands())
      add(operand);
  return false;
}

/// Whether going through shared memory pays for an access.
static bool pays(Operation *op) {
  if (auto load = dyn_cast<tt::DescriptorLoadOp>(op))
    return TileWalk().feedsDot(load.getResult());
  if (auto store = dyn_cast<tt::DescriptorStoreOp>(op))
    return TileWalk().comesFromDot(store.getSrc());
  if (auto reduce = dyn_cast<tt::DescriptorReduceOp>(op))
    return TileWalk().comesFromDot(reduce.getSrc());
  return false;
}

//--- the choice ----------------------------------------------------------------------------

namespace {
/// Collects the descriptor types of a module with the reasons for and against tensor maps.
class TypeChooser {
public:
  TypeChooser(ModuleOp module, bool wherePossible, bool hostTensorMaps)
      : module(module), axisInfo(module), wherePossible(wherePossible), hostTensorMaps(hostTensorMaps) {}

  /// The types that become tensor maps.
  llvm::DenseSet<Type> choose();
  std::string reasonAgainst(Type type) const { return choices.lookup(type).reason; }

private:
  struct Choice {
    std::string reason; ///< empty: no reason against
    Operation *at = nullptr;
    bool pays = false;
  };
  void refuse(Type type, Operation *at, const Twine &reason);
  void look(Operation *op);
  void lookAtMake(tt::MakeTensorDescOp make);
  void lookAtAccess(Operation *access, ValueRange indices);

  ModuleOp module;
  index::AxisInfoAnalysis axisInfo;
  const bool wherePossible, hostTensorMaps;
  llvm::MapVector<Type, Choice> choices;
};
} // namespace

void TypeChooser::refuse(Type type, Operation *at, const Twine &reason) {
  Choice &choice = choices[type];
  if (!choice.reason.empty())
    return;
  choice.reason = reason.str();
  choice.at = at;
}

/// Strides and addresses must be provably aligned, since a misaligned tensor map cannot be used.
void TypeChooser::lookAtMake(tt::MakeTensorDescOp make) {
  const int64_t bytes = tt::storageBytes(make.getType().getTileType().getElementType());
  auto multiple = [&](Value value) { return axisInfo.of(value).elementDivisibility(); };
  if (multiple(make.getBase()) % ttng::kTensorMapAlignBytes)
    refuse(make.getType(), make, "the base is not known to be a multiple of 16 bytes");
  for (Value stride : make.getStrides().drop_back())
    if (multiple(stride) * bytes % ttng::kTensorMapAlignBytes)
      refuse(make.getType(), make, "a stride is not known to be a multiple of 16 bytes");
}

/// TMA rejects boxes that begin inside a 16-byte chunk, as an illegal instruction.
void TypeChooser::lookAtAccess(Operation *access, ValueRange indices) {
  const auto type = cast<TensorDescType>(access->getOperand(0).getType());
  const int64_t bytes = tt::storageBytes(type.getTileType().getElementType());
  if (axisInfo.of(indices.back()).elementDivisibility() * bytes % ttng::kTensorMapAlignBytes)
    refuse(type, access, "the last index is not known to be a multiple of 16 bytes");
  choices[type].pays |= pays(access);
}

void TypeChooser::look(Operation *op) {
  auto function = dyn_cast<tt::FuncOp>(op);
  SmallVector<Type> types(op->getOperandTypes());
  llvm::append_range(types, op->getResultTypes());
  if (function)
    llvm::append_range(types, function.getArgumentTypes());
  for (Type type : types) {
    auto descriptor = dyn_cast<TensorDescType>(type);
    if (!descriptor)
      continue;
    if (choices.try_emplace(type).second)
      if (std::string reason = reasonAgainstTma(descriptor.getTileType()); !reason.empty())
        refuse(type, op, reason);
    choices[type].pays |= hostTensorMaps && function; // a tensor map from the host has no other lowering
    if (function && !function.isPublic())
      refuse(type, op, "a function that is not inlined takes the descriptor");
    const bool isKnown =
        isa<tt::FuncOp, tt::MakeTensorDescOp, tt::DescriptorLoadOp, tt::DescriptorStoreOp, tt::DescriptorReduceOp,
            scf::ForOp, scf::WhileOp, scf::IfOp, scf::IndexSwitchOp, scf::YieldOp, scf::ConditionOp, arith::SelectOp>(
            op);
    if (!isKnown)
      refuse(type, op, "`" + op->getName().getStringRef() + "` takes the descriptor");
  }
  if (auto make = dyn_cast<tt::MakeTensorDescOp>(op))
    lookAtMake(make);
  if (auto load = dyn_cast<tt::DescriptorLoadOp>(op))
    lookAtAccess(load, load.getIndices());
  if (auto store = dyn_cast<tt::DescriptorStoreOp>(op))
    lookAtAccess(store, store.getIndices());
  if (auto reduce = dyn_cast<tt::DescriptorReduceOp>(op)) {
    lookAtAccess(reduce, reduce.getIndices());
    if (Type type = reduce.getDesc().getType();
        !ttng::combinesByTma(reduce.getKind(), cast<TensorDescType>(type).getBlockType().getElementType()))
      refuse(type, op, "TMA has no such reduction of these elements");
  }
}

llvm::DenseSet<Type> TypeChooser::choose() {
  module.walk([&](Operation *op) { look(op); });
  llvm::DenseSet<Type> chosen;
  for (auto &[type, choice] : choices) {
    if (!choice.pays && !wherePossible)
      continue;
    if (choice.reason.empty())
      chosen.insert(type);
    else
      tt::report(choice.at->getLoc(), nvidia::diag::DescriptorByPointers, choice.reason);
  }
  return chosen;
}

//--- tensor maps and tiles -----------------------------------------------------------------

namespace {
/// Rewrites accesses to tensor maps. Descriptor types are recorded first: accesses no longer have them afterwards.
class TmaLowering {
public:
  TmaLowering(ModuleOp module, const llvm::DenseSet<Type> &chosen, bool hostTensorMaps)
      : module(module), chosen(chosen), hostTensorMaps(hostTensorMaps), builder(module.getContext()),
        tensorMapType(tt::PointerType::get(builder.getI8Type())) {}

  void run();

private:
  bool isChosen(Value value) const { return chosen.contains(value.getType()); }
  void replaceLoad(tt::DescriptorLoadOp load);
  void replaceStore(Operation *op, Value tensorMap, Value tile, ValueRange indices, TensorDescType type,
                    tt::DescriptorReduceKindAttr kind);
  void retype(Operation *op);

  ModuleOp module;
  const llvm::DenseSet<Type> &chosen;
  const bool hostTensorMaps;
  OpBuilder builder;
  Type tensorMapType;
  llvm::DenseMap<Operation *, TensorDescType> types; ///< of each access
};
} // namespace

/// The block as rows and columns: all dimensions but the last are merged into rows.
static RankedTensorType rowsOf(RankedTensorType tile) {
  const int64_t columns = tile.getShape().back();
  return RankedTensorType::get({tile.getNumElements() / columns, columns}, tile.getElementType());
}

void TmaLowering::replaceLoad(tt::DescriptorLoadOp load) {
  builder.setInsertionPoint(load);
  const TensorDescType type = types.lookup(load);
  const RankedTensorType tile = type.getTileType(), rows = rowsOf(tile);
  Value result = ttng::TileLoadOp::create(builder, load.getLoc(), rows, load->getOperand(0), load.getIndices(),
                                          builder.getDenseI64ArrayAttr(tile.getShape()), load.getEvictAttr());
  if (rows != tile)
    result = tt::ReshapeOp::create(builder, load.getLoc(), tile, result);
  load.getResult().replaceAllUsesWith(result);
  load.erase();
}

void TmaLowering::replaceStore(Operation *op, Value tensorMap, Value tile, ValueRange indices, TensorDescType type,
                               tt::DescriptorReduceKindAttr kind) {
  builder.setInsertionPoint(op);
  const RankedTensorType whole = type.getTileType(), rows = rowsOf(whole);
  if (rows != whole)
    tile = tt::ReshapeOp::create(builder, op->getLoc(), rows, tile);
  const bool isUnsigned = type.getBlockType().getElementType().isUnsignedInteger();
  ttng::TileStoreOp::create(builder, op->getLoc(), tensorMap, indices, tile,
                            builder.getDenseI64ArrayAttr(whole.getShape()), kind,
                            isUnsigned ? builder.getUnitAttr() : UnitAttr());
  op->erase();
}

/// Changes the types of results and of region arguments.
void TmaLowering::retype(Operation *op) {
  for (Value result : op->getResults())
    if (isChosen(result))
      result.setType(tensorMapType);
  for (Region &region : op->getRegions())
    for (BlockArgument argument : region.getArguments())
      if (isChosen(argument))
        argument.setType(tensorMapType);
}

void TmaLowering::run() {
  SmallVector<Operation *> accesses;
  module.walk([&](Operation *op) {
    if (isa<tt::MakeTensorDescOp, tt::DescriptorLoadOp, tt::DescriptorStoreOp, tt::DescriptorReduceOp>(op)) {
      Value descriptor = isa<tt::MakeTensorDescOp>(op) ? op->getResult(0) : op->getOperand(0);
      if (!isChosen(descriptor))
        return;
      types[op] = cast<TensorDescType>(descriptor.getType());
      accesses.push_back(op);
    }
  });
  auto isOfMap = [&](TensorDescType type) { return chosen.contains(type); };
  for (auto function : module.getOps<tt::FuncOp>())
    if (!function.isExternal())
      hostTensorMaps ? takeTensorMaps(function, isOfMap) : takeFields(function, isOfMap);
  for (Operation *op : accesses) {
    if (auto make = dyn_cast<tt::MakeTensorDescOp>(op))
      makeTensorMap(make);
    else if (auto load = dyn_cast<tt::DescriptorLoadOp>(op))
      replaceLoad(load);
    else if (auto store = dyn_cast<tt::DescriptorStoreOp>(op))
      replaceStore(op, op->getOperand(0), store.getSrc(), store.getIndices(), types.lookup(op), {});
    else if (auto reduce = dyn_cast<tt::DescriptorReduceOp>(op))
      replaceStore(op, op->getOperand(0), reduce.getSrc(), reduce.getIndices(), types.lookup(op), reduce.getKindAttr());
  }
  module.walk([&](Operation *op) {
    if (!isa<tt::FuncOp>(op))
      retype(op);
  });
}

/// Descriptors that the host passes as tensor maps have no other lowering.
static LogicalResult checkHostTensorMaps(ModuleOp module, const TypeChooser &chooser,
                                         const llvm::DenseSet<Type> &chosen) {
  for (auto function : module.getOps<tt::FuncOp>())
    for (BlockArgument argument : function.getArguments())
      if (isa<TensorDescType>(argument.getType()) && !chosen.contains(argument.getType()))
        return tt::report(argument.getLoc(), diag::HostTensorMap, chooser.reasonAgainst(argument.getType()));
  return success();
}

namespace {
struct LowerDescriptorsToTma : nvidia::impl::LowerDescriptorsToTmaBase<LowerDescriptorsToTma> {
  using LowerDescriptorsToTmaBase::LowerDescriptorsToTmaBase;

  void runOnOperation() final {
    bool hasAny = false;
    getOperation().walk([&](Operation *op) {
      auto function = dyn_cast<tt::FuncOp>(op);
      hasAny |= isa<tt::MakeTensorDescOp>(op) ||
                (function && llvm::any_of(function.getArgumentTypes(), llvm::IsaPred<TensorDescType>));
    });
    if (!hasAny)
      return;
    TypeChooser chooser(getOperation(), wherePossible, hostTensorMaps);
    const llvm::DenseSet<Type> chosen = chooser.choose();
    if (hostTensorMaps && failed(checkHostTensorMaps(getOperation(), chooser, chosen)))
      return signalPassFailure();
    if (!chosen.empty())
      TmaLowering(getOperation(), chosen, hostTensorMaps).run();
  }
};
} // namespace
