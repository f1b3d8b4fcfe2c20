// Turns the hints of a loop's attributes into LLVM's loop metadata.
// SPDX-License-Identifier: MIT
#include "compiler/lowering/LoopHints.h"

#include "compiler/dialect/imported/Dialect.h"
#include "compiler/dialect/tt/LoopAttributes.h"

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Operation.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/Instruction.h"
#include "llvm/IR/Metadata.h"

using namespace nereid;
using imported::LoopHintAttr;

static mlir::Attribute fieldOf(mlir::Attribute hint, llvm::StringRef name) {
  auto fields = llvm::dyn_cast_or_null<LoopHintAttr>(hint);
  for (auto [field, value] : fields ? fields.getFields() : llvm::ArrayRef<LoopHintAttr::Field>())
    if (field.getValue() == name)
      return value;
  return {};
}

static bool forbidsHoisting(mlir::Operation *loop) {
  auto disable = llvm::dyn_cast_or_null<mlir::BoolAttr>(
      fieldOf(fieldOf(loop->getAttr("llvm.loop_annotation"), "licm"), "disable"));
  return disable && disable.getValue();
}

void lowering::attachLoopHints(mlir::Operation *loop, llvm::Instruction *latch) {
  llvm::LLVMContext &context = latch->getContext();
  llvm::SmallVector<llvm::Metadata *> hints{nullptr}; // the first operand is the node itself
  if (forbidsHoisting(loop))
    hints.push_back(llvm::MDNode::get(context, llvm::MDString::get(context, "llvm.licm.disable")));
  if (auto factor = loop->getAttrOfType<mlir::IntegerAttr>(tt::kLoopUnrollFactor); factor && factor.getInt() > 0) {
    auto *count = llvm::ConstantInt::get(llvm::Type::getInt32Ty(context), static_cast<uint64_t>(factor.getInt()));
    hints.push_back(llvm::MDNode::get(
        context, {llvm::MDString::get(context, "llvm.loop.unroll.count"), llvm::ConstantAsMetadata::get(count)}));
  }
  if (hints.size() == 1)
    return;
  llvm::MDNode *node = llvm::MDNode::getDistinct(context, hints);
  node->replaceOperandWith(0, node);
  latch->setMetadata(llvm::LLVMContext::MD_loop, node);
}
