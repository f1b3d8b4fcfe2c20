// Block pointers: make_block_ptr, advance, and the addresses and masks of accesses through them.
// SPDX-License-Identifier: MIT
#include "compiler/dialect/tt/StridedBlock.h"
#include "compiler/sema/Diagnostics.h"
#include "compiler/sema/TileShape.h"
#include "compiler/sema/builtins/Records.h"

#include "mlir/Dialect/Utils/IndexingUtils.h"

#include <limits>

namespace nereid::sema {

static Type blockPointerType(llvm::ArrayRef<Value> parts) {
  llvm::SmallVector<int64_t> shape;
  for (const Value &extent : *parts[BlockPointerField::BlockShape].elements())
    shape.push_back(*extent.asInt64());
  return parts[BlockPointerField::Base].tensor()->type.withShape(shape).asBlockPointer();
}

const RecordClass &blockPointerClass() {
  static constexpr llvm::StringLiteral fields[] = {"base", "shape", "strides", "offsets", "block_shape", "order"};
  static const RecordClass record{"block pointer", fields, languageModule,
                                  [](llvm::ArrayRef<Value> parts, llvm::StringRef name) -> std::optional<Value> {
                                    if (name != "dtype" && name != "type")
                                      return std::nullopt;
                                    const Type &base = parts[BlockPointerField::Base].tensor()->type;
                                    return TypeValue{name == "dtype" ? base : blockPointerType(parts)};
                                  }};
  return record;
}

std::optional<std::vector<Value>> integersArgument(const CallSite &site, llvm::StringRef parameter, Scalar type) {
  const SourceRange range = site.rangeOf(parameter);
  std::optional<std::vector<Value>> elements = site.emitter.elementsOf(site[parameter], range);
  if (!elements)
    return std::nullopt;
  for (Value &element : *elements) {
    const TensorValue *tensor = element.tensor();
    if (tensor ? !tensor->type.isInt() || tensor->type.isTile() : !element.integer() && !element.is<bool>()) {
      if (!element.isPoison())
        site.emitter.error(diag::IntegerList, range, parameter, site.builtin.name, describe(element));
      return std::nullopt;
    }
    element = site.emitter.cast(element, Type(type), range);
    if (element.isPoison())
      return std::nullopt;
  }
  return elements;
}

namespace {

/// The base of a block pointer or a descriptor; poison after an error.
Value baseArgument(const CallSite &site) {
  const Value &base = site["base"];
  const TensorValue *tensor = base.tensor();
  if (tensor && tensor->type.isPointer && !tensor->type.isTile())
    return base;
  return site.emitter.error(diag::BlockBase, site.rangeOf("base"), describe(base));
}

Value constants(llvm::ArrayRef<int64_t> numbers) {
  std::vector<Value> values;
  for (int64_t number : numbers)
    values.push_back(Value::integer(number));
  return Value::tuple(std::move(values));
}

Value emitMakeBlockPointer(const CallSite &site) {
  TtFunctionEmitter &emitter = site.emitter;
  emitter.error(diag::MakeBlockPtrDeprecated, site.range);
  const Value base = baseArgument(site);
  auto shape = integersArgument(site, "shape", Scalar::Int64),
       strides = integersArgument(site, "strides", Scalar::Int64);
  auto offsets = integersArgument(site, "offsets", Scalar::Int64);
  auto blockShape = intsArgument(site, "block_shape");
  auto order = intsArgument(site, "order");
  if (base.isPoison() || !shape || !strides || !offsets || !blockShape || !order ||
      !checkTileShape(emitter, *blockShape, site.rangeOf("block_shape")))
    return Value::poison();
  const size_t rank = blockShape->size();
  if (rank == 0 || shape->size() != rank || strides->size() != rank || offsets->size() != rank)
    return emitter.error(diag::BlockRanks, site.range, shape->size(), strides->size(), offsets->size(), rank);
  if (order->size() != rank || !mlir::isPermutationVector(*order))
    return emitter.error(diag::BlockOrder, site.rangeOf("order"), shapeText(*order), rank);
  return Value::record(blockPointerClass(), {base, Value::tuple(*shape), Value::tuple(*strides), Value::tuple(*offsets),
                                             constants(*blockShape), constants(*order)});
}

Value emitAdvance(const CallSite &site) {
  const std::vector<Value> *found = site["base"].partsOf(blockPointerClass());
  if (!found)
    return site.emitter.error(diag::NeedsBlockPointer, site.rangeOf("base"), describe(site["base"]));
  std::vector<Value> parts = *found, offsets = *parts[BlockPointerField::Offsets].elements();
  auto steps = integersArgument(site, "offsets", Scalar::Int64);
  if (!steps)
    return Value::poison();
  const CallReporter reporter(site.emitter, site.rangeOf("offsets"));
  if (failed(tt::checkOffsetCount(offsets.size(), steps->size(), reporter)))
    return Value::poison();
  for (auto [offset, step] : llvm::zip_equal(offsets, *steps))
    offset = emitOp<mlir::arith::AddIOp>(site, Type(Scalar::Int64), offset, step);
  parts[BlockPointerField::Offsets] = Value::tuple(std::move(offsets));
  return Value::record(blockPointerClass(), std::move(parts));
}

/// The dimensions of `boundary_check`; nothing after an error.
std::optional<llvm::SmallVector<int64_t>> checkedDims(const CallSite &site, size_t rank) {
  llvm::SmallVector<int64_t> dims;
  const SourceRange range = site.rangeOf("boundary_check");
  if (!site["boundary_check"].isNone()) {
    auto numbers = intsArgument(site, "boundary_check");
    if (!numbers)
      return std::nullopt;
    dims = *numbers;
  }
  for (auto [index, dim] : llvm::enumerate(dims)) {
    if (dim < 0 || dim >= static_cast<int64_t>(rank)) {
      site.emitter.error(diag::BoundaryCheckRange, range, dim, rank);
      return std::nullopt;
    }
    if (llvm::is_contained(llvm::ArrayRef(dims).take_front(index), dim)) {
      site.emitter.error(diag::BoundaryCheckTwice, range, dim);
      return std::nullopt;
    }
  }
  return dims;
}

} // namespace

std::optional<BlockAccess> blockAccess(const CallSite &site, llvm::ArrayRef<Value> parts) {
  const TensorValue &base = *parts[BlockPointerField::Base].tensor();
  const std::vector<Value> &offsets = *parts[BlockPointerField::Offsets].elements();
  auto dims = checkedDims(site, offsets.size());
  if (!dims)
    return std::nullopt;
  mlir::OpBuilder &builder = builderOf(site);
  const mlir::Location loc = locationOf(site);
  tt::StridedBlock block{base.value, {}, {}, {}};
  llvm::SmallVector<int64_t> shape;
  for (size_t dim = 0; dim < offsets.size(); ++dim) {
    shape.push_back(*(*parts[BlockPointerField::BlockShape].elements())[dim].asInt64());
    block.shape.push_back((*parts[BlockPointerField::Shape].elements())[dim].tensor()->value);
    block.strides.push_back((*parts[BlockPointerField::Strides].elements())[dim].tensor()->value);
    block.coordinates.push_back(tt::coordinatesFrom(builder, loc, offsets[dim].tensor()->value, shape.back()));
  }
  BlockAccess access;
  access.pointer = Value::tensor(tt::pointersOf(builder, loc, block), base.type.withShape(shape));
  if (mlir::Value inside = tt::insideOf(builder, loc, block, *dims))
    access.mask = Value::tensor(inside, Type(Scalar::Int1).withShape(shape));
  return access;
}

std::optional<Value> paddingArgument(const CallSite &site, Scalar element) {
  const SourceRange range = site.rangeOf("padding_option");
  std::optional<std::string> text = textOption(site, "padding_option");
  if (!text)
    return std::nullopt;
  if (text->empty())
    return Value();
  if (*text == "zero")
    return Value::integer(0);
  if (*text != "nan") {
    site.emitter.error(diag::PaddingUnknown, range, *text);
    return std::nullopt;
  }
  if (isFloating(element))
    return Value(std::numeric_limits<double>::quiet_NaN());
  site.emitter.error(diag::PaddingNan, range, abbreviationOf(element));
  return std::nullopt;
}

llvm::ArrayRef<Builtin> blockPointerBuiltins() {
  static const Builtin table[] = {
      {"make_block_ptr",
       languageModule,
       {{"base"}, {"shape"}, {"strides"}, {"offsets"}, {"block_shape"}, {"order"}},
       "A pointer to a block of a strided array. Deprecated: descriptors do the same.",
       emitMakeBlockPointer},
      {"advance",
       languageModule,
       {{"base"}, {"offsets"}},
       "A block pointer that stands further on.",
       emitAdvance,
       true,
       " A block pointer is not moved in place; assign what `advance` gives."},
  };
  return table;
}

} // namespace nereid::sema
