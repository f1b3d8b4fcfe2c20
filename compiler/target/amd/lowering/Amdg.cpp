// Emits ops of `amdg`: parts of tiles, e2m1 unpacked, hints to the scheduler of instructions.
// SPDX-License-Identifier: MIT
#include "compiler/lowering/TtgToLlvm/OpEmitters.h"
#include "compiler/lowering/TtgToLlvm/RegisterMap.h"
#include "compiler/lowering/TtgToLlvm/TtgFunctionEmitter.h"
#include "compiler/target/amd/dialect/Dialect.h"
#include "compiler/target/amd/lowering/AmdEmitter.h"

#include "llvm/IR/IntrinsicsAMDGPU.h"

using namespace mlir;
using namespace nereid;
using namespace nereid::lowering;
using layout::LinearLayout;

static LogicalResult emitExtractSlice(TtgFunctionEmitter &emitter, amdg::ExtractSliceOp op) {
  const RegisterMap whole(cast<RankedTensorType>(op.getSource().getType())), part(cast<RankedTensorType>(op.getType()));
  Tile result;
  for (unsigned index = 0; index < part.size(); ++index) {
    LinearLayout::Coordinates at = part.coordinates(index);
    for (auto [coordinate, offset] : llvm::zip_equal(at, op.getStaticOffsets()))
      coordinate += offset;
    result.push_back(emitter.tile(op.getSource())[whole.at(at)]);
  }
  emitter.define(op, std::move(result));
  return success();
}

/// The value of e2m1 code `nibble` (an i8 below 16): exponent and mantissa at the low end of an f16's exponent, too
/// small by the difference of the biases.
static llvm::Value *widenE2m1(IrBuilder &ir, llvm::Value *nibble) {
  constexpr double biasDifference = 0x1p14;
  llvm::Value *code = ir.CreateZExt(nibble, ir.getInt16Ty());
  llvm::Value *bits = ir.CreateOr(ir.CreateShl(ir.CreateAnd(code, 7), 9), ir.CreateShl(ir.CreateAnd(code, 8), 12));
  return ir.CreateFMul(ir.CreateFPExt(ir.CreateBitCast(bits, ir.getHalfTy()), ir.getFloatTy()),
                       llvm::ConstantFP::get(ir.getFloatTy(), biasDifference));
}

static LogicalResult emitUnpackFp4(TtgFunctionEmitter &emitter, amdg::UnpackFp4Op op) {
  IrBuilder &ir = emitter.ir;
  const unsigned axis = op.getAxis();
  const RegisterMap bytes(cast<RankedTensorType>(op.getInput().getType())),
      values(cast<RankedTensorType>(op.getType()));
  Tile result;
  for (unsigned index = 0; index < values.size(); ++index) {
    LinearLayout::Coordinates at = values.coordinates(index);
    const bool isHigh = at[axis] % 2;
    at[axis] /= 2;
    llvm::Value *byte = emitter.tile(op.getInput())[bytes.at(at)];
    result.push_back(widenE2m1(ir, isHigh ? ir.CreateLShr(byte, 4) : ir.CreateAnd(byte, 15)));
  }
  emitter.define(op, std::move(result));
  return success();
}

//--- hints ---------------------------------------------------------------------------------

static LogicalResult emitSchedBarrier(TtgFunctionEmitter &emitter, amdg::SchedBarrierOp op) {
  emitter.ir.CreateIntrinsic(llvm::Intrinsic::amdgcn_sched_barrier, {}, {emitter.ir.getInt32(op.getMask())});
  return success();
}

static LogicalResult emitSchedGroupBarrier(TtgFunctionEmitter &emitter, amdg::SchedGroupBarrierOp op) {
  IrBuilder &ir = emitter.ir;
  ir.CreateIntrinsic(llvm::Intrinsic::amdgcn_sched_group_barrier, {},
                     {ir.getInt32(op.getMask()), ir.getInt32(op.getSize()), ir.getInt32(op.getSync())});
  return success();
}

static LogicalResult emitSetPriority(TtgFunctionEmitter &emitter, amdg::SetPriorityOp op) {
  emitter.ir.CreateIntrinsic(llvm::Intrinsic::amdgcn_s_setprio, {}, {emitter.ir.getInt16(op.getPriority())});
  return success();
}

static LogicalResult emitSchedOption(TtgFunctionEmitter &emitter, amdg::SchedOptionOp op) {
  emitter.ir.CreateIntrinsic(llvm::Intrinsic::amdgcn_iglp_opt, {}, {emitter.ir.getInt32(op.getOption())});
  return success();
}

void amd::addAmdgEmitters(OpEmitters &table) {
  table.add<emitExtractSlice, amdg::ExtractSliceOp>();
  table.add<emitUnpackFp4, amdg::UnpackFp4Op>();
  table.add<emitSchedBarrier, amdg::SchedBarrierOp>();
  table.add<emitSchedGroupBarrier, amdg::SchedGroupBarrierOp>();
  table.add<emitSetPriority, amdg::SetPriorityOp>();
  table.add<emitSchedOption, amdg::SchedOptionOp>();
}
