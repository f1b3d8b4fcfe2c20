// Finds a kernel in a file and converts the entries of a signature to its arguments.
// SPDX-License-Identifier: MIT
#include "jit/SourceKernel.h"

#include "jit/Diagnostics.h"
#include "jit/Signature.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/SHA256.h"

using namespace nereid;
using namespace nereid::jit;

static std::shared_ptr<sema::JitFunction> findKernel(sema::FileHost &host, const std::string &path,
                                                     const std::string &name, support::DiagnosticEngine &diagnostics) {
  const std::vector<std::string> names = host.kernelNames();
  const std::string list =
      names.empty() ? "none (no function is decorated with `@triton.jit`)" : llvm::join(names, ", ");
  if (name.empty()) {
    if (names.size() == 1)
      return host.function(names.front());
    diagnostics.report(diag::KernelAmbiguous, {}, path, names.size(), list);
    return nullptr;
  }
  std::shared_ptr<sema::JitFunction> kernel = host.function(name);
  if (!kernel)
    diagnostics.report(diag::KernelNotFound, {}, path, name, list);
  return kernel;
}

static std::optional<sema::KernelArgument> kernelArgument(const ArgumentSpec &entry,
                                                          support::DiagnosticEngine &diagnostics);

/// A tuple; a tuple of constants alone is a constant.
static std::optional<sema::KernelArgument> tupleArgument(const ArgumentSpec &entry,
                                                         support::DiagnosticEngine &diagnostics) {
  sema::KernelArgument arg;
  std::vector<sema::Value> constants;
  for (const ArgumentSpec &element : entry.elements) {
    std::optional<sema::KernelArgument> read = kernelArgument(element, diagnostics);
    if (!read)
      return std::nullopt;
    if (read->constant)
      constants.push_back(*read->constant);
    arg.elements.push_back(std::move(*read));
  }
  if (constants.size() < arg.elements.size())
    arg.compound = sema::TupleValue();
  else
    arg.constant = sema::Value::tuple(std::move(constants));
  return arg;
}

/// One entry of the signature as an argument for sema; nothing after an error.
static std::optional<sema::KernelArgument> kernelArgument(const ArgumentSpec &entry,
                                                          support::DiagnosticEngine &diagnostics) {
  sema::KernelArgument arg;
  arg.divisibility = entry.divisibleBy16 ? 16 : 1;
  const std::string scalar(spelling(entry.type));
  switch (entry.kind) {
  case ArgumentKind::Pointer:
  case ArgumentKind::Scalar: {
    const bool isPointer = entry.kind == ArgumentKind::Pointer;
    auto type = sema::Type::fromSignature(isPointer ? (entry.isConst ? "*k" : "*") + scalar : scalar);
    if (!type) {
      diagnostics.report(diag::SignatureKind, {}, scalar);
      return std::nullopt;
    }
    arg.type = *type;
    arg.pointerRange = entry.within2GiB ? 32 : 0;
    return arg;
  }
  case ArgumentKind::Constant:
    arg.constant = sema::FileHost::constant(entry.text);
    if (arg.constant)
      return arg;
    diagnostics.report(diag::SignatureConstant, {}, entry.text);
    return std::nullopt;
  case ArgumentKind::Tuple:
    return tupleArgument(entry, diagnostics);
  case ArgumentKind::Descriptor:
    if (auto type = sema::Type::fromSignature("tensordesc<" + entry.text + ">")) {
      arg.type = *type;
      return arg;
    }
    diagnostics.report(diag::SignatureKind, {}, "tensordesc<" + entry.text + ">");
    return std::nullopt;
  }
  llvm_unreachable("every kind returns");
}

static std::string counted(size_t number, llvm::StringRef one, llvm::StringRef many) {
  return (std::to_string(number) + " " + (number == 1 ? one : many)).str();
}

std::optional<SourceKernel> jit::readSourceKernel(const std::string &path, const std::string &kernel,
                                                  const std::string &signature, const support::Options &options,
                                                  const support::TargetSpec &target,
                                                  support::DiagnosticEngine &diagnostics) {
  SourceKernel result;
  result.host = sema::FileHost::open(path, diagnostics);
  if (!result.host)
    return std::nullopt;
  std::shared_ptr<sema::JitFunction> function = findKernel(*result.host, path, kernel, diagnostics);
  if (!function)
    return std::nullopt;

  std::variant<Signature, SignatureError> parsed = Signature::parse(signature);
  if (auto *wrong = std::get_if<SignatureError>(&parsed)) {
    diagnostics.report(diag::SignatureInvalid, {}, signature, signature.substr(wrong->offset, wrong->length),
                       wrong->text);
    return std::nullopt;
  }
  const Signature &entries = std::get<Signature>(parsed);
  const std::vector<std::string> parameters = sema::parameterNames(*function, diagnostics);
  if (parameters.size() != entries.arguments.size()) {
    diagnostics.report(diag::SignatureCount, {function->file.get(), function->definition->nameRange}, function->name,
                       counted(parameters.size(), "parameter", "parameters"), llvm::join(parameters, ", "), signature,
                       counted(entries.arguments.size(), "entry", "entries"));
    return std::nullopt;
  }
  for (const ArgumentSpec &entry : entries.arguments) {
    std::optional<sema::KernelArgument> arg = kernelArgument(entry, diagnostics);
    if (!arg)
      return std::nullopt;
    result.request.args.push_back(std::move(*arg));
  }
  result.request.kernel = function;
  result.request.name = function->name;
  result.request.options = options;
  result.request.target = target;
  result.signature = entries.str();
  llvm::SHA256 hash;
  result.sources = result.host->files();
  for (const std::shared_ptr<const support::SourceFile> &file : result.sources) {
    hash.update(file->name());
    hash.update(std::to_string(file->text().size()));
    hash.update(file->text());
  }
  result.sourceKey = llvm::toHex(hash.final(), /*LowerCase=*/true);
  return result;
}
