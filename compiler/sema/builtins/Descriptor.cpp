// Tensor descriptors: make_tensor_descriptor, and the accesses that are methods of descriptors.
// SPDX-License-Identifier: MIT
#include "compiler/sema/Diagnostics.h"
#include "compiler/sema/TileShape.h"
#include "compiler/sema/builtins/Records.h"
#include "compiler/sema/gluon/Layouts.h"

namespace nereid::sema {
namespace {

constexpr llvm::StringLiteral descriptorModule = "triton.language.tensor_descriptor";
constexpr int64_t maxRank = 5;

Value extentsOf(const Type &type) {
  std::vector<Value> extents;
  for (int64_t extent : type.shape)
    extents.push_back(Value::integer(extent));
  return Value::tuple(std::move(extents));
}

/// The type of the tile that is one block.
Type blockTypeOf(const Type &handle) { return Type(handle.scalar).withShape(handle.shape); }

std::optional<Value> attributeOf(llvm::ArrayRef<Value> parts, llvm::StringRef name) {
  const Type &handle = parts[DescriptorField::Handle].tensor()->type;
  if (name == "block_shape")
    return extentsOf(handle);
  if (name == "block_type")
    return TypeValue{blockTypeOf(handle)};
  if (name == "dtype")
    return TypeValue{Type(handle.scalar)};
  if (name == "layout" && handle.layout)
    return layoutValue(handle.layout);
  if (name == "nbytes_per_cta" || name == "nbytes")
    return Value::integer(artifact::storageBytes(handle.scalar, handle.elementCount()));
  if (name == "type")
    return TypeValue{handle};
  return std::nullopt;
}

// --- Creation ------------------------------------------------------------------------------

/// Reports numbers of dimensions that differ or are too large; true where there is no error.
bool checkRanks(const CallSite &site, size_t shape, size_t strides, size_t block) {
  if (shape < 1 || shape > maxRank)
    site.emitter.error(diag::DescriptorRank, site.rangeOf("shape"), shape);
  else if (strides != shape)
    site.emitter.error(diag::DescriptorStrides, site.rangeOf("strides"), shape, strides);
  else if (block != shape)
    site.emitter.error(diag::DescriptorBlock, site.rangeOf("block_shape"), shape, block);
  else
    return true;
  return false;
}

/// Checks that the last stride is the constant 1.
bool checkLastStride(const CallSite &site) {
  const SourceRange range = site.rangeOf("strides");
  std::optional<std::vector<Value>> strides = site.emitter.elementsOf(site["strides"], range);
  if (!strides)
    return false;
  if (const std::vector<Value> *shape = site["shape"].elements(); shape && shape->size() != strides->size()) {
    site.emitter.error(diag::DescriptorStrides, range, shape->size(), strides->size());
    return false;
  }
  if (strides->empty() || strides->back().asInt64() == 1)
    return true;
  site.emitter.error(diag::DescriptorLastStride, range, describe(strides->back()));
  return false;
}

std::optional<tt::PaddingOption> paddingOf(const CallSite &site, Scalar element) {
  std::optional<Value> padding = paddingArgument(site, element);
  if (!padding)
    return std::nullopt;
  return padding->is<double>() ? tt::PaddingOption::PAD_NAN : tt::PaddingOption::PAD_ZERO;
}

} // namespace

Value makeDescriptor(const CallSite &site, mlir::Attribute layout) {
  TtFunctionEmitter &emitter = site.emitter;
  const TensorValue *base = site["base"].tensor();
  if (!base || !base->type.isPointer || base->type.isTile())
    return emitter.error(diag::BlockBase, site.rangeOf("base"), describe(site["base"]));
  const Scalar element = base->type.scalar;
  if (element == Scalar::Int1)
    return emitter.error(diag::DescriptorElement, site.rangeOf("base"), abbreviationOf(element));
  auto block = intsArgument(site, "block_shape");
  std::optional<tt::PaddingOption> padding = paddingOf(site, element);
  auto shape = integersArgument(site, "shape", Scalar::Int32);
  auto strides = checkLastStride(site) ? integersArgument(site, "strides", Scalar::Int64) : std::nullopt;
  if (!block || !padding || !shape || !strides || !checkRanks(site, shape->size(), strides->size(), block->size()) ||
      !checkTileShape(emitter, *block, site.rangeOf("block_shape")))
    return Value::poison();
  if (const uint64_t bytes = artifact::storageBytes(element, block->back()); bytes < 16)
    emitter.error(diag::DescriptorSmallBlock, site.rangeOf("block_shape"), block->back(),
                  artifact::storageBytes(element), bytes);
  Type type = base->type.withShape(*block).asDescriptor();
  type.isPointer = false; // keeps only constness
  type.layout = layout;
  llvm::SmallVector<mlir::Value> extents, steps;
  for (auto [extent, step] : llvm::zip_equal(*shape, *strides)) {
    extents.push_back(extent.tensor()->value);
    steps.push_back(step.tensor()->value);
  }
  return Value::record(descriptorClass(),
                       {emitOp<tt::MakeTensorDescOp>(site, type, base->value, extents, steps, *padding),
                        Value::tuple(*shape), Value::tuple(*strides)});
}

namespace {

Value emitMake(const CallSite &site) { return makeDescriptor(site); }

//--- Accesses ------------------------------------------------------------------------------

/// The descriptor's handle; null after an error.
const TensorValue *handleOf(const CallSite &site, bool writes) {
  const std::vector<Value> *parts = site["desc"].partsOf(descriptorClass());
  if (!parts) {
    site.emitter.error(diag::NeedsDescriptor, site.rangeOf("desc"), site.builtin.name, describe(site["desc"]));
    return nullptr;
  }
  const TensorValue *handle = (*parts)[DescriptorField::Handle].tensor();
  if (!writes || !handle->type.isConst)
    return handle;
  site.emitter.error(diag::StoreToConst, site.rangeOf("desc"), handle->type.str());
  return nullptr;
}

/// A scalar index as int32; poison after an error.
Value indexOf(const CallSite &site, const Value &index, SourceRange range) {
  const TensorValue *tensor = index.tensor();
  const bool isGood = tensor ? tensor->type.isInt() && !tensor->type.isTile() && tensor->type.bits() <= 32
                             : index.integer() || index.is<bool>();
  if (isGood || index.isPoison())
    return site.emitter.cast(index, Type(Scalar::Int32), range);
  return site.emitter.error(diag::DescriptorIndex, range, describe(index));
}

/// One index for each dimension; nothing after an error.
std::optional<llvm::SmallVector<mlir::Value>> indicesOf(const CallSite &site, const Type &handle) {
  const SourceRange range = site.rangeOf("offsets");
  std::optional<std::vector<Value>> offsets = site.emitter.elementsOf(site["offsets"], range);
  if (!offsets)
    return std::nullopt;
  if (failed(tt::checkOffsetCount(handle.shape.size(), offsets->size(), CallReporter(site.emitter, range))))
    return std::nullopt;
  llvm::SmallVector<mlir::Value> indices;
  for (const Value &each : *offsets) {
    const Value index = indexOf(site, each, range);
    if (index.isPoison())
      return std::nullopt;
    indices.push_back(index.tensor()->value);
  }
  return indices;
}

/// The argument `value` as a tile of that shape and the descriptor's elements; poison after an error.
Value tileArgument(const CallSite &site, llvm::ArrayRef<int64_t> shape, Scalar element) {
  const Value value = tensorArgument(site, "value");
  if (value.isPoison())
    return value;
  if (llvm::ArrayRef<int64_t>(value.tensor()->type.shape) != shape)
    return site.emitter.error(diag::DescriptorValueShape, site.rangeOf("value"), shapeText(shape),
                              shapeText(value.tensor()->type.shape));
  return site.emitter.cast(value, Type(element), site.rangeOf("value"));
}

Value emitDescriptorLoad(const CallSite &site) {
  const TensorValue *handle = handleOf(site, /*writes=*/false);
  auto indices = handle ? indicesOf(site, handle->type) : std::nullopt;
  if (!indices)
    return Value::poison();
  return emitOp<tt::DescriptorLoadOp>(site, blockTypeOf(handle->type), handle->value, *indices, tt::CacheModifier::NONE,
                                      tt::EvictionPolicy::NORMAL);
}

Value emitDescriptorStore(const CallSite &site) {
  const TensorValue *handle = handleOf(site, /*writes=*/true);
  auto indices = handle ? indicesOf(site, handle->type) : std::nullopt;
  const Value value = handle ? tileArgument(site, handle->type.shape, handle->type.scalar) : Value::poison();
  if (!indices || value.isPoison())
    return Value::poison();
  tt::DescriptorStoreOp::create(builderOf(site), locationOf(site), handle->value, value.tensor()->value, *indices);
  return Value();
}

//--- Atomic accesses -----------------------------------------------------------------------

bool combines(tt::DescriptorReduceKind kind, Scalar element) {
  using enum Scalar;
  switch (kind) {
  case tt::DescriptorReduceKind::ADD:
    return llvm::is_contained({UInt32, Int32, UInt64, Float32, Float16, BFloat16}, element);
  case tt::DescriptorReduceKind::MIN:
  case tt::DescriptorReduceKind::MAX:
    return llvm::is_contained({UInt32, Int32, UInt64, Int64, Float16, BFloat16}, element);
  default:
    return isInteger(element) && bitsOf(element) >= 32;
  }
}

llvm::StringRef combinedTypes(tt::DescriptorReduceKind kind) {
  if (kind == tt::DescriptorReduceKind::ADD)
    return "uint32, int32, uint64, fp32, fp16 and bf16";
  if (kind == tt::DescriptorReduceKind::MIN || kind == tt::DescriptorReduceKind::MAX)
    return "uint32, int32, uint64, int64, fp16 and bf16";
  return "uint32, int32, uint64 and int64";
}

template <tt::DescriptorReduceKind kind> Value emitReduce(const CallSite &site) {
  const TensorValue *handle = handleOf(site, /*writes=*/true);
  if (!handle)
    return Value::poison();
  if (!combines(kind, handle->type.scalar))
    return site.emitter.error(diag::AtomicType, site.rangeOf("desc"), site.builtin.name,
                              abbreviationOf(handle->type.scalar), combinedTypes(kind));
  auto indices = indicesOf(site, handle->type);
  const Value value = tileArgument(site, handle->type.shape, handle->type.scalar);
  if (!indices || value.isPoison())
    return Value::poison();
  tt::DescriptorReduceOp::create(builderOf(site), locationOf(site), kind, handle->value, value.tensor()->value,
                                 *indices);
  return Value();
}

// --- Row accesses ----------------------------------------------------------------------------

struct Rows {
  const TensorValue *handle = nullptr;
  Value rows, column;
  Type tile;
};

/// Reports a descriptor or row indices that do not allow row accesses; true where there is no error.
bool checkRows(const CallSite &site, const Type &handle, const Type &rows) {
  TtFunctionEmitter &emitter = site.emitter;
  llvm::ArrayRef<int64_t> shape = handle.shape;
  const int64_t minimumColumns = 32 / bitsOf(handle.scalar) * 8;
  if (failed(tt::checkRowBlock(shape, CallReporter(emitter, site.rangeOf("desc")))) ||
      failed(tt::checkRowIndices(rows.shape, CallReporter(emitter, site.rangeOf("x_offsets")))))
    return false;
  if (!rows.isInt() || (rows.bits() != 16 && rows.bits() != 32))
    emitter.error(diag::RowsIndexType, site.rangeOf("x_offsets"), rows.str());
  else if (rows.shape[0] < 8)
    emitter.error(diag::RowsCount, site.rangeOf("x_offsets"), site.builtin.name, shapeText(rows.shape));
  else if (shape[1] < minimumColumns)
    emitter.error(diag::RowsColumns, site.rangeOf("desc"), site.builtin.name, abbreviationOf(handle.scalar),
                  minimumColumns, shape[1]);
  else
    return true;
  return false;
}

std::optional<Rows> rowsOf(const CallSite &site, bool writes) {
  Rows access;
  access.handle = handleOf(site, writes);
  Value rows = tensorArgument(site, "x_offsets");
  if (!access.handle || rows.isPoison() || !checkRows(site, access.handle->type, rows.tensor()->type))
    return std::nullopt;
  access.rows = site.emitter.cast(rows, Type(Scalar::Int32), site.rangeOf("x_offsets"));
  access.column = indexOf(site, site["y_offset"], site.rangeOf("y_offset"));
  access.tile =
      Type(access.handle->type.scalar).withShape({rows.tensor()->type.shape[0], access.handle->type.shape[1]});
  if (access.rows.isPoison() || access.column.isPoison())
    return std::nullopt;
  return access;
}

Value emitGather(const CallSite &site) {
  std::optional<Rows> rows = rowsOf(site, /*writes=*/false);
  if (!rows)
    return Value::poison();
  return emitOp<tt::DescriptorGatherOp>(site, rows->tile, rows->handle->value, rows->rows, rows->column);
}

Value emitScatter(const CallSite &site) {
  std::optional<Rows> rows = rowsOf(site, /*writes=*/true);
  if (!rows)
    return Value::poison();
  const Value value = tileArgument(site, rows->tile.shape, rows->tile.scalar);
  if (value.isPoison())
    return value;
  tt::DescriptorScatterOp::create(builderOf(site), locationOf(site), rows->handle->value, rows->rows.tensor()->value,
                                  rows->column.tensor()->value, value.tensor()->value);
  return Value();
}

template <tt::DescriptorReduceKind kind> Builtin reduceEntry(llvm::StringLiteral name, llvm::StringLiteral doc) {
  return {name, descriptorModule, {{"desc"}, {"offsets"}, {"value"}}, doc, emitReduce<kind>, true};
}

} // namespace

const RecordClass &descriptorClass() {
  static constexpr llvm::StringLiteral fields[] = {"", "shape", "strides"};
  static const RecordClass record{"tensor descriptor", fields, descriptorModule, attributeOf};
  return record;
}

llvm::ArrayRef<Builtin> descriptorBuiltins() {
  using Kind = tt::DescriptorReduceKind;
  static const Builtin table[] = {
      {"make_tensor_descriptor",
       languageModule,
       {{"base"}, {"shape"}, {"strides"}, {"block_shape"}, {"padding_option", "\"zero\""}},
       "Describes a strided array of which blocks will be accessed.",
       emitMake},
      {"load_tensor_descriptor",
       languageModule,
       {{"desc"}, {"offsets"}},
       "The block that begins at the offsets; elements outside of the array read as the padding.",
       emitDescriptorLoad},
      {"store_tensor_descriptor",
       languageModule,
       {{"desc"}, {"offsets"}, {"value"}},
       "Writes the block that begins at the offsets, except for elements outside of the array.",
       emitDescriptorStore},
      {"load",
       descriptorModule,
       {{"desc"}, {"offsets"}},
       "The block that begins at the offsets; elements outside of the array read as the padding.",
       emitDescriptorLoad,
       true},
      {"store",
       descriptorModule,
       {{"desc"}, {"offsets"}, {"value"}},
       "Writes the block that begins at the offsets, except for elements outside of the array.",
       emitDescriptorStore,
       true},
      {"gather",
       descriptorModule,
       {{"desc"}, {"x_offsets"}, {"y_offset"}},
       "One row of the array for each row offset, from a column on.",
       emitGather,
       true},
      {"scatter",
       descriptorModule,
       {{"desc"}, {"value"}, {"x_offsets"}, {"y_offset"}},
       "Writes one row of the array for each row offset, from a column on.",
       emitScatter,
       true},
      reduceEntry<Kind::ADD>("atomic_add", "Adds a block to memory, each element atomically."),
      reduceEntry<Kind::MIN>("atomic_min", "Writes the lesser of memory and a block, each element atomically."),
      reduceEntry<Kind::MAX>("atomic_max", "Writes the greater of memory and a block, each element atomically."),
      reduceEntry<Kind::AND>("atomic_and", "Clears bits of memory, each element atomically."),
      reduceEntry<Kind::OR>("atomic_or", "Sets bits of memory, each element atomically."),
      reduceEntry<Kind::XOR>("atomic_xor", "Flips bits of memory, each element atomically."),
  };
  return table;
}

} // namespace nereid::sema
