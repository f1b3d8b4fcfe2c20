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
/// Fields with their lengths, so that different lists of fields never are the same bytes.
struct KeyBuilder {
  std::string bytes;

  void add(llvm::StringRef text) {
    add(static_cast<uint64_t>(text.size()));
    bytes += text;
  }
  void add(uint64_t number) {
    for (int i = 0; i < 8; ++i)
      bytes.push_back(static_cast<char>(number >> (8 * i)));
  }
};

/// The values of the options that are part of the key; of libraries, their contents, too.
struct OptionKey {
  KeyBuilder &key;
  bool isPortable; ///< without paths

  void add(uint64_t number) { key.add(number); }
  void add(const std::optional<bool> &choice) { key.add(uint64_t{choice ? 1u + *choice : 0u}); }
  void add(support::SanitizerSet set) { key.add(set.bits); }
  void add(const std::string &text) { key.add(text); }
  void add(const support::ExternLibrary &library) {
    add(library.name);
    if (!isPortable)
      add(library.path);
    // One that cannot be read is reported where one of its functions is called.
    const auto file = support::readLibrary(library.path);
    key.add(driver::hashOf(file ? (*file)->getBuffer() : ""));
  }
  template <typename Element> void add(const std::vector<Element> &list) {
    add(uint64_t{list.size()});
    for (const Element &element : list)
      add(element);
  }
};
} // namespace

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

static std::string inputsOf(const sema::KernelRequest &kernel, const std::string &sourceKey,
                            const std::string &signature, bool isPortable) {
  KeyBuilder key;
  key.bytes.reserve(4096);
  key.add(isPortable ? "pack" : driver::buildId());
  key.add(sourceKey);
  key.add(kernel.name);
  key.add(uint64_t{kernel.kernel && kernel.kernel->isGluon});
  key.add(signature);
  for (const sema::KernelArgument &arg : kernel.args)
    addArgument(key, arg);
  support::forEachOption(
      [&](const support::OptionRow &row, const auto &value) {
        if (row.isInKey)
          OptionKey{key, isPortable}.add(value);
      },
      driver::effectiveOptions(kernel.options, kernel.target));
  const auto &[backend, arch, features, lastLevelCacheBytes] = kernel.target;
  key.add(backend);
  key.add(arch);
  key.add(features);
  key.add(lastLevelCacheBytes);
  return std::move(key.bytes);
}

std::string driver::hashOf(llvm::StringRef bytes) {
  return llvm::toHex(llvm::SHA256::hash(llvm::arrayRefFromStringRef(bytes)), /*LowerCase=*/true);
}

std::string driver::cacheKey(const sema::KernelRequest &kernel, const std::string &sourceKey,
                             const std::string &signature) {
  return hashOf(inputsOf(kernel, sourceKey, signature, /*isPortable=*/false));
}

std::string driver::packInputs(const sema::KernelRequest &kernel, const std::string &sourceKey,
                               const std::string &signature) {
  return inputsOf(kernel, sourceKey, signature, /*isPortable=*/true);
}
