// The few ops and attributes of other dialects that imported kernels contain, under their usual names:
// `llvm.intr.assume`, the `#llvm.loop_*` attributes and `gpu.barrier`.
// SPDX-License-Identifier: MIT
//
// MLIR's own LLVM and GPU dialects register hundreds of ops that no kernel uses. They would have to be linked and
// loaded for one op each.
#pragma once

#include "mlir/IR/Attributes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace nereid::imported {

//--- llvm ----------------------------------------------------------------------------------

/// `#llvm.loop_licm<disable = true, ...>`, `#llvm.loop_annotation<licm = #loop_licm>`: named fields, printed in the
/// order in which they were parsed.
class LoopHintAttr : public mlir::Attribute::AttrBase<LoopHintAttr, mlir::Attribute, struct LoopHintStorage> {
public:
  using Base::Base;
  static constexpr llvm::StringLiteral name = "llvm.loop_hint";

  using Field = std::pair<mlir::StringAttr, mlir::Attribute>;
  /// `mnemonic` is "loop_annotation", "loop_licm" ...
  static LoopHintAttr get(mlir::StringAttr mnemonic, llvm::ArrayRef<Field> fields);
  mlir::StringAttr getMnemonic() const;
  llvm::ArrayRef<Field> getFields() const;
};

class LlvmDialect : public mlir::Dialect {
public:
  explicit LlvmDialect(mlir::MLIRContext *context);
  static llvm::StringRef getDialectNamespace() { return "llvm"; }
  mlir::Attribute parseAttribute(mlir::DialectAsmParser &parser, mlir::Type type) const override;
  void printAttribute(mlir::Attribute attribute, mlir::DialectAsmPrinter &printer) const override;
};

/// Assumes that a condition is true. It has a write effect, as in MLIR's LLVM dialect, so that it is neither moved nor
/// erased.
class AssumeOp : public mlir::Op<AssumeOp, mlir::OpTrait::OneOperand, mlir::OpTrait::ZeroResults,
                                 mlir::OpTrait::ZeroRegions, mlir::OpTrait::ZeroSuccessors, mlir::OpTrait::OpInvariants,
                                 mlir::MemoryEffectOpInterface::Trait> {
public:
  using Op::Op;
  static llvm::StringRef getOperationName() { return "llvm.intr.assume"; }
  static llvm::ArrayRef<llvm::StringRef> getAttributeNames() { return {}; }
  static void build(mlir::OpBuilder &, mlir::OperationState &state, mlir::Value condition);
  static AssumeOp create(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value condition);

  mlir::Value getCondition() { return getOperand(); }
  llvm::LogicalResult verifyInvariantsImpl();
  llvm::LogicalResult verifyInvariants() { return verifyInvariantsImpl(); }
  static mlir::ParseResult parse(mlir::OpAsmParser &parser, mlir::OperationState &result);
  void print(mlir::OpAsmPrinter &printer);
  void getEffects(llvm::SmallVectorImpl<mlir::SideEffects::EffectInstance<mlir::MemoryEffects::Effect>> &effects);
};

//--- gpu -----------------------------------------------------------------------------------

class GpuDialect : public mlir::Dialect {
public:
  explicit GpuDialect(mlir::MLIRContext *context);
  static llvm::StringRef getDialectNamespace() { return "gpu"; }
};

/// Waits for all threads of a CTA. Earlier versions of Triton print it for `debug_barrier`.
class BarrierOp : public mlir::Op<BarrierOp, mlir::OpTrait::ZeroOperands, mlir::OpTrait::ZeroResults,
                                  mlir::OpTrait::ZeroRegions, mlir::OpTrait::ZeroSuccessors> {
public:
  using Op::Op;
  static llvm::StringRef getOperationName() { return "gpu.barrier"; }
  static llvm::ArrayRef<llvm::StringRef> getAttributeNames() { return {}; }
  static void build(mlir::OpBuilder &, mlir::OperationState &) {}

  static mlir::ParseResult parse(mlir::OpAsmParser &parser, mlir::OperationState &result);
  void print(mlir::OpAsmPrinter &printer);
};

} // namespace nereid::imported

MLIR_DECLARE_EXPLICIT_TYPE_ID(nereid::imported::LlvmDialect)
MLIR_DECLARE_EXPLICIT_TYPE_ID(nereid::imported::LoopHintAttr)
MLIR_DECLARE_EXPLICIT_TYPE_ID(nereid::imported::AssumeOp)
MLIR_DECLARE_EXPLICIT_TYPE_ID(nereid::imported::GpuDialect)
MLIR_DECLARE_EXPLICIT_TYPE_ID(nereid::imported::BarrierOp)
