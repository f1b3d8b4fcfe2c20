// Registers the `ttg` dialect: attributes, types, ops, aliases of encodings and the verifier of a module's shape.
// SPDX-License-Identifier: MIT
#include "compiler/dialect/ttg/Dialect.h"
#include "compiler/dialect/tt/Inlinable.h"
#include "compiler/dialect/ttg/EncodingRules.h"
#include "compiler/dialect/ttg/EncodingShape.h"
#include "compiler/dialect/ttg/ListText.h"
#include "compiler/dialect/ttg/TtOpRules.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

#include <limits>
#include <memory>
#include <mutex>

using namespace mlir;
using namespace nereid;
using namespace nereid::ttg;

namespace nereid::ttg {
/// Layouts by type. Their addresses are stable, since callers keep references.
struct LayoutCache {
  std::mutex mutex;
  llvm::DenseMap<RankedTensorType, std::unique_ptr<layout::LinearLayout>> byType;
};
} // namespace nereid::ttg

#include "compiler/dialect/ttg/AttrInterfaces.cpp.inc"
#include "compiler/dialect/ttg/Dialect.cpp.inc"
#include "compiler/dialect/ttg/Enums.cpp.inc"
#include "compiler/dialect/ttg/Interfaces.cpp.inc"

#define GET_ATTRDEF_CLASSES
#include "compiler/dialect/ttg/Attrs.cpp.inc"
#define GET_TYPEDEF_CLASSES
#include "compiler/dialect/ttg/Types.cpp.inc"

namespace {
/// `#blocked`, `#blocked1`, `#shared`, `#smem`. A slice has no alias, as it names its parent.
struct Aliases : OpAsmDialectInterface {
  using OpAsmDialectInterface::OpAsmDialectInterface;

  AliasResult getAlias(Attribute attribute, raw_ostream &os) const final {
    const StringRef name =
        llvm::TypeSwitch<Attribute, StringRef>(attribute)
            .Case<BlockedAttr>([](auto) { return "blocked"; })
            .Case<LinearAttr>([](auto) { return "linear"; })
            .Case<SwizzledSharedAttr, AmdRotatingSharedAttr, PaddedSharedAttr, SharedLinearAttr, NvmmaSharedAttr>(
                [](auto) { return "shared"; })
            .Case<NvidiaMmaAttr, AmdMfmaAttr, AmdWmmaAttr>([](auto) { return "mma"; })
            .Case<SharedMemoryAttr>([](auto) { return "smem"; })
            .Default([](auto) { return ""; });
    os << name;
    return name.empty() ? AliasResult::NoAlias : AliasResult::FinalAlias;
  }
};
} // namespace

void TtgDialect::initialize() {
  cache = std::make_shared<LayoutCache>();
  addAttributes<
#define GET_ATTRDEF_LIST
#include "compiler/dialect/ttg/Attrs.cpp.inc"
      >();
  addTypes<
#define GET_TYPEDEF_LIST
#include "compiler/dialect/ttg/Types.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "compiler/dialect/ttg/Ops.cpp.inc"
      >();
  addInterfaces<Aliases, tt::Inlinable>();
  addEncodingRules(*this);
  for (auto addRules : {addAtomicRules, addDotRules, addGatherRules, addJoinRules, addMemoryRules, addReduceRules,
                        addScanRules, addShapeRules})
    addRules(getContext());
}

//--- linear maps ---------------------------------------------------------------------------

const layout::LinearLayout &TtgDialect::linearLayoutOf(RankedTensorType type) {
  std::lock_guard guard(cache->mutex);
  std::unique_ptr<layout::LinearLayout> &entry = cache->byType[type];
  if (!entry)
    entry = std::make_unique<layout::LinearLayout>(encodingOf(type).toLinearLayout(type.getShape()));
  return *entry;
}

