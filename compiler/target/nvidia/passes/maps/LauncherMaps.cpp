// Writes recipes and conditions as attributes of a kernel.
// SPDX-License-Identifier: MIT
#include "compiler/target/nvidia/passes/maps/LauncherMaps.h"

#include "compiler/target/nvidia/dialect/HostTensorMaps.h"

#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace nereid;
using namespace nereid::nvidia;

unsigned nvidia::countMapArguments(tt::FuncOp kernel) {
  return llvm::count_if(llvm::seq(kernel.getNumArguments()),
                        [&](unsigned index) { return bool(kernel.getArgAttr(index, ttng::kTensorMap)); });
}

Value nvidia::addMapArgument(tt::FuncOp kernel, const MapRecipe &recipe, Location loc) {
  Builder builder(kernel.getContext());
  SmallVector<Attribute> words = {builder.getDenseI64ArrayAttr(recipe.base)};
  for (const LaunchCode &extent : recipe.extents)
    words.push_back(builder.getDenseI64ArrayAttr(extent));
  for (const LaunchCode &stride : recipe.strides)
    words.push_back(builder.getDenseI64ArrayAttr(stride));
  const NamedAttribute attributes[] = {builder.getNamedAttr(ttng::kTensorMap, TypeAttr::get(recipe.block)),
                                       builder.getNamedAttr(ttng::kRecipe, builder.getArrayAttr(words))};
  auto dictionary = builder.getDictionaryAttr(attributes);
  for (unsigned index = 0; index < kernel.getNumArguments(); ++index)
    if (kernel.getArgAttrDict(index) == dictionary)
      return kernel.getArgument(index);
  const unsigned index = kernel.getNumArguments();
  (void)kernel.insertArgument(index, tt::PointerType::get(builder.getI8Type()), dictionary, loc);
  return kernel.getArgument(index);
}

void nvidia::addLaunchConditions(tt::FuncOp kernel, ArrayRef<LaunchCode> conditions) {
  Builder builder(kernel.getContext());
  SmallVector<Attribute> all;
  if (auto known = kernel->getAttrOfType<ArrayAttr>(ttng::kConditions))
    llvm::append_range(all, known);
  for (const LaunchCode &condition : conditions)
    if (Attribute words = builder.getDenseI64ArrayAttr(condition); !llvm::is_contained(all, words))
      all.push_back(words);
  if (!all.empty())
    kernel->setAttr(ttng::kConditions, builder.getArrayAttr(all));
}
