// Makes tensor maps of descriptors: of a kernel's arguments, and of those that it creates.
// SPDX-License-Identifier: MIT
#include "compiler/target/nvidia/passes/maps/DescriptorFields.h"

#include "compiler/dialect/tt/Elements.h"
#include "compiler/target/nvidia/dialect/Dialect.h"
#include "compiler/target/nvidia/dialect/HostTensorMaps.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace nereid;
using namespace nereid::nvidia;
using tt::TensorDescType;

static Type mapType(MLIRContext *context) { return tt::PointerType::get(IntegerType::get(context, 8)); }

static Value createMap(OpBuilder &builder, Location loc, TensorDescType type, Value base, ValueRange shape,
                       ValueRange strides, Value nan, Value tf32) {
  const RankedTensorType block = type.getBlockType();
  const bool isUnsigned = block.getElementType().isUnsignedInteger();
  return ttng::MakeTensorMapOp::create(builder, loc, mapType(builder.getContext()), base, shape, strides, nan, tf32,
                                       Value(), builder.getDenseI64ArrayAttr(block.getShape()),
                                       isUnsigned ? builder.getUnitAttr() : UnitAttr(), IntegerAttr(),
                                       block.getEncoding());
}

void nvidia::takeFields(tt::FuncOp kernel, ChoosesType isChosen) {
  OpBuilder builder(kernel.getContext());
  builder.setInsertionPointToStart(&kernel.getBody().front());
  auto divisible = [&](int64_t by) {
    return builder.getDictionaryAttr(builder.getNamedAttr("tt.divisibility", builder.getI32IntegerAttr(by)));
  };
  for (unsigned index = 0; index < kernel.getNumArguments(); ++index) {
    BlockArgument argument = kernel.getArgument(index);
    auto type = dyn_cast<TensorDescType>(argument.getType());
    if (!type || !isChosen(type))
      continue;
    const unsigned rank = type.getBlockType().getRank();
    const int64_t bytes = tt::storageBytes(type.getTileType().getElementType());
    SmallVector<Type> parts(2 * rank, builder.getI64Type());
    parts.insert(parts.begin(), tt::PointerType::get(type.getTileType().getElementType()));
    parts.append(2, builder.getI1Type());
    SmallVector<DictionaryAttr> attributes(parts.size(), builder.getDictionaryAttr({}));
    attributes[0] = divisible(ttng::kTensorMapAlignBytes);
    for (unsigned dim = 0; dim + 1 < rank; ++dim)
      attributes[1 + rank + dim] = divisible(std::max<int64_t>(1, ttng::kTensorMapAlignBytes / bytes));
    const SmallVector<Location> locations(parts.size(), argument.getLoc());
    (void)kernel.insertArguments(SmallVector<unsigned>(parts.size(), index), parts, attributes, locations);
    const ValueRange values = kernel.getArguments().slice(index, parts.size());
    Value tensorMap = createMap(builder, argument.getLoc(), type, values[0], values.slice(1, rank),
                                values.slice(1 + rank, rank), values[1 + 2 * rank], values[2 + 2 * rank]);
    argument.replaceAllUsesWith(tensorMap);
    (void)kernel.eraseArgument(index + parts.size());
    index += parts.size() - 1;
  }
}

void nvidia::takeTensorMaps(tt::FuncOp kernel, ChoosesType isChosen) {
  OpBuilder builder(kernel.getContext());
  for (unsigned index = 0; index < kernel.getNumArguments(); ++index) {
    BlockArgument argument = kernel.getArgument(index);
    auto type = dyn_cast<TensorDescType>(argument.getType());
    if (!type || !isChosen(type))
      continue;
    auto block = TypeAttr::get(type.getBlockType());
    auto marked = builder.getDictionaryAttr(builder.getNamedAttr(ttng::kTensorMap, block));
    (void)kernel.insertArgument(index, mapType(kernel.getContext()), marked, argument.getLoc());
    argument.replaceAllUsesWith(kernel.getArgument(index));
    (void)kernel.eraseArgument(index + 1);
  }
}

void nvidia::makeTensorMap(tt::MakeTensorDescOp make) {
  OpBuilder builder(make);
  const Location loc = make.getLoc();
  SmallVector<Value> shape;
  for (Value extent : make.getShape())
    shape.push_back(arith::ExtSIOp::create(builder, loc, builder.getI64Type(), extent));
  auto flag = [&](bool truth) -> Value { return arith::ConstantIntOp::create(builder, loc, truth, 1); };
  Value tensorMap = createMap(builder, loc, make.getType(), make.getBase(), shape, make.getStrides(),
                              flag(make.getPadding() == tt::PaddingOption::PAD_NAN), flag(false));
  make.getResult().replaceAllUsesWith(tensorMap);
  make.erase();
}
