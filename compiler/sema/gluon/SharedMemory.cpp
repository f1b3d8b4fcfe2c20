// Built-ins of Gluon's language on buffers in shared memory: allocation, views, loads and stores.
// SPDX-License-Identifier: MIT
#include "compiler/sema/gluon/SharedMemory.h"

#include "compiler/dialect/ttg/Buffers.h"
#include "compiler/sema/Diagnostics.h"
#include "compiler/sema/TileShape.h"
#include "compiler/sema/builtins/Emission.h"
#include "compiler/sema/gluon/Arguments.h"
#include "compiler/sema/gluon/Diagnostics.h"
#include "compiler/sema/gluon/Layouts.h"
#include "compiler/sema/gluon/Names.h"
#include "compiler/sema/gluon/OpRules.h"

#include "mlir/IR/Diagnostics.h"

using mlir::Attribute;

namespace nereid::sema {

//--- errors of ops as those of calls -------------------------------------------------------

static Value invalid(const CallSite &site, llvm::StringRef message) {
  return site.emitter.error(gluon::diag::BufferInvalid, site.range, site.builtin.name, withoutOp(message));
}

bool keepsRules(const CallSite &site, mlir::Operation *op) {
  const std::optional<std::string> message = brokenRule(op);
  if (!message)
    return true;
  op->erase();
  site.emitter.error(gluon::diag::BufferInvalid, site.range, site.builtin.name, *message);
  return false;
}

/// The type that `make` gives; null after an error, which is reported as one of the call.
static ttg::MemDescType
typeOrError(const CallSite &site,
            llvm::function_ref<mlir::FailureOr<ttg::MemDescType>(ttg::ReportError emitError)> make) {
  ttg::MemDescType type;
  const std::string message = errorOf(builderOf(site).getContext(), [&] {
    mlir::FailureOr<ttg::MemDescType> made = make([&] { return mlir::emitError(locationOf(site)); });
    type = mlir::succeeded(made) ? *made : ttg::MemDescType();
  });
  if (!type)
    invalid(site, message);
  return type;
}

//--- buffers as values ---------------------------------------------------------------------

int64_t bytesPerCta(const Type &buffer) {
  auto type = llvm::cast<ttg::MemDescType>(buffer.toMlir(buffer.layout.getContext()));
  const layout::LinearLayout layout = ttg::layoutOf(type);
  int64_t ctas = 1;
  for (unsigned bit = 0; bit < layout.inBits(layout::kBlock); ++bit)
    ctas *= llvm::any_of(layout.basis(layout::kBlock, bit), [](int32_t step) { return step != 0; }) ? 2 : 1;
  return buffer.elementCount() * buffer.bits() / 8 / ctas;
}

Value bufferValue(mlir::Value buffer, Scalar element) {
  auto type = llvm::cast<ttg::MemDescType>(buffer.getType());
  return Value::tensor(buffer, Type::shared(element, type.getShape(), type.getEncoding(), type.getAllocShape()));
}

const TensorValue *bufferArgument(const CallSite &site, llvm::StringRef parameter) {
  const Value &value = site[parameter];
  if (value.isPoison())
    return nullptr;
  if (const TensorValue *tensor = value.tensor(); tensor && tensor->type.isShared())
    return tensor;
  site.emitter.error(diag::BufferExpected, site.rangeOf(parameter), site.builtin.name, parameter, describe(value));
  return nullptr;
}

namespace {

ttg::MemDescType memDescOf(const TensorValue &buffer) { return llvm::cast<ttg::MemDescType>(buffer.value.getType()); }

/// A layout of shared memory; null after an error.
Attribute sharedLayoutArgument(const CallSite &site, llvm::StringRef parameter) {
  const Value &given = site[parameter];
  const LayoutClass *layout = layoutClassOf(given);
  if (given.isPoison())
    return {};
  if (!layout || layout->kind != LayoutKind::Shared) {
    site.emitter.error(gluon::diag::SharedLayoutArgument, site.rangeOf(parameter), parameter,
                       shown(site.emitter, given));
    return {};
  }
  auto report = [&](std::string message) { site.emitter.error(diag::LayoutInvalid, site.rangeOf(parameter), message); };
  return encodingOf(builderOf(site).getContext(), given, report);
}

/// A buffer of that shape, a part of an allocation; null after an error.
ttg::MemDescType bufferType(const CallSite &site, llvm::ArrayRef<int64_t> shape, mlir::Type element, Attribute encoding,
                            llvm::ArrayRef<int64_t> allocation) {
  mlir::MLIRContext *context = builderOf(site).getContext();
  const Attribute memory = ttg::SharedMemoryAttr::get(context);
  return typeOrError(site, [&](ttg::ReportError emitError) -> mlir::FailureOr<ttg::MemDescType> {
    auto type = ttg::MemDescType::getChecked(emitError, context, shape, element, encoding, memory,
                                             /*mutableMemory=*/true, allocation);
    if (!type)
      return mlir::failure();
    return type;
  });
}

ttg::MemDescType wholeBuffer(const CallSite &site, const Type &element, llvm::ArrayRef<int64_t> shape,
                             Attribute encoding) {
  return bufferType(site, shape, element.toMlir(builderOf(site).getContext()), encoding, shape);
}

/// The element type of a buffer; nothing after an error.
std::optional<Type> elementArgument(const CallSite &site, llvm::StringRef parameter) {
  std::optional<Type> type = typeArgument(site, parameter);
  if (!type || (type->shape.empty() && !type->isPointer && type->scalar != Scalar::Void))
    return type;
  site.emitter.error(gluon::diag::BufferElement, site.rangeOf(parameter), type->str());
  return std::nullopt;
}

/// A tile of the buffer's shape and element type; nothing after an error.
std::optional<TensorValue> tileFor(const CallSite &site, llvm::StringRef parameter, const Type &buffer) {
  const Value value = tensorArgument(site, parameter);
  if (value.isPoison())
    return std::nullopt;
  const Type &type = value.tensor()->type;
  if (type.isTile() && type.scalar == buffer.scalar && !type.isPointer && type.shape == buffer.shape)
    return *value.tensor();
  site.emitter.error(gluon::diag::BufferTile, site.rangeOf(parameter), type.str(), buffer.str());
  return std::nullopt;
}

//--- allocation, loads and stores ----------------------------------------------------------

Value emitAllocate(const CallSite &site) {
  if (!site.emitter.module.isGluon)
    return site.emitter.error(diag::GluonOnly, site.range, site.builtin.name);
  std::optional<Type> element = elementArgument(site, "element_ty");
  auto shape = intsArgument(site, "shape");
  const Attribute encoding = element && shape ? sharedLayoutArgument(site, "layout") : Attribute();
  ttg::MemDescType type = encoding ? wholeBuffer(site, *element, *shape, encoding) : ttg::MemDescType();
  if (!type)
    return Value::poison();
  mlir::Value filledWith;
  if (!site["value"].isNone()) {
    std::optional<TensorValue> tile = tileFor(site, "value", Type::shared(element->scalar, *shape, encoding, *shape));
    if (!tile)
      return Value::poison();
    filledWith = tile->value;
  }
  auto op = ttg::LocalAllocOp::create(builderOf(site), locationOf(site), type, filledWith, mlir::IntegerAttr());
  return keepsRules(site, op) ? bufferValue(op, element->scalar) : Value::poison();
}

Value emitLoad(const CallSite &site) {
  const TensorValue *buffer = bufferArgument(site, "self");
  const Attribute layout = buffer ? tileLayoutArgument(site, "layout", buffer->type.shape) : Attribute();
  if (!layout)
    return Value::poison();
  const Type type = Type(buffer->type.scalar).withShape(buffer->type.shape).withLayout(layout);
  auto op = ttg::LocalLoadOp::create(builderOf(site), locationOf(site), type.toMlir(builderOf(site).getContext()),
                                     buffer->value);
  return keepsRules(site, op) ? Value::tensor(op, type) : Value::poison();
}

Value emitStore(const CallSite &site) {
  const TensorValue *buffer = bufferArgument(site, "self");
  std::optional<TensorValue> tile = buffer ? tileFor(site, "value", buffer->type) : std::nullopt;
  if (!tile)
    return Value::poison();
  auto op = ttg::LocalStoreOp::create(builderOf(site), locationOf(site), tile->value, buffer->value);
  return keepsRules(site, op) ? Value() : Value::poison();
}

Value emitKeepAlive(const CallSite &site) {
  if (const TensorValue *buffer = bufferArgument(site, "self"))
    ttg::LocalDeallocOp::create(builderOf(site), locationOf(site), buffer->value);
  return Value();
}

//--- views ---------------------------------------------------------------------------------

Value emitIndex(const CallSite &site) {
  const TensorValue *buffer = bufferArgument(site, "self");
  const Value index = buffer ? tensorArgument(site, "index") : Value::poison();
  if (index.isPoison())
    return Value::poison();
  if (!(index.tensor()->type == Type(Scalar::Int32)))
    return invalid(site, "the index is " + index.tensor()->type.str() + "; an int32 fits");
  const ttg::MemDescType type = memDescOf(*buffer);
  if (type.getShape().size() == ttg::laidOutShape(type).size())
    return invalid(site, "the layout of the buffer has all its " + std::to_string(type.getShape().size()) +
                             " dimensions; an index needs one in front of them, that counts buffers");
  auto op = ttg::MemDescIndexOp::create(builderOf(site), locationOf(site), buffer->value, index.tensor()->value);
  return keepsRules(site, op) ? bufferValue(op, buffer->type.scalar) : Value::poison();
}

Value emitSlice(const CallSite &site) {
  const TensorValue *buffer = bufferArgument(site, "self");
  auto start = intArgument(site, "start"), length = intArgument(site, "length"), dim = intArgument(site, "dim");
  if (!buffer || !start || !length || !dim)
    return Value::poison();
  const ttg::MemDescType whole = memDescOf(*buffer);
  const int64_t rank = whole.getShape().size();
  if (*dim < 0 || *dim >= rank)
    return invalid(site, "dim is " + std::to_string(*dim) + "; the buffer has " + std::to_string(rank) + " dimensions");
  llvm::SmallVector<int64_t> shape(whole.getShape());
  if (*length <= 0 || *start < 0 || *length > shape[*dim] || *start > shape[*dim] - *length)
    return invalid(site, "a slice of " + std::to_string(*length) + " from " + std::to_string(*start) +
                             " on leaves dimension " + std::to_string(*dim) + " of " + std::to_string(shape[*dim]));
  llvm::SmallVector<int32_t> offsets(rank, 0);
  offsets[*dim] = *start;
  shape[*dim] = *length;
  const ttg::MemDescType part =
      bufferType(site, shape, whole.getElementType(), whole.getEncoding(), whole.getAllocShape());
  if (!part)
    return Value::poison();
  auto op = ttg::MemDescSubsliceOp::create(builderOf(site), locationOf(site), part, buffer->value, offsets);
  return keepsRules(site, op) ? bufferValue(op, buffer->type.scalar) : Value::poison();
}

Value emitPermute(const CallSite &site) {
  const TensorValue *buffer = bufferArgument(site, "self");
  auto order = intsArgument(site, "order");
  if (!buffer || !order)
    return Value::poison();
  const llvm::SmallVector<int32_t> dims(order->begin(), order->end());
  const ttg::MemDescType type = typeOrError(
      site, [&](ttg::ReportError emitError) { return ttg::transposedBuffer(emitError, memDescOf(*buffer), dims); });
  if (!type)
    return Value::poison();
  auto op = ttg::MemDescTransOp::create(builderOf(site), locationOf(site), type, buffer->value, dims);
  return keepsRules(site, op) ? bufferValue(op, buffer->type.scalar) : Value::poison();
}

Value emitReshape(const CallSite &site) {
  const TensorValue *buffer = bufferArgument(site, "self");
  auto shape = intsArgument(site, "shape");
  if (!buffer || !shape)
    return Value::poison();
  const ttg::MemDescType type = typeOrError(
      site, [&](ttg::ReportError emitError) { return ttg::reshapedBuffer(emitError, memDescOf(*buffer), *shape); });
  if (!type)
    return Value::poison();
  auto op = ttg::MemDescReshapeOp::create(builderOf(site), locationOf(site), type, buffer->value);
  return keepsRules(site, op) ? bufferValue(op, buffer->type.scalar) : Value::poison();
}

Value emitReinterpret(const CallSite &site) {
  const TensorValue *buffer = bufferArgument(site, "self");
  if (!buffer)
    return Value::poison();
  std::optional<Type> element = site["dtype"].isNone() ? Type(buffer->type.scalar) : elementArgument(site, "dtype");
  llvm::SmallVector<int64_t> shape(buffer->type.shape.begin(), buffer->type.shape.end());
  if (!site["shape"].isNone()) {
    auto given = intsArgument(site, "shape");
    if (!given)
      return Value::poison();
    shape = *given;
  }
  const Attribute encoding = site["layout"].isNone() ? buffer->type.layout : sharedLayoutArgument(site, "layout");
  const ttg::MemDescType type = element && encoding ? wholeBuffer(site, *element, shape, encoding) : ttg::MemDescType();
  if (!type)
    return Value::poison();
  auto op = ttg::MemDescReinterpretOp::create(builderOf(site), locationOf(site), type, buffer->value);
  return keepsRules(site, op) ? bufferValue(op, element->scalar) : Value::poison();
}

} // namespace

llvm::ArrayRef<Builtin> gluonSharedBuiltins() {
  static const llvm::SmallVector<BuiltinParam, 4> reinterpreted = {
      {"self"}, {"dtype", "None"}, {"shape", "None"}, {"layout", "None"}};
  static const Builtin table[] = {
      {"allocate_shared_memory",
       gluonModule,
       {{"element_ty"}, {"shape"}, {"layout"}, {"value", "None"}},
       "A buffer in shared memory, filled with a tile if one is given.",
       emitAllocate},
      {"load",
       sharedMemoryModule,
       {{"self"}, {"layout"}},
       "The buffer's elements as a tile in a layout.",
       emitLoad,
       true},
      {"store", sharedMemoryModule, {{"self"}, {"value"}}, "Writes a tile to the buffer.", emitStore, true},
      {"index",
       sharedMemoryModule,
       {{"self"}, {"index"}},
       "One of the buffers that the first dimension counts.",
       emitIndex,
       true},
      {"slice",
       sharedMemoryModule,
       {{"self"}, {"start"}, {"length"}, {"dim", "0"}},
       "A part of the buffer along one dimension.",
       emitSlice,
       true},
      {"permute",
       sharedMemoryModule,
       {{"self"}, {"order"}},
       "The buffer with its dimensions in another order.",
       emitPermute,
       true},
      {"reshape",
       sharedMemoryModule,
       {{"self"}, {"shape"}},
       "The buffer with its elements in another shape.",
       emitReshape,
       true},
      {"reinterpret", sharedMemoryModule, reinterpreted, "The bytes of the buffer as another type, shape or layout.",
       emitReinterpret, true},
      {"_reinterpret", sharedMemoryModule, reinterpreted, "`reinterpret` by its former name.", emitReinterpret, true},
      {"_keep_alive",
       sharedMemoryModule,
       {{"self"}},
       "Keeps the buffer's memory from being reused before here.",
       emitKeepAlive,
       true},
  };
  return table;
}

} // namespace nereid::sema
