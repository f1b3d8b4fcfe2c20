// Gluon's warp_specialize: functions that groups of warps run at the same time.
// SPDX-License-Identifier: MIT
#include "compiler/dialect/ttg/Dialect.h"
#include "compiler/sema/Diagnostics.h"
#include "compiler/sema/builtins/Emission.h"
#include "compiler/sema/gluon/Names.h"

#include "llvm/Support/SaveAndRestore.h"

namespace nereid::sema {
namespace {

/// A function with its arguments.
struct Role {
  Value function;
  llvm::SmallVector<PositionalArgument> args;
};

std::optional<std::vector<Role>> rolesOf(const CallSite &site) {
  TtFunctionEmitter &emitter = site.emitter;
  const SourceRange range = site.rangeOf("functions_and_args");
  auto pairs = emitter.elementsOf(site["functions_and_args"], range);
  if (!pairs)
    return std::nullopt;
  std::vector<Role> roles;
  for (const Value &pair : *pairs) {
    const std::vector<Value> *parts = pair.elements();
    const std::vector<Value> *args = parts && parts->size() == 2 ? parts->back().elements() : nullptr;
    if (!args) {
      emitter.error(diag::RoleExpected, range, describe(pair));
      return std::nullopt;
    }
    Role &role = roles.emplace_back();
    role.function = parts->front();
    for (const Value &arg : *args)
      role.args.push_back({arg, range});
  }
  if (!roles.empty())
    return roles;
  emitter.error(diag::RoleExpected, range, "an empty list");
  return std::nullopt;
}

/// One number for each worker; nothing after an error.
std::optional<llvm::SmallVector<int32_t>> numbersOfWorkers(const CallSite &site, llvm::StringRef parameter,
                                                           size_t workers) {
  auto given = intsArgument(site, parameter);
  if (!given)
    return std::nullopt;
  if (given->size() == workers)
    return llvm::SmallVector<int32_t>(given->begin(), given->end());
  site.emitter.error(diag::RoleNumbers, site.rangeOf(parameter), parameter, given->size(), workers);
  return std::nullopt;
}

/// Calls the role's function in a block of its own.
Value callIn(TtFunctionEmitter &emitter, mlir::Block &block, const Role &role, unsigned numWarps, SourceRange range) {
  mlir::OpBuilder::InsertionGuard guard(emitter.builder);
  emitter.builder.setInsertionPointToEnd(&block);
  llvm::SaveAndRestore warps(emitter.module.regionWarps, numWarps);
  return emitter.call(role.function, role.args, {}, range);
}

ttg::WarpSpecializeOp createOp(const CallSite &site, mlir::TypeRange results, llvm::ArrayRef<int32_t> numWarps,
                               const std::optional<llvm::SmallVector<int32_t>> &registers) {
  mlir::OpBuilder &builder = builderOf(site);
  auto op = ttg::WarpSpecializeOp::create(
      builder, locationOf(site), results, mlir::ValueRange(), builder.getDenseI32ArrayAttr(numWarps),
      registers ? builder.getDenseI32ArrayAttr(*registers) : mlir::DenseI32ArrayAttr(), mlir::DenseI32ArrayAttr(),
      mlir::DenseI32ArrayAttr(), numWarps.size());
  return op;
}

/// The ops, types and values of the default function's result.
Value emitDefault(const CallSite &site, mlir::Block &block, const Role &role, mlir::Operation *&yield) {
  TtFunctionEmitter &emitter = site.emitter;
  const Value result = callIn(emitter, block, role, emitter.module.regionWarps, site.range);
  if (result.isPoison())
    return result;
  llvm::SmallVector<TensorValue> tensors;
  flatten(result, tensors);
  llvm::SmallVector<mlir::Value> values;
  for (const TensorValue &tensor : tensors)
    values.push_back(tensor.value);
  mlir::OpBuilder::InsertionGuard guard(emitter.builder);
  emitter.builder.setInsertionPointToEnd(&block);
  yield = ttg::WarpYieldOp::create(emitter.builder, locationOf(site), values);
  return result;
}

Value emitWarpSpecialize(const CallSite &site) {
  TtFunctionEmitter &emitter = site.emitter;
  if (!emitter.module.isGluon)
    return emitter.error(diag::GluonOnly, site.range, site.builtin.name);
  if (emitter.module.regionWarps)
    return emitter.error(diag::NestedRoles, site.range);
  auto roles = rolesOf(site);
  auto numWarps = roles ? numbersOfWorkers(site, "worker_num_warps", roles->size() - 1) : std::nullopt;
  std::optional<llvm::SmallVector<int32_t>> registers;
  if (numWarps && !site["worker_num_regs"].isNone())
    if (!(registers = numbersOfWorkers(site, "worker_num_regs", roles->size() - 1)))
      return Value::poison();
  if (!numWarps)
    return Value::poison();
  for (int32_t count : *numWarps)
    if (count < 1 || !llvm::isPowerOf2_32(count))
      return emitter.error(diag::RoleWarps, site.rangeOf("worker_num_warps"), count);

  ttg::WarpSpecializeOp op = createOp(site, {}, *numWarps, registers);
  mlir::Operation *yield = nullptr;
  const Value result = emitDefault(site, op.getDefaultRegion().emplaceBlock(), roles->front(), yield);
  if (result.isPoison())
    return result;
  if (yield->getNumOperands()) { // the op's results have the types of what its default region yields
    ttg::WarpSpecializeOp typed = createOp(site, yield->getOperandTypes(), *numWarps, registers);
    typed.getDefaultRegion().takeBody(op.getDefaultRegion());
    op->erase();
    op = typed;
  }
  for (auto [role, count, region] :
       llvm::zip_equal(llvm::ArrayRef(*roles).drop_front(), *numWarps, op.getPartitionRegions())) {
    mlir::Block &block = region.emplaceBlock();
    if (callIn(emitter, block, role, count, site.range).isPoison())
      return Value::poison();
    mlir::OpBuilder::InsertionGuard guard(emitter.builder);
    emitter.builder.setInsertionPointToEnd(&block);
    ttg::WarpReturnOp::create(emitter.builder, locationOf(site));
  }
  emitter.builder.setInsertionPointAfter(op);
  llvm::SmallVector<mlir::Value> results(op.getResults());
  llvm::ArrayRef<mlir::Value> remaining = results;
  return unflatten(result, remaining);
}

} // namespace

llvm::ArrayRef<Builtin> gluonWarpBuiltins() {
  static const Builtin table[] = {
      {"warp_specialize",
       gluonModule,
       {{"functions_and_args"}, {"worker_num_warps"}, {"worker_num_regs", "None"}},
       "Runs functions at the same time: the first one in the kernel's warps, whose result it gives, each other one in "
       "warps of its own.",
       emitWarpSpecialize},
  };
  return table;
}

} // namespace nereid::sema
