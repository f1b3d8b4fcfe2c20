// Kernels for the runtime's tests, written in C and compiled when a test runs.
// SPDX-License-Identifier: MIT
#pragma once

#include "artifact/Artifact.h"
#include "runtime/Device.h"

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

namespace nereid::runtime {

/// The shared object made of this C text; empty, with a failed test, when the
/// compiler refuses it. Equal texts are compiled once.
std::string compileC(const std::string &source);

/// An artifact around such an object: entry "kernel", parameters as 8-byte slots.
artifact::Artifact cArtifact(const std::string &source, uint32_t parameters);

/// The same, loaded on the CPU device; null, with a failed test, on an error.
std::shared_ptr<Kernel> cKernel(const std::string &source, uint32_t parameters);

/// An argument block: each argument in 8 bytes, then two null scratch pointers.
class Packed {
public:
  template <typename... Args> explicit Packed(Args... args) { (add(args), ...), add(nullptr), add(nullptr); }
  operator std::span<const char>() const {
    return {reinterpret_cast<const char *>(slots.data()), slots.size() * sizeof(uint64_t)};
  }

private:
  template <typename T> void add(T *pointer) { slots.push_back(reinterpret_cast<uint64_t>(pointer)); }
  void add(std::nullptr_t) { slots.push_back(0); }
  void add(uint64_t value) { slots.push_back(value); }
  std::vector<uint64_t> slots;
};

/// Sets the number of threads of a launch for the length of a scope.
class ThreadsForScope {
public:
  explicit ThreadsForScope(uint32_t threads);
  ~ThreadsForScope();
};

} // namespace nereid::runtime
