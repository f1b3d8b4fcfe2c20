// Derives from a kernel's arguments how TMA uses the tensor maps that the host makes.
// SPDX-License-Identifier: MIT
#include "compiler/target/nvidia/HostTensorMapJson.h"
#include "compiler/dialect/tt/Elements.h"

#include "compiler/target/nvidia/dialect/Dialect.h"
#include "compiler/target/nvidia/dialect/HostTensorMaps.h"
#include "compiler/target/nvidia/lowering/TmaEmitter.h"

#include "llvm/Support/JSON.h"

using namespace mlir;
using namespace nereid;

static llvm::json::Object describe(RankedTensorType block) {
  Type element = block.getElementType();
  const ttng::MapShape shape = ttng::mapShapeOf(block);
  return llvm::json::Object{{"block_size", llvm::json::Array(shape.box)},
                            {"elem_size", tt::storageBytes(element)},
                            {"elem_type", nvidia::elementCode(element, element.isUnsignedInteger())},
                            {"swizzle", nvidia::swizzleMode(shape.swizzleBytes)},
                            {"fp4_padded", false},
                            {"is_im2col", false}};
}

std::string nvidia::describeHostTensorMaps(ModuleOp module) {
  llvm::json::Array maps;
  for (auto function : module.getOps<tt::FuncOp>())
    for (unsigned index = 0; index < function.getNumArguments(); ++index)
      if (auto block = function.getArgAttrOfType<TypeAttr>(index, ttng::kTensorMap);
          block && !function.getArgAttr(index, ttng::kRecipe)) // the launcher makes those with a recipe
        maps.push_back(describe(cast<RankedTensorType>(block.getValue())));
  std::string text;
  if (!maps.empty())
    llvm::raw_string_ostream(text) << llvm::json::Value(std::move(maps));
  return text;
}
