// Expands types that are several values, and rewrites calls, returns, loops and branches that carry them.
// SPDX-License-Identifier: MIT
#include "compiler/passes/tt/TypeExpansion.h"

#include "mlir/Dialect/SCF/Transforms/Patterns.h"

using namespace mlir;
using namespace nereid;
using tt::ExpansionPattern;

namespace {
struct SelectPattern : ExpansionPattern<arith::SelectOp> {
  using ExpansionPattern::ExpansionPattern;
  LogicalResult matchAndRewrite(arith::SelectOp op, Adaptor adaptor, ConversionPatternRewriter &rewriter) const final {
    SmallVector<Value> parts;
    for (auto [yes, no] : llvm::zip_equal(adaptor.getTrueValue(), adaptor.getFalseValue()))
      parts.push_back(arith::SelectOp::create(rewriter, op.getLoc(), adaptor.getCondition().front(), yes, no));
    rewriter.replaceOpWithMultiple(op, {parts});
    return success();
  }
};

struct PoisonPattern : ExpansionPattern<ub::PoisonOp> {
  using ExpansionPattern::ExpansionPattern;
  LogicalResult matchAndRewrite(ub::PoisonOp op, Adaptor, ConversionPatternRewriter &rewriter) const final {
    SmallVector<Type> types;
    if (failed(getTypeConverter()->convertType(op.getType(), types)))
      return failure();
    SmallVector<Value> parts;
    for (Type type : types)
      parts.push_back(ub::PoisonOp::create(rewriter, op.getLoc(), type));
    rewriter.replaceOpWithMultiple(op, {parts});
    return success();
  }
};

struct ReturnPattern : ExpansionPattern<tt::ReturnOp> {
  using ExpansionPattern::ExpansionPattern;
  LogicalResult matchAndRewrite(tt::ReturnOp op, Adaptor adaptor, ConversionPatternRewriter &rewriter) const final {
    rewriter.replaceOpWithNewOp<tt::ReturnOp>(op, tt::flattenValues(adaptor.getValues()));
    return success();
  }
};

struct CallPattern : ExpansionPattern<tt::CallOp> {
  using ExpansionPattern::ExpansionPattern;
  LogicalResult matchAndRewrite(tt::CallOp op, Adaptor adaptor, ConversionPatternRewriter &rewriter) const final {
    SmallVector<Type> types;
    SmallVector<size_t> ends;
    for (Type type : op.getResultTypes()) {
      if (failed(getTypeConverter()->convertType(type, types)))
        return failure();
      ends.push_back(types.size());
    }
    auto call = tt::CallOp::create(rewriter, op.getLoc(), types, op.getCallee(), tt::flattenValues(adaptor.getArgs()),
                                   ArrayAttr(), ArrayAttr());
    SmallVector<ValueRange> groups;
    for (size_t begin = 0; size_t end : ends) {
      groups.push_back(call.getResults().slice(begin, end - begin));
      begin = end;
    }
    rewriter.replaceOpWithMultiple(op, groups);
    return success();
  }
};

/// Expands a function's arguments and results. Arguments that remain one value keep their attributes.
struct FunctionPattern : ExpansionPattern<tt::FuncOp> {
  FunctionPattern(const TypeConverter &expansion, MLIRContext *context, tt::ExpandedAttributes expandedAttributes)
      : ExpansionPattern(expansion, context), expandedAttributes(std::move(expandedAttributes)) {}

  LogicalResult matchAndRewrite(tt::FuncOp op, Adaptor, ConversionPatternRewriter &rewriter) const final {
    const FunctionType type = op.getFunctionType();
    TypeConverter::SignatureConversion inputs(type.getNumInputs());
    SmallVector<Type> results;
    if (failed(getTypeConverter()->convertSignatureArgs(type.getInputs(), inputs)) ||
        failed(getTypeConverter()->convertTypes(type.getResults(), results)))
      return failure();
    SmallVector<DictionaryAttr> attributes(inputs.getConvertedTypes().size(), rewriter.getDictionaryAttr({}));
    for (auto [index, input] : llvm::enumerate(type.getInputs())) {
      const auto mapping = inputs.getInputMapping(index);
      if (DictionaryAttr known = op.getArgAttrDict(index); known && mapping->size == 1)
        attributes[mapping->inputNo] = known;
      if (expandedAttributes && op.isPublic())
        expandedAttributes(input, MutableArrayRef(attributes).slice(mapping->inputNo, mapping->size));
    }
    if (failed(rewriter.convertRegionTypes(&op.getBody(), *getTypeConverter(), &inputs)))
      return failure();
    rewriter.modifyOpInPlace(op, [&] {
      op.setType(rewriter.getFunctionType(inputs.getConvertedTypes(), results));
      op.setAllArgAttrs(attributes);
    });
    return success();
  }

  tt::ExpandedAttributes expandedAttributes;
};
} // namespace

static bool hasExpandedType(ModuleOp module, const TypeConverter &expansion) {
  auto isExpanded = [&](Type type) { return !expansion.isLegal(type); };
  auto visit = [&](Operation *op) {
    auto function = dyn_cast<tt::FuncOp>(op);
    const bool has = llvm::any_of(op->getResultTypes(), isExpanded) ||
                     llvm::any_of(op->getOperandTypes(), isExpanded) ||
                     (function && llvm::any_of(function.getArgumentTypes(), isExpanded));
    return has ? WalkResult::interrupt() : WalkResult::advance();
  };
  return module.walk(visit).wasInterrupted();
}

LogicalResult tt::expandTypes(ModuleOp module, TypeConverter &expansion, RewritePatternSet patterns,
                              ExpandedAttributes attributes) {
  if (!hasExpandedType(module, expansion))
    return success();
  ConversionTarget target(*module.getContext());
  patterns.add<SelectPattern, PoisonPattern, ReturnPattern, CallPattern>(expansion, patterns.getContext());
  patterns.add<FunctionPattern>(expansion, patterns.getContext(), std::move(attributes));
  scf::populateSCFStructuralTypeConversionsAndLegality(expansion, patterns, target);
  target.markUnknownOpDynamicallyLegal([&expansion](Operation *op) {
    if (auto function = dyn_cast<tt::FuncOp>(op))
      return expansion.isSignatureLegal(function.getFunctionType()) && expansion.isLegal(&function.getBody());
    return expansion.isLegal(op);
  });
  return applyPartialConversion(module, target, std::move(patterns));
}
