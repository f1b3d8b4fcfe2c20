// Gluon's TMA copies: descriptors with a layout, loads, stores, reductions and the waits for them.
// SPDX-License-Identifier: MIT
#include "compiler/sema/Diagnostics.h"
#include "compiler/sema/builtins/Records.h"
#include "compiler/sema/gluon/Layouts.h"
#include "compiler/sema/gluon/nvidia/Operands.h"

namespace nereid::sema {
namespace {

/// A descriptor with a layout; null after an error.
const TensorValue *descriptorArgument(const CallSite &site) {
  const Value &value = site["tensor_desc"];
  if (const std::vector<Value> *parts = value.partsOf(descriptorClass()))
    if (const TensorValue *handle = (*parts)[DescriptorField::Handle].tensor(); handle->type.layout)
      return handle;
  if (!value.isPoison())
    site.emitter.error(diag::DescriptorExpected, site.rangeOf("tensor_desc"), site.builtin.name, describe(value));
  return nullptr;
}

std::optional<llvm::SmallVector<mlir::Value>> coordinates(const CallSite &site) {
  const SourceRange range = site.rangeOf("coord");
  auto elements = site.emitter.elementsOf(site["coord"], range);
  if (!elements)
    return std::nullopt;
  llvm::SmallVector<mlir::Value> values;
  for (const Value &element : *elements) {
    const Value index = site.emitter.cast(element, Type(Scalar::Int32), range);
    if (!index.tensor())
      return std::nullopt;
    values.push_back(index.tensor()->value);
  }
  return values;
}

Value emitTmaLoad(const CallSite &site) {
  const TensorValue *descriptor = checkLanguage(site) ? descriptorArgument(site) : nullptr;
  const TensorValue *barrier = descriptor ? barrierArgument(site, "barrier") : nullptr;
  const TensorValue *buffer = barrier ? bufferArgument(site, "result") : nullptr;
  auto coord = buffer ? coordinates(site) : std::nullopt;
  mlir::Value where = coord ? scalarArgument(site, "pred", Scalar::Int1) : mlir::Value();
  auto isMulticast = boolArgument(site, "multicast");
  if (!where || !isMulticast)
    return Value::poison();
  if (*isMulticast && ttg::numCtasOf(site.emitter.module.op) > 1)
    return site.emitter.error(diag::MulticastCopy, site.rangeOf("multicast"));
  return emitChecked<ttng::AsyncTmaCopyGlobalToLocalOp>(site, descriptor->value, *coord, barrier->value, buffer->value,
                                                        where, mlir::DenseI64ArrayAttr(), tt::EvictionPolicy::NORMAL);
}

Value emitTmaStore(const CallSite &site) {
  const TensorValue *descriptor = checkLanguage(site) ? descriptorArgument(site) : nullptr;
  const TensorValue *buffer = descriptor ? bufferArgument(site, "src") : nullptr;
  auto coord = buffer ? coordinates(site) : std::nullopt;
  if (!coord)
    return Value::poison();
  return emitChecked<ttng::AsyncTmaCopyLocalToGlobalOp>(site, descriptor->value, *coord, buffer->value,
                                                        mlir::DenseI64ArrayAttr(), tt::DescriptorReduceKindAttr(),
                                                        mlir::UnitAttr(), mlir::UnitAttr());
}

Value emitTmaReduce(const CallSite &site) {
  const TensorValue *descriptor = checkLanguage(site) ? descriptorArgument(site) : nullptr;
  const TensorValue *buffer = descriptor ? bufferArgument(site, "src") : nullptr;
  auto coord = buffer ? coordinates(site) : std::nullopt;
  llvm::StringRef name = site.builtin.name;
  name.consume_front("async_atomic_");
  const auto kind = tt::symbolizeDescriptorReduceKind(name);
  if (!coord || !kind)
    return Value::poison();
  return emitChecked<ttng::AsyncTmaReduceOp>(site, *kind, descriptor->value, *coord, buffer->value);
}

Value emitTmaStoreWait(const CallSite &site) {
  auto count = checkLanguage(site) ? intArgument(site, "pendings") : std::nullopt;
  auto isRead = boolArgument(site, "read_only");
  if (!count || !isRead)
    return Value::poison();
  if (*count < 0 || *count > INT32_MAX)
    return site.emitter.error(diag::OutstandingGroups, site.rangeOf("pendings"), *count);
  return emitChecked<ttng::AsyncTmaStoreWaitOp>(site, mlir::ValueRange(), uint32_t(*count), *isRead);
}

/// As Triton's, with the layout of its blocks.
Value emitMakeDescriptor(const CallSite &site) {
  if (!checkLanguage(site))
    return Value::poison();
  auto block = intsArgument(site, "block_shape");
  if (!block)
    return Value::poison();
  auto report = [&](std::string message) { site.emitter.error(diag::LayoutInvalid, site.rangeOf("layout"), message); };
  const mlir::Attribute layout = encodingOf(builderOf(site).getContext(), site["layout"], report);
  if (!layout)
    return Value::poison();
  auto encoding = llvm::dyn_cast<ttg::NvmmaSharedAttr>(layout);
  if (!encoding)
    return site.emitter.error(diag::DescriptorLayout, site.rangeOf("layout"), layoutText(layout));
  return makeDescriptor(site, encoding);
}

const llvm::SmallVector<BuiltinParam, 4> kLoad = {{"tensor_desc"}, {"coord"},        {"barrier"},
                                                  {"result"},      {"pred", "True"}, {"multicast", "False"}};
const llvm::SmallVector<BuiltinParam, 4> kStore = {{"tensor_desc"}, {"coord"}, {"src"}};

} // namespace

llvm::ArrayRef<Builtin> gluonTmaBuiltins() {
  static const std::vector<Builtin> table = [] {
    static constexpr llvm::StringLiteral module = "triton.experimental.gluon.language.nvidia.hopper.tma";
    std::vector<Builtin> rows;
    for (llvm::StringRef name : {"async_load", "async_copy_global_to_shared"})
      rows.push_back(
          {name, module, kLoad, "Starts a copy of a block to a buffer; a barrier counts its bytes.", emitTmaLoad});
    for (llvm::StringRef name : {"async_store", "async_copy_shared_to_global"})
      rows.push_back(
          {name, module, kStore, "Starts a copy of a buffer to a block, as a group of its own.", emitTmaStore});
    for (llvm::StringRef name : {"async_atomic_add", "async_atomic_min", "async_atomic_max", "async_atomic_and",
                                 "async_atomic_or", "async_atomic_xor"})
      rows.push_back(
          {name, module, kStore, "Combines a block with a buffer atomically, element by element.", emitTmaReduce});
    rows.push_back({"store_wait",
                    module,
                    {{"pendings"}, {"read_only", "True"}},
                    "Waits until that many of the last stores are left; with read_only, until they have read their "
                    "buffers.",
                    emitTmaStoreWait});
    rows.push_back({"make_tensor_descriptor",
                    module,
                    {{"base"}, {"shape"}, {"strides"}, {"block_shape"}, {"layout"}, {"padding_option", "\"zero\""}},
                    "Describes a strided array, whose blocks are copied to buffers of a layout.",
                    emitMakeDescriptor});
    return rows;
  }();
  return table;
}

} // namespace nereid::sema
