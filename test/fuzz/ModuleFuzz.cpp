// Any text as a module of IR: it becomes a plan and LLVM IR for the CPU, or is refused with errors.
// SPDX-License-Identifier: MIT
//
// Run it with the texts of test/run/ttir/texts, one module a file, as the corpus:
//   ASAN_OPTIONS=allow_user_poisoning=0 build/asan/bin/fuzz-ModuleFuzz -max_len=8192 -timeout=20 CORPUS
// (LLVM's libraries are built without the marks that its headers set in memory pools here.)
#include "compiler/driver/Compiler.h"

#include <cstdlib>

using namespace nereid;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  support::DiagnosticEngine diagnostics;
  std::unique_ptr<mlir::MLIRContext> context = driver::createContext();
  const std::string text(reinterpret_cast<const char *>(data), size);
  auto module = driver::parse(*context, text, "fuzz.ttir", diagnostics);
  if (module) {
    std::string reason;
    driver::Request request;
    request.keep = {"llir"};
    auto target = driver::resolveTarget("cpu", "", reason);
    if (driver::back(*module, {}, *target, request, diagnostics))
      return 0;
  }
  if (!diagnostics.hasErrors())
    std::abort(); // a refusal without a reason
  for (const support::Diagnostic &diagnostic : diagnostics.all())
    if (diagnostic.code().starts_with("internal"))
      std::abort(); // the compiler's own fault, whatever the text was
  (void)diagnostics.render();
  return 0;
}
