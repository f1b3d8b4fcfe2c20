// Reads a job from a file: finds a kernel and converts the entries of a signature to its arguments.
// SPDX-License-Identifier: MIT
#include "jit/FileJob.h"

#include "compiler/support/InputFile.h"
#include "jit/Arguments.h"
#include "jit/Diagnostics.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Path.h"
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
                                                          support::DiagnosticEngine &diagnostics) {
  switch (entry.kind) {
  case ArgumentKind::Constant:
    if (std::optional<sema::Value> value = sema::FileHost::constant(entry.text))
      return constantArgument(std::move(*value));
    diagnostics.report(diag::SignatureConstant, {}, entry.text);
    return std::nullopt;
  case ArgumentKind::Tuple: {
    std::vector<sema::KernelArgument> elements;
    for (const ArgumentSpec &each : entry.elements) {
      std::optional<sema::KernelArgument> element = kernelArgument(each, diagnostics);
      if (!element)
        return std::nullopt;
      elements.push_back(std::move(*element));
    }
    return tupleArgument(std::move(elements));
  }
  case ArgumentKind::Pointer:
  case ArgumentKind::Scalar:
  case ArgumentKind::Descriptor:
    break;
  }
  std::optional<sema::KernelArgument> value = valueArgument(entry);
  if (!value)
    diagnostics.report(diag::SignatureKind, {}, typeText(entry));
  return value;
}

static std::string counted(size_t number, llvm::StringRef one, llvm::StringRef many) {
  return (std::to_string(number) + " " + (number == 1 ? one : many)).str();
}

/// A hash of the contents of the files.
static std::string keyOf(const std::vector<std::shared_ptr<const support::SourceFile>> &files) {
  llvm::SHA256 hash;
  for (const std::shared_ptr<const support::SourceFile> &file : files) {
    hash.update(file->name());
    hash.update(std::to_string(file->text().size()));
    hash.update(file->text());
  }
  return llvm::toHex(hash.final(), /*LowerCase=*/true);
}

static bool readArguments(sema::KernelRequest &kernel, const std::string &signature, std::string &printed,
                          support::DiagnosticEngine &diagnostics) {
  std::variant<Signature, SignatureError> parsed = Signature::parse(signature);
  if (auto *wrong = std::get_if<SignatureError>(&parsed)) {
    diagnostics.report(diag::SignatureInvalid, {}, signature, signature.substr(wrong->offset, wrong->length),
                       wrong->text);
    return false;
  }
  const Signature &entries = std::get<Signature>(parsed);
  sema::JitFunction &function = *kernel.kernel;
  const std::vector<std::string> parameters = sema::parameterNames(function, diagnostics);
  if (parameters.size() != entries.arguments.size()) {
    diagnostics.report(diag::SignatureCount, {function.file.get(), function.definition->nameRange}, function.name,
                       counted(parameters.size(), "parameter", "parameters"), llvm::join(parameters, ", "), signature,
                       counted(entries.arguments.size(), "entry", "entries"));
    return false;
  }
  for (const ArgumentSpec &entry : entries.arguments) {
    std::optional<sema::KernelArgument> arg = kernelArgument(entry, diagnostics);
    if (!arg)
      return false;
    kernel.args.push_back(std::move(*arg));
  }
  printed = entries.str();
  return true;
}

static std::string cannotRead(const std::string &path, std::error_code code) {
  return "cannot read " + path + ": " + code.message();
}

/// A kernel of a .py file; false after an error.
static bool readSource(FileJob &file, const SourceName &source, support::DiagnosticEngine &diagnostics) {
  Job &job = file.job;
  file.host = sema::FileHost::open(source.path, diagnostics);
  if (!file.host)
    return false;
  job.kernel.kernel = findKernel(*file.host, source.path, source.kernel, diagnostics);
  if (!job.kernel.kernel || !readArguments(job.kernel, source.signature, job.request.signature, diagnostics))
    return false;
  job.kernel.name = job.kernel.kernel->name;
  job.host = file.host.get();
  job.request.sources = file.host->files();
  job.sourceKey = keyOf(job.request.sources);
  return true;
}

artifact::Expected<artifact::Artifact> jit::readArtifact(const std::string &path) {
  const auto buffer = support::readInput(path);
  if (!buffer)
    return artifact::Error{"artifact-file", cannotRead(path, buffer.getError())};
  auto artifact = artifact::deserialize({(*buffer)->getBufferStart(), (*buffer)->getBufferSize()});
  return artifact ? std::move(artifact) : artifact::Error{artifact.error().code, path + ": " + artifact.error().text};
}

llvm::ErrorOr<driver::Request::Replacement> jit::readReplacement(const std::string &path) {
  auto buffer = support::readInput(path);
  if (!buffer)
    return buffer.getError();
  const std::string stage = llvm::sys::path::extension(path).ltrim('.').str();
  return driver::Request::Replacement{stage, (*buffer)->getBuffer().str(), path};
}

std::optional<FileJob> jit::readJob(const SourceName &source, const support::Options &options,
                                    const support::TargetSpec &target, support::DiagnosticEngine &diagnostics,
                                    std::string &problem) {
  FileJob file;
  Job &job = file.job;
  job.kernel.options = options;
  job.kernel.target = target;
  if (!options.irOverride.empty()) {
    auto replacement = readReplacement(options.irOverride);
    if (!replacement)
      return problem = cannotRead(options.irOverride, replacement.getError()), std::nullopt;
    job.request.replacement = std::move(*replacement);
  }
  const llvm::StringRef kind = llvm::sys::path::extension(source.path).ltrim('.');
  if (kind != "ttir" && kind != "ttgir")
    return readSource(file, source, diagnostics) ? std::optional(std::move(file)) : std::nullopt;
  auto buffer = support::readInput(source.path);
  if (!buffer)
    return problem = cannotRead(source.path, buffer.getError()), std::nullopt;
  job.ir = IrText{kind.str(), (*buffer)->getBuffer().str(), source.path};
  problem = irProblem(job);
  return problem.empty() ? std::optional(std::move(file)) : std::nullopt;
}
