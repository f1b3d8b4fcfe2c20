// Accesses to buffers, and loads from global memory into shared memory.
// SPDX-License-Identifier: MIT
//
// A descriptor is only followed back to where it was makeCall; base and size go to each access.
#include "compiler/target/sim/InlineAssembly.h"
#include "compiler/target/sim/Intrinsics.h"

#include "llvm/IR/IntrinsicsAMDGPU.h"
#include "llvm/IR/IntrinsicsNVPTX.h"

using namespace nereid;
using namespace nereid::sim;
using namespace llvm;

namespace {
struct Buffer {
  Value *base = nullptr;  ///< 64 bits
  Value *bytes = nullptr; ///< 32 bits
};
} // namespace

/// The base and size of a buffer by its descriptor; null where the op that makes it is not known. Descriptors are the
/// same in all lanes.
static Buffer bufferOf(IRBuilder<> &ir, Value *descriptor) {
  if (auto *chosen = dyn_cast<SelectInst>(descriptor)) {
    const Buffer first = bufferOf(ir, chosen->getTrueValue()), second = bufferOf(ir, chosen->getFalseValue());
    if (!first.base || !second.base)
      return {};
    return {ir.CreateSelect(chosen->getCondition(), first.base, second.base),
            ir.CreateSelect(chosen->getCondition(), first.bytes, second.bytes)};
  }
  auto *makeCall = dyn_cast<IntrinsicInst>(descriptor);
  if (!makeCall || makeCall->getIntrinsicID() != Intrinsic::amdgcn_make_buffer_rsrc)
    return {};
  const auto *stride = dyn_cast<ConstantInt>(makeCall->getArgOperand(1));
  if (!stride || !stride->isZero()) // structured buffers
    return {};
  Value *limit = ir.getInt64(UINT32_MAX), *bytes = ir.CreateZExtOrTrunc(makeCall->getArgOperand(2), ir.getInt64Ty());
  return {ir.CreatePtrToInt(makeCall->getArgOperand(0), ir.getInt64Ty()),
          ir.CreateTrunc(ir.CreateBinaryIntrinsic(Intrinsic::umin, bytes, limit), ir.getInt32Ty())};
}

namespace {
/// An access to a buffer; its operands from `first` on: descriptor, offset, offset that is not checked.
struct BufferAccess {
  Buffer buffer;
  Value *offset;
};
} // namespace

static std::optional<BufferAccess> accessOf(Site &site, Value *descriptor, Value *offset, Value *unchecked) {
  Buffer buffer = bufferOf(site.ir, descriptor);
  if (!buffer.base)
    return std::nullopt;
  buffer.base = site.ir.CreateAdd(buffer.base, site.ir.CreateZExt(unchecked, site.ir.getInt64Ty()));
  return BufferAccess{buffer, offset};
}

/// "b8", "b16", or words of 32 bits.
static std::string typeOf(Site &site, Type *type) {
  const uint64_t bits = site.call.getModule()->getDataLayout().getTypeSizeInBits(type).getFixedValue();
  return bits >= 32 ? "b32" : "b" + std::to_string(bits);
}

static Value *load(Site &site) {
  const auto access = accessOf(site, site.operand(0), site.operand(1), site.operand(2));
  if (!access)
    return nullptr;
  Type *type = site.call.getType();
  const uint64_t bits = site.call.getModule()->getDataLayout().getTypeSizeInBits(type).getFixedValue();
  InlineAssembly call(site.ir, "amd.buffer_load." + typeOf(site, type));
  call.results(site.ir.getInt32Ty(), unsigned(divideCeil(bits, 32)), /*isList=*/true);
  call.source(access->buffer.base).source(access->offset).source(access->buffer.bytes);
  return fromWords(site.ir, call.call(Effects::Memory), type);
}

static Value *store(Site &site) {
  const auto access = accessOf(site, site.operand(1), site.operand(2), site.operand(3));
  if (!access)
    return nullptr;
  InlineAssembly call(site.ir, "amd.buffer_store." + typeOf(site, site.operand(0)->getType()));
  call.sources(wordsOf(site.ir, site.operand(0)));
  call.source(access->buffer.base).source(access->offset).source(access->buffer.bytes).call(Effects::Memory);
  return &site.call;
}

