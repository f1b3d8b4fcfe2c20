// Implements `llvm.intr.assume` and the loop attributes of the dialect `llvm`.
// SPDX-License-Identifier: MIT
#include "compiler/dialect/imported/Dialect.h"

#include "compiler/dialect/tt/Inlinable.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"

using namespace mlir;
using namespace nereid;
using namespace nereid::imported;

MLIR_DEFINE_EXPLICIT_TYPE_ID(nereid::imported::LlvmDialect)
MLIR_DEFINE_EXPLICIT_TYPE_ID(nereid::imported::LoopHintAttr)
MLIR_DEFINE_EXPLICIT_TYPE_ID(nereid::imported::AssumeOp)

LlvmDialect::LlvmDialect(MLIRContext *context) : Dialect(getDialectNamespace(), context, TypeID::get<LlvmDialect>()) {
  addOperations<AssumeOp>();
  addAttributes<LoopHintAttr>();
  addInterfaces<tt::Inlinable>();
}

//--- attributes ----------------------------------------------------------------------------

namespace nereid::imported {
struct LoopHintStorage : AttributeStorage {
  using Field = LoopHintAttr::Field;
  using KeyTy = std::pair<StringAttr, ArrayRef<Field>>;

  LoopHintStorage(StringAttr mnemonic, ArrayRef<Field> fields) : mnemonic(mnemonic), fields(fields) {}
  bool operator==(const KeyTy &key) const { return key == KeyTy(mnemonic, fields); }
  static llvm::hash_code hashKey(const KeyTy &key) {
    llvm::hash_code hash = hash_value(key.first);
    for (auto [name, value] : key.second)
      hash = llvm::hash_combine(hash, name, value);
    return hash;
  }
  static LoopHintStorage *construct(AttributeStorageAllocator &allocator, const KeyTy &key) {
    return new (allocator.allocate<LoopHintStorage>()) LoopHintStorage(key.first, allocator.copyInto(key.second));
  }

  StringAttr mnemonic;
  ArrayRef<Field> fields;
};
} // namespace nereid::imported

LoopHintAttr LoopHintAttr::get(StringAttr mnemonic, ArrayRef<Field> fields) {
  return Base::get(mnemonic.getContext(), mnemonic, fields);
}
StringAttr LoopHintAttr::getMnemonic() const { return getImpl()->mnemonic; }
ArrayRef<LoopHintAttr::Field> LoopHintAttr::getFields() const { return getImpl()->fields; }

Attribute LlvmDialect::parseAttribute(DialectAsmParser &parser, Type) const {
  const SMLoc begin = parser.getCurrentLocation();
  StringRef mnemonic;
  if (parser.parseKeyword(&mnemonic))
    return {};
  if (!mnemonic.starts_with("loop_")) {
    parser.emitError(begin) << "`#llvm." << mnemonic << "` is not known; kernels have `#llvm.loop_*` only";
    return {};
  }
  SmallVector<LoopHintAttr::Field> fields;
  auto field = [&]() -> ParseResult {
    StringRef name;
    Attribute value;
    if (parser.parseKeyword(&name) || parser.parseEqual() || parser.parseAttribute(value))
      return failure();
    fields.push_back({StringAttr::get(getContext(), name), value});
    return success();
  };
  if (parser.parseCommaSeparatedList(AsmParser::Delimiter::OptionalLessGreater, field))
    return {};
  return LoopHintAttr::get(StringAttr::get(getContext(), mnemonic), fields);
}

void LlvmDialect::printAttribute(Attribute attribute, DialectAsmPrinter &printer) const {
  auto hint = cast<LoopHintAttr>(attribute);
  printer << hint.getMnemonic().getValue();
  if (hint.getFields().empty())
    return;
  printer << "<";
  llvm::interleaveComma(hint.getFields(), printer, [&](const LoopHintAttr::Field &field) {
    printer << field.first.getValue() << " = " << field.second;
  });
  printer << ">";
}

//--- llvm.intr.assume ----------------------------------------------------------------------

void AssumeOp::build(OpBuilder &, OperationState &state, Value condition) { state.addOperands(condition); }

AssumeOp AssumeOp::create(OpBuilder &builder, Location loc, Value condition) {
  OperationState state(loc, getOperationName());
  build(builder, state, condition);
  return cast<AssumeOp>(builder.create(state));
}

LogicalResult AssumeOp::verifyInvariantsImpl() {
  if (!getCondition().getType().isInteger(1))
    return emitOpError("the condition has type ") << getCondition().getType() << "; it must be i1";
  return success();
}

ParseResult AssumeOp::parse(OpAsmParser &parser, OperationState &result) {
  OpAsmParser::UnresolvedOperand condition;
  Type type;
  return failure(parser.parseOperand(condition) || parser.parseOptionalAttrDict(result.attributes) ||
                 parser.parseColonType(type) || parser.resolveOperand(condition, type, result.operands));
}

void AssumeOp::print(OpAsmPrinter &printer) {
  printer << " " << getCondition();
  printer.printOptionalAttrDict((*this)->getAttrs());
  printer << " : " << getCondition().getType();
}

void AssumeOp::getEffects(SmallVectorImpl<SideEffects::EffectInstance<MemoryEffects::Effect>> &effects) {
  effects.emplace_back(MemoryEffects::Write::get());
}
