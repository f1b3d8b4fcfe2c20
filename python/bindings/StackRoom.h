// Runs work that uses Python on a thread with a large stack where the calling thread's is small.
// SPDX-License-Identifier: MIT
#pragma once

#include "compiler/support/StackRoom.h"
#include "python/bindings/Python.h"

#include <exception>
#include <type_traits>
#include <utility>

namespace nereid::python {

/// Runs `work` with the GIL and the caller's context variables; its exception is raised here.
void runElsewhere(llvm::function_ref<void()> work);

/// For functions that are bound: `WithStackRoom<function>::call` has room for what the compiler recurses over.
template <auto function> struct WithStackRoom;
template <typename Result, typename... Arguments, Result (*function)(Arguments...)> struct WithStackRoom<function> {
  static Result call(Arguments... arguments) {
    if (support::hasStackRoom())
      return function(std::forward<Arguments>(arguments)...);
    if constexpr (std::is_void_v<Result>) {
      runElsewhere([&] { function(std::forward<Arguments>(arguments)...); });
    } else {
      Result result;
      runElsewhere([&] { result = function(std::forward<Arguments>(arguments)...); });
      return result;
    }
  }
};

} // namespace nereid::python
