// Built-ins that call other libraries or assembly: extern_elementwise and inline_asm_elementwise.
// SPDX-License-Identifier: MIT
#include "compiler/sema/builtins/Extern.h"

#include "artifact/TargetInfo.h"
#include "compiler/sema/Diagnostics.h"
#include "compiler/sema/TileShape.h"
#include "compiler/sema/builtins/Emission.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/IR/InlineAsm.h"

namespace nereid::sema {
namespace {

//--- extern_elementwise --------------------------------------------------------------------

std::string typeTuple(llvm::ArrayRef<Type> types) {
  std::string text = "(";
  for (auto [index, type] : llvm::enumerate(types))
    text += (index ? ", " : "") + type.str();
  return text + (types.size() == 1 ? ",)" : ")");
}

llvm::SmallVector<Type, 4> elementTypes(llvm::ArrayRef<Value> args) {
  llvm::SmallVector<Type, 4> types;
  for (const Value &arg : args)
    types.push_back(arg.tensor()->type.element());
  return types;
}

const Overload *findOverload(llvm::ArrayRef<Value> args, llvm::ArrayRef<Overload> overloads) {
  const auto types = elementTypes(args);
  const auto *found = llvm::find_if(overloads, [&](const Overload &each) { return each.args == types; });
  return found == overloads.end() ? nullptr : found;
}

/// All arguments promoted to one type as in binary arithmetic.
bool promoteAll(const CallSite &site, std::vector<Value> &args) {
  Value common = args.front();
  for (const Value &arg : args) {
    Value each = arg;
    if (!site.emitter.promoteTogether(each, common, site.range))
      return false;
  }
  for (Value &arg : args) {
    Value other = common;
    if (!site.emitter.promoteTogether(arg, other, site.range))
      return false;
  }
  return true;
}

/// Parses the host's dictionary {(types): (symbol, type)}; false after an error.
bool readOverloads(const CallSite &site, std::vector<Overload> &overloads) {
  TtFunctionEmitter &emitter = site.emitter;
  const SourceRange range = site.rangeOf("arg_type_symbol_dict");
  const Value &dict = site["arg_type_symbol_dict"];
  const HostValue *host = dict.get<HostValue>();
  auto wrong = [&] {
    emitter.error(diag::ExternDict, range, "is " + describe(dict));
    return false;
  };
  if (!host)
    return wrong();
  auto keys = emitter.elementsOf(dict, range);
  if (!keys)
    return false;
  for (const Value &key : *keys) {
    const Value entry = emitter.fromHost(emitter.module.host.item(host->object, key), range);
    const std::vector<Value> *types = key.elements(), *target = entry.elements();
    if (!types || !target || target->size() != 2)
      return wrong();
    const std::string *symbol = (*target)[0].get<std::string>();
    const TypeValue *result = (*target)[1].get<TypeValue>();
    if (!symbol || !result)
      return wrong();
    Overload overload{{}, *symbol, result->type};
    for (const Value &type : *types) {
      if (!type.is<TypeValue>())
        return wrong();
      overload.args.push_back(type.get<TypeValue>()->type);
    }
    overloads.push_back(std::move(overload));
  }
  if (!overloads.empty())
    return true;
  emitter.error(diag::ExternDict, range, "is empty");
  return false;
}

Value emitExternElementwise(const CallSite &site) {
  TtFunctionEmitter &emitter = site.emitter;
  auto library = textArgument(site, "lib_name");
  auto path = textArgument(site, "lib_path");
  auto isPure = boolArgument(site, "is_pure");
  auto args = emitter.elementsOf(site["args"], site.rangeOf("args"));
  std::vector<Overload> overloads;
  if (!library || !path || !isPure || !args || !readOverloads(site, overloads))
    return Value::poison();
  return emitExtern(site, *library, *path, std::move(*args), overloads, *isPure);
}

//--- inline_asm_elementwise ----------------------------------------------------------------

/// The element types of the results; nothing after an error.
std::optional<llvm::SmallVector<Type, 2>> resultTypes(const CallSite &site) {
  const SourceRange range = site.rangeOf("dtype");
  llvm::SmallVector<Type, 2> types;
  const std::vector<Value> one = {site["dtype"]};
  for (const Value &each : site["dtype"].elements() ? *site["dtype"].elements() : one) {
    auto type = site.emitter.constantType(each, range, "dtype");
    if (!type || !site.emitter.checkSupported(*type, range))
      return std::nullopt;
    types.push_back(type->element());
  }
  return types;
}

/// The arguments as tensors of one shape; false after an error.
bool asmArguments(const CallSite &site, std::vector<Value> &args) {
  for (Value &arg : args) {
    arg = site.emitter.toTensor(arg, site.rangeOf("args"));
    if (arg.isPoison())
      return false;
  }
  return args.empty() || broadcastAll(site.emitter, args, site.rangeOf("args"));
}

/// Whether the text has a mnemonic that only PTX has, with a type suffix: `add.s32`, `cvt.rn.f16x2.f32`.
llvm::StringRef ptxMnemonic(llvm::StringRef text) {
  static constexpr llvm::StringLiteral types[] = {".b8",  ".b16",  ".b32",  ".b64",    ".u8",   ".u16", ".u32",
                                                  ".u64", ".s8",   ".s16",  ".s32",    ".s64",  ".f16", ".f32",
                                                  ".f64", ".pred", ".bf16", ".bf16x2", ".f16x2"};
  while (!text.empty()) {
    text = text.ltrim(" \t\r\n;{}");
    const llvm::StringRef word = text.take_until([](char c) { return llvm::StringRef(" \t\r\n;,").contains(c); });
    const bool isDirective = word.starts_with(".");
    if (!isDirective && llvm::any_of(types, [&](llvm::StringRef type) { return word.ends_with(type); }))
      return word;
    text = text.drop_front(word.size()).ltrim(",");
  }
  return "";
}

/// The number of words of a value in assembly: elements narrower than 32 bits share them.
size_t numWords(const Type &type, int64_t pack) {
  const unsigned bits = type.bits();
  const int64_t perWord = bits < 32 && bits >= 8 ? std::min<int64_t>(pack, 32 / bits) : 1;
  return (pack + perWord - 1) / perWord;
}

/// Checks the numbers of results and operands in the constraints; false after an error.
bool checkConstraints(const CallSite &site, llvm::StringRef constraints, llvm::ArrayRef<Value> args,
                      llvm::ArrayRef<Type> results, int64_t pack) {
  size_t numResults = 0, numOperands = 0, outputs = 0, inputs = 0;
  for (const Type &type : results)
    numResults += numWords(type, pack);
  for (const Value &arg : args)
    numOperands += numWords(arg.tensor()->type, pack);
  const llvm::InlineAsm::ConstraintInfoVector parsed = llvm::InlineAsm::ParseConstraints(constraints);
  for (const llvm::InlineAsm::ConstraintInfo &each : parsed) {
    outputs += each.Type == llvm::InlineAsm::isOutput;
    inputs += each.Type == llvm::InlineAsm::isInput;
  }
  if (outputs == numResults && inputs == numOperands)
    return true;
  const std::string reason =
      parsed.empty() ? "they are malformed" : llvm::formatv("they name {0} and {1}", outputs, inputs).str();
  site.emitter.error(diag::AsmText, site.rangeOf("constraints"), constraints, numResults, numOperands, reason);
  return false;
}

Value emitInlineAsm(const CallSite &site) {
  TtFunctionEmitter &emitter = site.emitter;
  auto text = textArgument(site, "asm");
  auto constraints = textArgument(site, "constraints");
  auto isPure = boolArgument(site, "is_pure");
  auto pack = intArgument(site, "pack");
  auto args = emitter.elementsOf(site["args"], site.rangeOf("args"));
  auto types = resultTypes(site);
  if (!text || !constraints || !isPure || !pack || !args || !types || !asmArguments(site, *args))
    return Value::poison();
  if (*pack < 1 || *pack > 32)
    return emitter.error(diag::AsmPack, site.rangeOf("pack"), *pack);
  const std::string &backend = emitter.module.target.backend;
  if (llvm::StringRef ptx = ptxMnemonic(*text); !ptx.empty() && artifact::targetInfo(backend).assembly != "ptx")
    return emitter.error(diag::AsmPtx, site.rangeOf("asm"), ptx, backend);
  if (!checkConstraints(site, *constraints, *args, *types, *pack))
    return Value::poison();
  llvm::SmallVector<mlir::Value> operands;
  for (const Value &arg : *args)
    operands.push_back(arg.tensor()->value);
  llvm::SmallVector<mlir::Type> irTypes;
  for (Type &type : *types) {
    if (!args->empty())
      type = type.withShape(args->front().tensor()->type.shape).withLayout(args->front().tensor()->type.layout);
    irTypes.push_back(type.toMlir(builderOf(site).getContext()));
  }
  auto op = tt::ElementwiseInlineAsmOp::create(builderOf(site), locationOf(site), irTypes, *text, *constraints, *isPure,
                                               static_cast<uint32_t>(*pack), operands);
  std::vector<Value> results;
  for (auto [value, type] : llvm::zip_equal(op.getResults(), *types))
    results.push_back(Value::tensor(value, type));
  return site["dtype"].elements() ? Value::tuple(std::move(results)) : results.front();
}

} // namespace

Value emitExtern(const CallSite &site, llvm::StringRef library, llvm::StringRef path, std::vector<Value> args,
                 llvm::ArrayRef<Overload> overloads, bool isPure) {
  TtFunctionEmitter &emitter = site.emitter;
  for (Value &arg : args) {
    arg = emitter.toTensor(arg, site.range);
    if (arg.isPoison())
      return arg;
  }
  if (args.size() != overloads.front().args.size())
    return emitter.error(diag::ExternTypes, site.range, "length of input args",
                         std::to_string(overloads.front().args.size()), args.size());
  const auto argumentTypes = elementTypes(args);
  const Overload *chosen = findOverload(args, overloads);
  if (!args.empty() && !(chosen ? broadcastAll(emitter, args, site.range) : promoteAll(site, args)))
    return Value::poison();
  if (!chosen)
    chosen = findOverload(args, overloads);
  if (!chosen) {
    std::string all;
    for (const Overload &each : overloads)
      all += (all.empty() ? "" : ", ") + typeTuple(each.args);
    return emitter.error(diag::ExternTypes, site.range, "input arg type", "one of [" + all + "]",
                         typeTuple(argumentTypes));
  }
  llvm::SmallVector<mlir::Value> operands;
  for (const Value &arg : args)
    operands.push_back(arg.tensor()->value);
  const Type type = args.empty() ? chosen->result : chosen->result.withShape(args.front().tensor()->type.shape);
  const Value result = emitOp<tt::ExternElementwiseOp>(site, type, operands, library, path, chosen->symbol, isPure);
  return chosen->isTruth ? emitter.cast(result, Scalar::Int1, site.range) : result;
}

llvm::ArrayRef<Builtin> externBuiltins() {
  static const std::vector<Builtin> table = [] {
    std::vector<Builtin> entries = {
        {"extern_elementwise",
         languageModule,
         {{"lib_name"}, {"lib_path"}, {"args"}, {"arg_type_symbol_dict"}, {"is_pure", "True"}},
         "Calls a function of another library on each element, by a symbol that the arguments' types choose.",
         emitExternElementwise},
        {"inline_asm_elementwise",
         languageModule,
         {{"asm"}, {"constraints"}, {"args"}, {"dtype"}, {"is_pure"}, {"pack"}},
         "Runs assembly of the target on `pack` elements at a time.",
         emitInlineAsm},
    };
    appendLibdevice(entries);
    return entries;
  }();
  return table;
}

} // namespace nereid::sema
