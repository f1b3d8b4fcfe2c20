// Any text as a file of kernels: sema answers with a module or with errors.
// SPDX-License-Identifier: MIT
//
// Run it with the kernels of examples/ and test/run as the corpus:
//   build/asan/bin/fuzz-SemaFuzz -max_len=4096 -timeout=10 CORPUS
#include "compiler/driver/Compiler.h"
#include "compiler/sema/FileHost.h"
#include "compiler/sema/TtFunctionEmitter.h"

#include <cstdlib>

using namespace nereid;

/// Arguments that most kernels can be compiled for: constants where they are asked for, else pointers and integers.
static std::vector<sema::KernelArgument> argumentsFor(const sema::JitFunction &kernel) {
  std::vector<sema::KernelArgument> args;
  for (const syntax::Parameter &parameter : kernel.definition->parameters) {
    sema::KernelArgument arg;
    const bool looksLikePointer = parameter.name.contains_insensitive("ptr") || parameter.name.size() == 1;
    if (sema::isConstexprAnnotation(parameter.annotation))
      arg.constant = sema::Value::integer(16);
    else
      arg.type = looksLikePointer ? sema::Type::pointerTo(sema::Scalar::Float32) : sema::Type(sema::Scalar::Int32);
    args.push_back(std::move(arg));
  }
  return args;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  support::DiagnosticEngine diagnostics;
  auto host = sema::FileHost::fromText("fuzz.py", std::string(reinterpret_cast<const char *>(data), size), diagnostics);
  if (!host) {
    if (!diagnostics.hasErrors())
      std::abort(); // a refusal without a reason
    (void)diagnostics.render();
    return 0;
  }
  for (const std::string &name : host->kernelNames()) {
    support::DiagnosticEngine ownDiagnostics;
    sema::KernelRequest request;
    request.kernel = host->function(name);
    if (!request.kernel)
      continue;
    request.name = name;
    request.args = argumentsFor(*request.kernel);
    std::unique_ptr<mlir::MLIRContext> context = driver::createContext();
    auto module = driver::front(*context, request, *host, ownDiagnostics);
    if (!module && !ownDiagnostics.hasErrors())
      std::abort();
    for (const support::Diagnostic &diagnostic : ownDiagnostics.all())
      if (diagnostic.code().starts_with("internal"))
        std::abort(); // the compiler's own fault, whatever the text was
    (void)ownDiagnostics.render();
  }
  return 0;
}
