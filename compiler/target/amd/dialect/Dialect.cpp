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

/// `!tt.ptr<f32> -> tensor<64xf32>`, or the tile alone.
static ParseResult parseBufferTile(OpAsmParser &parser, Type &pointer, Type &tile) {
  if (parser.parseType(pointer))
    return failure();
  if (succeeded(parser.parseOptionalArrow()))
    return parser.parseType(tile);
  tile = pointer;
  if (!isa<RankedTensorType>(tile))
    return parser.emitError(parser.getCurrentLocation(), "expected `->` and a tile after the pointer");
  pointer = amdg::pointerTo(tile);
  return success();
}

static void printBufferTile(OpAsmPrinter &printer, Operation *, Type pointer, Type tile) {
  printer << pointer << " -> " << tile;
}

/// `!tt.ptr<f32>`, also read as `<f32>`.
static ParseResult parseBufferPointer(OpAsmParser &parser, Type &pointer) {
  tt::PointerType type;
  if (parser.parseCustomTypeWithFallback(type))
    return failure();
  pointer = type;
  return success();
}

static void printBufferPointer(OpAsmPrinter &printer, Operation *, Type pointer) { printer << pointer; }

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

/// What instructions `rocdl.sched.barrier` lets pass, by name (LLVM's masks of SCHED_BARRIER).
static std::optional<int32_t> maskNamed(StringRef name) {
  static constexpr std::pair<StringLiteral, int32_t> masks[] = {{"none", 0},       {"non_mem_non_sideffect", 1},
                                                                {"valu", 2},       {"salu", 4},
                                                                {"mfma_wmma", 8},  {"all_vmem", 16},
                                                                {"vmem_read", 32}, {"vmem_write", 64},
                                                                {"all_ds", 128},   {"ds_read", 256},
                                                                {"ds_write", 512}, {"transcendental", 1024}};
  const auto *found = llvm::find_if(masks, [&](const auto &mask) { return mask.first == name; });
  return found == std::end(masks) ? std::nullopt : std::optional(found->second);
}

/// `rocdl.sched.group.barrier 8, 1, 0`, `rocdl.sched.barrier none`
static ParseResult parseHint(OpAsmParser &parser, OperationState &result) {
  SmallVector<int32_t> numbers;
  StringRef name;
  const SMLoc at = parser.getCurrentLocation();
  if (succeeded(parser.parseOptionalKeyword(&name))) {
    const std::optional<int32_t> mask = maskNamed(name);
    if (!mask)
      return parser.emitError(at) << "`" << name << "` names no kind of instructions";
    numbers.push_back(*mask);
  }
  const auto parseNumber = [&] { return parser.parseInteger(numbers.emplace_back()); };
  const bool hasNumbers = numbers.empty() || succeeded(parser.parseOptionalComma());
  if (hasNumbers && parser.parseCommaSeparatedList(parseNumber))
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