const layout::LinearLayout &ttg::linearLayoutOf(RankedTensorType type) {
  assert(encodingOf(type) && "a tile without an encoding has no layout");
  return type.getContext()->getLoadedDialect<TtgDialect>()->linearLayoutOf(type);
}

SmallVector<unsigned> ttg::elementBitsOf(ValueRange tiles) {
  return llvm::map_to_vector(tiles, [](Value tile) { return tt::memoryBits(tt::elementOf(tile.getType())); });
}

LayoutEncoding ttg::encodingOf(Type type) {
  auto tile = dyn_cast<RankedTensorType>(type);
  return tile ? dyn_cast_or_null<LayoutEncoding>(tile.getEncoding()) : LayoutEncoding();
}

bool ttg::areEquivalent(LayoutEncoding a, LayoutEncoding b, ArrayRef<int64_t> shape) {
  if (a == b)
    return true;
  // Any element type will do: layouts count elements.
  const Type element = IntegerType::get(a.getContext(), 1);
  return linearLayoutOf(RankedTensorType::get(shape, element, a)) ==
         linearLayoutOf(RankedTensorType::get(shape, element, b));
}

//--- the module's shape --------------------------------------------------------------------

static unsigned moduleNumber(Operation *op, StringRef name, unsigned otherwise) {
  for (; op; op = op->getParentOp())
    if (auto number = op->getAttrOfType<IntegerAttr>(name))
      return number.getValue().getZExtValue();
  return otherwise;
}

Region *ttg::warpRegionOf(Operation *op) {
  Region *region = op->getParentRegion();
  while (region && !isa<WarpSpecializeOp>(region->getParentOp()))
    region = region->getParentRegion();
  return region;
}

unsigned ttg::numWarpsOf(Operation *op) {
  if (Region *region = warpRegionOf(op))
    return cast<WarpSpecializeOp>(region->getParentOp()).warpsOf(region->getRegionNumber()).second;
  return moduleNumber(op, kNumWarps, 4);
}
unsigned ttg::totalWarpsOf(Operation *op) { return moduleNumber(op, kTotalWarps, numWarpsOf(op)); }
unsigned ttg::threadsPerWarpOf(Operation *op) { return moduleNumber(op, kThreadsPerWarp, 32); }
unsigned ttg::numCtasOf(Operation *op) { return moduleNumber(op, kNumCtas, 1); }

LogicalResult ttg::verifyThreads(function_ref<InFlightDiagnostic()> emitError, LayoutEncoding encoding,
                                 unsigned numWarps, unsigned threadsPerWarp) {
  while (auto slice = dyn_cast_or_null<SliceAttr>(encoding))
    encoding = slice.getParent();
  unsigned warps = numWarps, lanes = threadsPerWarp;
  if (auto blocked = dyn_cast_or_null<BlockedAttr>(encoding)) {
    warps = llvm::product_of(blocked.getWarpsPerCTA());
    lanes = llvm::product_of(blocked.getThreadsPerWarp());
  } else if (auto linear = dyn_cast_or_null<LinearAttr>(encoding)) {
    warps = linear.getLayout().inSize(layout::kWarp);
    lanes = linear.getLayout().inSize(layout::kLane);
  }
  if (warps != numWarps)
    return emitError() << "a tile's layout has " << warps << " warps, those that run it are " << numWarps;
  if (lanes != threadsPerWarp)
    return emitError() << "a tile's layout has " << lanes << " threads per warp, the module has " << threadsPerWarp;
  return success();
}

/// No GPU has more warps in a CTA, threads in a warp or CTAs in a cluster; with this limit no product of them
/// overflows.
static constexpr unsigned maxShapeNumber = 1024;

