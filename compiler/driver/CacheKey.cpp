// The key of a compilation: one hash over everything that its result depends on.
// SPDX-License-Identifier: MIT
#include "compiler/driver/Compiler.h"
#include "compiler/sema/TtModuleEmitter.h"
#include "compiler/support/InputFile.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/SHA256.h"

using namespace nereid;

namespace {
/// Hashes fields with their lengths, so that different lists of fields never hash the same bytes.
class KeyBuilder {
public:
  void add(llvm::StringRef text) {
    add(static_cast<uint64_t>(text.size()));
    hash.update(text);
  }
  void add(uint64_t number) {
    uint8_t bytes[8];
    for (int i = 0; i < 8; ++i)
      bytes[i] = static_cast<uint8_t>(number >> (8 * i));
    hash.update(bytes);
  }
  std::string hex() { return llvm::toHex(hash.final(), /*LowerCase=*/true); }

private:
  llvm::SHA256 hash;
};
} // namespace

/// A file that cannot be read is reported where one of its functions is called.
static void addLibrary(KeyBuilder &key, const support::ExternLibrary &library) {
  key.add(library.name);
  key.add(library.path);
  const auto file = support::readLibrary(library.path);
  key.add(file ? (*file)->getBuffer() : "");
}

static void addOptions(KeyBuilder &key, const support::Options &options) {
  // A structured binding, so that the build fails when a new field is not added here.
  const auto &[numWarps, numStages, numCtas, maxRegisters, enableFpFusion, debug, sanitizeOverflow, cooperativeGrid,
               programmaticLaunch, inputPrecision, supportedFp8, ptxVersion, ptxOptions, externLibraries, ownLauncher,
               sanitize, wavesPerEu, matrixInstrNonKDim, kpack, flushDenormals, useBufferOps, useAsyncCopy] = options;
  for (uint64_t number :
       {numWarps, numStages, numCtas, maxRegisters, ptxVersion, sanitize, wavesPerEu, matrixInstrNonKDim, kpack})
    key.add(number);
  for (bool flag : {enableFpFusion, debug, sanitizeOverflow, cooperativeGrid, programmaticLaunch, ownLauncher,
                    flushDenormals, useBufferOps})
    key.add(uint64_t{flag});
  key.add(uint64_t{useAsyncCopy ? 1u + *useAsyncCopy : 0u});
  key.add(inputPrecision);
  key.add(supportedFp8.size());
  for (const std::string &name : supportedFp8)
    key.add(name);
  key.add(ptxOptions);
  key.add(externLibraries.size());
  for (const support::ExternLibrary &library : externLibraries)
    addLibrary(key, library);
}

static void addArgument(KeyBuilder &key, const sema::KernelArgument &arg) {
  if (arg.compound) {
    key.add(arg.compound->className ? *arg.compound->className : "");
    key.add(uint64_t{arg.elements.size()});
    for (auto [index, element] : llvm::enumerate(arg.elements)) {
      key.add(arg.compound->fields ? (*arg.compound->fields)[index] : "");
      addArgument(key, element);
    }
    return;
  }
  key.add(arg.constant ? sema::mangle(*arg.constant) : arg.type.str());
  key.add(static_cast<uint64_t>(arg.type.isConst));
  key.add(static_cast<uint64_t>(arg.divisibility));
  key.add(uint64_t{arg.pointerRange});
}

std::string driver::cacheKey(const sema::KernelRequest &kernel, const std::string &sourceKey,
                             const std::string &signature) {
  KeyBuilder key;
  key.add(buildId());
  key.add(sourceKey);
  key.add(kernel.name);
  key.add(signature);
  for (const sema::KernelArgument &arg : kernel.args)
    addArgument(key, arg);
  addOptions(key, effectiveOptions(kernel.options, kernel.target));
  const auto &[backend, arch, features, lastLevelCacheBytes] = kernel.target;
  key.add(backend);
  key.add(arch);
  key.add(features);
  key.add(lastLevelCacheBytes);
  return key.hex();
}