//--- to shared memory ----------------------------------------------------------------------

/// The address of each lane's element, which follows that of the lane before, from the first lane that takes part on.
static Value *laneAddress(Site &site, Value *shared, unsigned bytes, Value *offset) {
  IRBuilder<> &ir = site.ir;
  Value *address = ir.CreatePtrToInt(shared, ir.getInt32Ty());
  InlineAssembly first(ir, "amd.readfirstlane.b32");
  address = first.results(ir.getInt32Ty(), 1).source(address).call(Effects::Lanes)[0];
  Value *lane = ir.CreateAnd(ir.CreateIntrinsic(Intrinsic::nvvm_read_ptx_sreg_tid_x, ArrayRef<Value *>()),
                             site.arch.waveSize - 1);
  Value *own = ir.CreateAdd(ir.CreateAdd(address, offset), ir.CreateMul(lane, ir.getInt32(bytes)));
  return ir.CreateIntToPtr(own, shared->getType());
}

static Intrinsic::ID copyOf(unsigned bytes) {
  switch (bytes) {
  case 4:
    return Intrinsic::nvvm_cp_async_ca_shared_global_4_s;
  case 8:
    return Intrinsic::nvvm_cp_async_ca_shared_global_8_s;
  case 16:
    return Intrinsic::nvvm_cp_async_ca_shared_global_16_s;
  default:
    return Intrinsic::not_intrinsic;
  }
}

/// Each lane copies its own vector, of which it reads `present` bytes; the rest are zeros. As the counter of loads has
/// it, each copy is one for waits: a group.
static Value *copyToShared(Site &site, Value *from, Value *to, unsigned bytes, Value *present) {
  IRBuilder<> &ir = site.ir;
  const Intrinsic::ID id = copyOf(bytes);
  if (id == Intrinsic::not_intrinsic)
    return nullptr;
  ir.CreateIntrinsic(id, {}, {to, ir.CreateAddrSpaceCast(from, ir.getPtrTy(1)), present});
  ir.CreateIntrinsic(Intrinsic::nvvm_cp_async_commit_group, ArrayRef<Value *>());
  return &site.call;
}

/// Operands: global pointer, shared pointer, bytes of a lane, offset of both.
static Value *loadToShared(Site &site) {
  IRBuilder<> &ir = site.ir;
  const unsigned bytes = unsigned(site.number(2));
  Value *from = ir.CreatePtrAdd(site.operand(0), site.operand(3));
  return copyToShared(site, from, laneAddress(site, site.operand(1), bytes, site.operand(3)), bytes,
                      ir.getInt32(bytes));
}

/// Operands: descriptor, shared pointer, bytes of a lane, offset, offset that is not checked, offset of both.
static Value *loadBufferToShared(Site &site) {
  IRBuilder<> &ir = site.ir;
  const unsigned bytes = unsigned(site.number(2));
  const auto access = accessOf(site, site.operand(0), ir.CreateAdd(site.operand(3), site.operand(5)), site.operand(4));
  if (!access)
    return nullptr;
  Value *offset = ir.CreateZExt(access->offset, ir.getInt64Ty());
  Value *isInside =
      ir.CreateICmpULE(ir.CreateAdd(offset, ir.getInt64(bytes)), ir.CreateZExt(access->buffer.bytes, ir.getInt64Ty()));
  Value *from = ir.CreateIntToPtr(ir.CreateAdd(access->buffer.base, offset), ir.getPtrTy(1));
  return copyToShared(site, from, laneAddress(site, site.operand(1), bytes, site.operand(5)), bytes,
                      ir.CreateSelect(isInside, ir.getInt32(bytes), ir.getInt32(0)));
}

Value *sim::replaceBuffer(Site &site) {
  switch (site.call.getIntrinsicID()) {
  case Intrinsic::amdgcn_raw_ptr_buffer_load:
    return load(site);
  case Intrinsic::amdgcn_raw_ptr_buffer_store:
    return store(site);
  case Intrinsic::amdgcn_global_load_lds:
  case Intrinsic::amdgcn_load_to_lds:
    return loadToShared(site);
  case Intrinsic::amdgcn_raw_ptr_buffer_load_lds:
    return loadBufferToShared(site);
  default:
    return nullptr;
  }
}
