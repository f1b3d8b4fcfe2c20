// Functions of `tt`: their text form, calls and returns.
// SPDX-License-Identifier: MIT
#include "compiler/dialect/tt/Dialect.h"
#include "compiler/dialect/tt/InherentAttributes.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/FunctionImplementation.h"

using namespace mlir;
using namespace nereid::tt;

void FuncOp::build(OpBuilder &builder, OperationState &state, StringRef name, FunctionType type, StringRef visibility) {
  state.addAttribute(SymbolTable::getSymbolAttrName(), builder.getStringAttr(name));
  state.addAttribute(SymbolTable::getVisibilityAttrName(), builder.getStringAttr(visibility));
  state.addAttribute(getFunctionTypeAttrName(state.name), TypeAttr::get(type));
  state.addRegion();
}

ParseResult FuncOp::parse(OpAsmParser &parser, OperationState &result) {
  auto buildType = [](Builder &builder, ArrayRef<Type> inputs, ArrayRef<Type> results,
                      function_interface_impl::VariadicFlag,
                      std::string &) { return builder.getFunctionType(inputs, results); };
  const SMLoc begin = parser.getCurrentLocation();
  return failure(function_interface_impl::parseFunctionOp(
                     parser, result, /*allowVariadic=*/false, getFunctionTypeAttrName(result.name), buildType,
                     getArgAttrsAttrName(result.name), getResAttrsAttrName(result.name)) ||
                 checkInherentAttributes(parser, begin, result));
}

void FuncOp::print(OpAsmPrinter &printer) {
  function_interface_impl::printFunctionOp(printer, *this, /*isVariadic=*/false, getFunctionTypeAttrName(),
                                           getArgAttrsAttrName(), getResAttrsAttrName());
}

LogicalResult ReturnOp::verify() {
  auto function = cast<FuncOp>((*this)->getParentOp());
  if (!llvm::equal(function.getResultTypes(), getValues().getTypes()))
    return emitOpError("returns other types than its function declares");
  return success();
}

LogicalResult CallOp::verifySymbolUses(SymbolTableCollection &symbols) {
  auto callee = symbols.lookupNearestSymbolFrom<FuncOp>(*this, getCalleeAttr());
  if (!callee) // C1
    return emitOpError("calls `") << getCallee() << "`, which is not a function of this module";
  if (!llvm::equal(callee.getArgumentTypes(), getArgs().getTypes()) ||
      !llvm::equal(callee.getResultTypes(), getResultTypes()))
    return emitOpError("does not match the type of `") << getCallee() << "`";
  return success();
}
