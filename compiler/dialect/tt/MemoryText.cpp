// Parses and prints loads and stores. Two forms of their cache attributes are parsed: `cacheModifier = cg
// evictionPolicy = evict_last` before the attributes, and `cachePolicy = #tt.cache_policy<...>` among them, which is
// the printed form.
// SPDX-License-Identifier: MIT
#include "compiler/dialect/tt/Dialect.h"
#include "compiler/dialect/tt/InherentAttributes.h"

#include "mlir/IR/OpImplementation.h"

using namespace mlir;
using namespace nereid::tt;

static constexpr llvm::StringLiteral cachePolicyName = "cachePolicy";

//--- reading -------------------------------------------------------------------------------

/// `name = case`, of an enum.
template <typename Enum>
static ParseResult parseCase(OpAsmParser &parser, StringRef name, std::optional<Enum> (*symbolize)(StringRef),
                             Enum &value) {
  StringRef keyword;
  const SMLoc begin = parser.getCurrentLocation();
  if (parser.parseEqual() || parser.parseKeyword(&keyword))
    return failure();
  std::optional<Enum> found = symbolize(keyword);
  if (!found)
    return parser.emitError(begin) << "`" << keyword << "` is not a value of `" << name << "`";
  value = *found;
  return success();
}

static ParseResult parseCachePolicy(OpAsmParser &parser, OperationState &result, CacheModifier &cache,
                                    EvictionPolicy &evict) {
  while (true) {
    if (succeeded(parser.parseOptionalKeyword("cacheModifier"))) {
      if (parseCase(parser, "cacheModifier", symbolizeCacheModifier, cache))
        return failure();
    } else if (succeeded(parser.parseOptionalKeyword("evictionPolicy"))) {
      if (parseCase(parser, "evictionPolicy", symbolizeEvictionPolicy, evict))
        return failure();
    } else {
      break;
    }
  }
  const SMLoc begin = parser.getCurrentLocation();
  if (parseAttributes(parser, result))
    return failure();
  Attribute policy = result.attributes.erase(cachePolicyName);
  if (!policy)
    return success();
  auto both = dyn_cast<CachePolicyAttr>(policy);
  if (!both)
    return parser.emitError(begin) << "`" << cachePolicyName << "` is not a `#tt.cache_policy`";
  cache = both.getCacheModifier();
  evict = both.getEvictionPolicy();
  return success();
}

template <typename Op> static void setCachePolicy(OperationState &result, CacheModifier cache, EvictionPolicy evict) {
  auto &properties = result.getOrAddProperties<typename Op::Properties>();
  properties.cache = CacheModifierAttr::get(result.getContext(), cache);
  properties.evict = EvictionPolicyAttr::get(result.getContext(), evict);
}

namespace {
/// The text between an access's name and its type.
struct AccessText {
  SmallVector<OpAsmParser::UnresolvedOperand, 3> operands;
  SMLoc typeBegin;
  Type pointer;
};
} // namespace

template <typename Op> static ParseResult parseAccess(OpAsmParser &parser, OperationState &result, AccessText &text) {
  CacheModifier cache = CacheModifier::NONE;
  EvictionPolicy evict = EvictionPolicy::NORMAL;
  const SMLoc begin = parser.getCurrentLocation();
  if (parser.parseOperandList(text.operands) || parseCachePolicy(parser, result, cache, evict) || parser.parseColon() ||
      parser.getCurrentLocation(&text.typeBegin) || parser.parseType(text.pointer))
    return failure();
  if (!pointeeLike(text.pointer))
    return parser.emitError(text.typeBegin) << text.pointer << " is neither a pointer nor a tile of pointers";
  const size_t least = std::is_same_v<Op, StoreOp> ? 2 : 1;
  if (text.operands.size() < least || text.operands.size() > 3)
    return parser.emitError(begin) << "has " << text.operands.size() << " operands; expected " << least << " to 3";
  setCachePolicy<Op>(result, cache, evict);
  return success();
}

ParseResult LoadOp::parse(OpAsmParser &parser, OperationState &result) {
  AccessText text;
  if (parseAccess<LoadOp>(parser, result, text))
    return failure();
  const Type value = pointeeLike(text.pointer), types[] = {text.pointer, i1Like(text.pointer), value};
  for (auto [operand, type] : llvm::zip(text.operands, types))
    if (parser.resolveOperand(operand, type, result.operands))
      return failure();
  const int32_t count = text.operands.size();
  result.getOrAddProperties<Properties>().operandSegmentSizes = {1, count > 1, count > 2};
  result.addTypes(value);
  return success();
}

ParseResult StoreOp::parse(OpAsmParser &parser, OperationState &result) {
  AccessText text;
  if (parseAccess<StoreOp>(parser, result, text))
    return failure();
  const Type types[] = {text.pointer, pointeeLike(text.pointer), i1Like(text.pointer)};
  for (auto [operand, type] : llvm::zip(text.operands, types))
    if (parser.resolveOperand(operand, type, result.operands))
      return failure();
  return success();
}

//--- printing ------------------------------------------------------------------------------

template <typename Op> static void printAccess(OpAsmPrinter &printer, Op op) {
  printer << " " << op->getOperands();
  NamedAttrList attributes(op->getAttrs());
  for (StringRef name : {"cache", "evict", "operandSegmentSizes"})
    attributes.erase(name);
  if (op.getCache() != CacheModifier::NONE || op.getEvict() != EvictionPolicy::NORMAL)
    attributes.set(cachePolicyName, CachePolicyAttr::get(op.getContext(), op.getCache(), op.getEvict()));
  if (auto isVolatile = dyn_cast_if_present<BoolAttr>(attributes.get("isVolatile"));
      isVolatile && !isVolatile.getValue())
    attributes.erase("isVolatile");
  printer.printOptionalAttrDict(attributes.getDictionary(op.getContext()).getValue());
  printer << " : " << op.getPtr().getType();
}

void LoadOp::print(OpAsmPrinter &printer) { printAccess(printer, *this); }
void StoreOp::print(OpAsmPrinter &printer) { printAccess(printer, *this); }