/// The numbers of warps, threads and CTAs: layouts count them in bits. Warps of partitions are added to a power of two.
static LogicalResult verifyShapeNumber(Operation *op, NamedAttribute attribute) {
  const StringRef name = attribute.getName().getValue();
  auto number = dyn_cast<IntegerAttr>(attribute.getValue());
  if (!number)
    return op->emitError() << name << " is not a number";
  const APInt &value = number.getValue();
  if (!value.isStrictlyPositive() || value.ugt(maxShapeNumber))
    return op->emitError() << name << " is " << number << "; it is between 1 and " << maxShapeNumber;
  if (name != kTotalWarps && !value.isPowerOf2())
    return op->emitError() << name << " is " << value.getZExtValue() << ", which is no power of two";
  return success();
}

/// Bytes, and registers of a thread. Passes read them as numbers of 32 bits, and add to the bytes.
static LogicalResult verifySize(Operation *op, NamedAttribute attribute) {
  const StringRef name = attribute.getName().getValue();
  auto number = dyn_cast<IntegerAttr>(attribute.getValue());
  if (!number || !number.getType().isSignlessInteger() || number.getValue().getBitWidth() > 64)
    return op->emitError() << name << " is not a number";
  const int64_t value = number.getInt();
  if (value < 0 || value > std::numeric_limits<int32_t>::max())
    return op->emitError() << name << " is " << value << "; it is between 0 and 2147483647";
  if (name == kScratchAlignment && !llvm::isPowerOf2_64(value))
    return op->emitError() << name << " is " << value << ", which is no power of two";
  return success();
}

/// Warps beyond `ttg.num-warps` run nothing but partitions.
static LogicalResult verifyTotalWarps(Operation *op) {
  if (op->walk([](WarpSpecializeOp) { return WalkResult::interrupt(); }).wasInterrupted())
    return success();
  return op->emitError() << kTotalWarps << " is given, but no `ttg.warp_specialize` starts warps of its own";
}

LogicalResult TtgDialect::verifyOperationAttribute(Operation *op, NamedAttribute attribute) {
  const StringRef name = attribute.getName().getValue();
  if (llvm::is_contained({kNumWarps, kTotalWarps, kThreadsPerWarp, kNumCtas}, name) &&
      failed(verifyShapeNumber(op, attribute)))
    return failure();
  if (llvm::is_contained({kShared, kMaxRegisters, kScratchBytes, kScratchAlignment}, name))
    return verifySize(op, attribute);
  if (name == kTarget && !isa<StringAttr>(attribute.getValue()))
    return op->emitError() << kTarget << " is not a string";
  if (name == kTotalWarps)
    return verifyTotalWarps(op);
  // One walk, started by the attribute that every module of `ttg` has.
  if (name != kNumWarps)
    return success();
  // Attributes are verified in the order of their names, and the walk needs this one.
  if (auto threads = op->getAttrDictionary().getNamed(kThreadsPerWarp);
      threads && failed(verifyShapeNumber(op, *threads)))
    return failure();
  const unsigned threadsPerWarp = threadsPerWarpOf(op);
  llvm::SmallDenseSet<std::pair<Attribute, unsigned>, 8> good;
  auto verifyTypes = [&](Operation *inner, TypeRange types) {
    return llvm::all_of(types, [&](Type type) {
      auto tile = dyn_cast<RankedTensorType>(type);
      if (tile && !tile.getEncoding())
        return succeeded(inner->emitError("a tile has no encoding in a module with ") << kNumWarps << ": " << tile);
      const unsigned numWarps = numWarpsOf(inner);
      return !tile || !good.insert({tile.getEncoding(), numWarps}).second ||
             succeeded(verifyThreads([&] { return inner->emitError() << tile << ": "; }, encodingOf(tile), numWarps,
                                     threadsPerWarp));
    });
  };
  const WalkResult result = op->walk([&](Operation *inner) {
    for (Region &region : inner->getRegions())
      for (Block &block : region)
        if (!verifyTypes(inner, block.getArgumentTypes()))
          return WalkResult::interrupt();
    return verifyTypes(inner, inner->getResultTypes()) ? WalkResult::advance() : WalkResult::interrupt();
  });
  return failure(result.wasInterrupted());
}
