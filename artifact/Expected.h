// A value or an error, for the parts that do not link LLVM.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <variant>

namespace nereid::artifact {

/// An error: a stable, documented code for programs and a text for people (lower case, no period, both values where two
/// disagree).
struct Error {
  std::string code;
  std::string text;
  /// For the code `out-of-resources`: the resource, the amount required and the amount available.
  std::string resource = {};
  uint64_t required = 0;
  uint64_t limit = 0;
};

/// Holds a `T`, or the `Error` that explains why there is none. `*` and `->` may be used only after a check for
/// success.
template <typename T> class [[nodiscard]] Expected {
public:
  Expected(T value) : state(std::in_place_index<0>, std::move(value)) {}
  Expected(Error error) : state(std::in_place_index<1>, std::move(error)) {}

  explicit operator bool() const { return state.index() == 0; }
  T &operator*() { return *std::get_if<0>(&state); }
  const T &operator*() const { return *std::get_if<0>(&state); }
  T *operator->() { return std::get_if<0>(&state); }
  const T *operator->() const { return std::get_if<0>(&state); }
  const Error &error() const { return *std::get_if<1>(&state); }

private:
  std::variant<T, Error> state;
};

/// Success, or an error. Success is one null pointer, so that it costs a launch nothing.
template <> class [[nodiscard]] Expected<void> {
public:
  Expected() = default;
  Expected(Error error) : failure(std::make_unique<Error>(std::move(error))) {}

  explicit operator bool() const { return failure == nullptr; }
  const Error &error() const { return *failure; }

private:
  std::unique_ptr<Error> failure;
};

} // namespace nereid::artifact
