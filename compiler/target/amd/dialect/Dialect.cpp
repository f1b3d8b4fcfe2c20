// Registers the dialects of AMD's GPUs and holds the generated definitions of `amdg`.
// SPDX-License-Identifier: MIT
#include "compiler/target/amd/dialect/Dialect.h"

#include "compiler/dialect/tt/Inlinable.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "mlir/IR/OpImplementation.h"

using namespace mlir;
using namespace nereid;

MLIR_DEFINE_EXPLICIT_TYPE_ID(nereid::ttag::TtagDialect)
MLIR_DEFINE_EXPLICIT_TYPE_ID(nereid::rocdl::RocdlDialect)

ttag::TtagDialect::TtagDialect(MLIRContext *context)
    : Dialect(getDialectNamespace(), context, TypeID::get<TtagDialect>()) {
  context->loadDialect<ttg::TtgDialect>();
}

//--- amdg ----------------------------------------------------------------------------------

Type amdg::offsetsLike(Type tile) { return tt::withElement(tile, IntegerType::get(tile.getContext(), 32)); }

Type amdg::pointerTo(Type tile) { return tt::PointerType::get(tt::elementOf(tile), /*addressSpace=*/1); }

#include "compiler/target/amd/dialect/Dialect.cpp.inc"

#define GET_OP_CLASSES
#include "compiler/target/amd/dialect/Ops.cpp.inc"

void amdg::AmdgDialect::initialize() {
  addOperations<
#define GET_OP_LIST
#include "compiler/target/amd/dialect/Ops.cpp.inc"
      >();
  addInterfaces<tt::Inlinable>();
}

Attribute amdg::AmdgDialect::parseAttribute(DialectAsmParser &parser, Type) const {
  StringRef variant;
  if (parser.parseKeyword("SchedHintVariant") || parser.parseLess() || parser.parseKeyword(&variant) ||
      parser.parseGreater())
    return {};
  return StringAttr::get(getContext(), variant);
}

//--- rocdl ---------------------------------------------------------------------------------

rocdl::RocdlDialect::RocdlDialect(MLIRContext *context)
    : Dialect(getDialectNamespace(), context, TypeID::get<RocdlDialect>()) {
  allowUnknownOperations();
  addInterfaces<tt::Inlinable>();
}

/// `rocdl.sched.group.barrier 8, 1, 0`
static ParseResult parseHint(OpAsmParser &parser, OperationState &result) {
  SmallVector<int32_t> numbers;
  auto parseNumber = [&] { return parser.parseInteger(numbers.emplace_back()); };
  if (parser.parseCommaSeparatedList(parseNumber))
    return failure();
  result.addAttribute("arguments", parser.getBuilder().getDenseI32ArrayAttr(numbers));
  return parser.parseOptionalAttrDict(result.attributes);
}

/// `%id = rocdl.workitem.id.x : i32`
static ParseResult parseThreadId(OpAsmParser &parser, OperationState &result) {
  Type type;
  if (parser.parseOptionalAttrDict(result.attributes) || parser.parseColonType(type))
    return failure();
  result.addTypes(type);
  return success();
}

std::optional<Dialect::ParseOpHook> rocdl::RocdlDialect::getParseOperationHook(StringRef name) const {
  static constexpr StringLiteral hints[] = {"rocdl.sched.barrier", "rocdl.sched.group.barrier", "rocdl.s.setprio",
                                            "rocdl.iglp.opt"};
  if (llvm::is_contained(hints, name))
    return parseHint;
  return name == kThreadId ? std::optional<ParseOpHook>(parseThreadId) : std::nullopt;
}
