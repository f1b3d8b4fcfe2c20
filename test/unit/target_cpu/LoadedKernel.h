// Compiles a kernel given as `tt` text for this host and calls it.
// SPDX-License-Identifier: MIT
#pragma once

#include "compiler/lowering/Kernel.h"
#include "compiler/target/cpu/CpuTarget.h"

#include <array>
#include <cstring>
#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace nereid::cpu_test {

/// The packed block of the plain ABI, built up argument by argument.
class Arguments {
public:
  template <typename T> Arguments &add(T value) {
    bytes.resize((bytes.size() + sizeof(T) - 1) / sizeof(T) * sizeof(T));
    bytes.resize(bytes.size() + sizeof(T));
    std::memcpy(bytes.data() + bytes.size() - sizeof(T), &value, sizeof(T));
    return *this;
  }
  /// With the two scratch pointers at the end.
  std::vector<char> packed() const;

private:
  std::vector<char> bytes;
};

class LoadedKernel {
public:
  /// Null, with the diagnostics in `error`, where the text does not compile.
  static std::unique_ptr<LoadedKernel> compile(const std::string &text, std::string *error = nullptr);
  static std::unique_ptr<LoadedKernel> compile(const std::string &text, const support::TargetSpec &target,
                                               std::string *error = nullptr);
  ~LoadedKernel();

  void run(std::array<uint32_t, 3> grid, const Arguments &arguments) const;
  /// The programs [begin, end) alone.
  void run(std::array<uint32_t, 3> grid, const Arguments &arguments, uint64_t begin, uint64_t end) const;

private:
  LoadedKernel() = default;
  int file = -1;
  void *handle = nullptr;
  void *entry = nullptr;
  uint64_t arenaBytes = 0;
};

/// What the target's phases leave.
struct Code {
  std::string assembly;
  std::vector<char> object, sharedObject;
  uint64_t arenaBytes = 0;
  std::vector<lowering::Param> params;
};

/// Compiles without loading, for any target.
std::optional<Code> compileText(const std::string &text, const support::TargetSpec &target = cpu::hostTarget(),
                                std::string *error = nullptr);

/// `count` bytes that end where memory that may not be touched begins.
class FencedBytes {
public:
  explicit FencedBytes(size_t count);
  ~FencedBytes();
  FencedBytes(const FencedBytes &) = delete;
  FencedBytes &operator=(const FencedBytes &) = delete;
  template <typename T> T *as() const { return reinterpret_cast<T *>(begin); }

private:
  char *base;
  char *begin;
  size_t mapped;
};

/// The text with every `from` replaced.
std::string replaced(std::string text, const std::string &from, const std::string &to);

} // namespace nereid::cpu_test
