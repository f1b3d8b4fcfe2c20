// Takes compiled kernels from a pack, without Python and without a compilation.
// SPDX-License-Identifier: MIT
#pragma once

#include <nereid/Kernel.h>

#include <vector>

namespace nereid {

/// A file of kernels for many targets and variants, mapped into memory. Copies share it; any number of threads may use
/// it.
class NEREID_API Pack {
public:
  struct Entry {
    std::string name;      ///< of the kernel in its source
    std::string signature; ///< as that of Kernel::fromSource
    std::string target;    ///< "cpu:x86-64-v3", "cuda:90"
    bool isPlain = false;  ///< its parameters are those of the kernel alone, so that other programs can launch it
    uint64_t bytes = 0;
  };

#ifdef __cpp_exceptions
  /// Opens a file that `nereid pack` has written; `publicKey` (64 hexadecimal digits) must have signed it, unless it is
  /// empty. Throws Error.
  static Pack open(const std::string &path, const std::string &publicKey = {}) {
    std::string problem;
    Pack pack = openFile(path, publicKey, problem);
    return problem.empty() ? pack : throw Error(problem);
  }

  /// Loads a kernel onto a device. An empty signature is that of the only variant. For "cpu" it is the best variant of
  /// those that this host can run. Throws Error, with the variants there are.
  Kernel kernel(const std::string &name, const std::string &signature = {}, const std::string &target = "cpu",
                int device = 0) const {
    std::string problem;
    Kernel found = findKernel({name, signature, target}, device, problem);
    return problem.empty() ? found : throw Error(problem);
  }
#endif

  const std::vector<Entry> &entries() const;

private:
  struct Wanted {
    std::string name, signature, target;
  };
  static Pack openFile(const std::string &path, const std::string &publicKey, std::string &problem);
  Kernel findKernel(const Wanted &wanted, int device, std::string &problem) const;

  struct Impl;
  explicit Pack(std::shared_ptr<const Impl> impl) : impl(std::move(impl)) {}
  std::shared_ptr<const Impl> impl;
};

} // namespace nereid
