// Reads recipes of tensor maps and launch conditions from a kernel's attributes.
// SPDX-License-Identifier: MIT
#include "compiler/target/nvidia/LaunchRecipes.h"
#include "compiler/dialect/tt/Elements.h"

#include "compiler/target/nvidia/dialect/Dialect.h"
#include "compiler/target/nvidia/dialect/HostTensorMaps.h"
#include "compiler/target/nvidia/lowering/TmaEmitter.h"

using namespace mlir;
using namespace nereid;

/// CUDA driver API, CUtensorMapDataType: PTX's numbers but for two. Padding is zero, so integers count as unsigned.
static uint32_t driverCode(Type element) {
  enum : uint32_t { Float64 = 8, BFloat16 = 9 };
  if (element.isF64())
    return Float64;
  return element.isBF16() ? BFloat16 : nvidia::elementCode(element, /*isUnsigned=*/true);
}

static artifact::LaunchExpression expression(Attribute words) {
  const ArrayRef<int64_t> code = cast<DenseI64ArrayAttr>(words).asArrayRef();
  return {{code.begin(), code.end()}};
}

static artifact::TensorMapRecipe recipeOf(RankedTensorType block, ArrayAttr recipe) {
  const unsigned rank = block.getRank();
  artifact::TensorMapRecipe tensorMap;
  tensorMap.base = expression(recipe[0]);
  for (unsigned dim = 0; dim < rank; ++dim)
    tensorMap.extents.push_back(expression(recipe[1 + dim]));
  for (unsigned dim = 1; dim < rank; ++dim)
    tensorMap.strides.push_back(expression(recipe[rank + dim]));
  const ttng::MapShape shape = ttng::mapShapeOf(block);
  tensorMap.swizzleBytes = shape.swizzleBytes;
  for (int64_t extent : llvm::reverse(shape.box))
    tensorMap.box.push_back(extent);
  tensorMap.elementType = driverCode(block.getElementType());
  tensorMap.elementBytes = tt::storageBytes(block.getElementType());
  return tensorMap;
}

std::vector<artifact::TensorMapRecipe> nvidia::tensorMapRecipes(tt::FuncOp kernel) {
  std::vector<artifact::TensorMapRecipe> recipes;
  for (unsigned index = 0; index < kernel.getNumArguments(); ++index)
    if (auto recipe = kernel.getArgAttrOfType<ArrayAttr>(index, ttng::kRecipe)) {
      auto block = kernel.getArgAttrOfType<TypeAttr>(index, ttng::kTensorMap);
      recipes.push_back(recipeOf(cast<RankedTensorType>(block.getValue()), recipe));
    }
  return recipes;
}

std::vector<artifact::LaunchExpression> nvidia::launchConditions(tt::FuncOp kernel) {
  std::vector<artifact::LaunchExpression> conditions;
  if (auto all = kernel->getAttrOfType<ArrayAttr>(ttng::kConditions))
    llvm::transform(all, std::back_inserter(conditions), expression);
  return conditions;
}
