// Makes a device or a context the calling thread's current one for the length of a scope.
// SPDX-License-Identifier: MIT
#pragma once

namespace nereid::runtime {

/// The driver's calls that tell and set what is current, with their names.
template <typename Handle> struct CurrentCalls {
  int (*get)(Handle *);
  const char *getName;
  int (*set)(Handle);
  const char *setName;
};

template <typename Handle> class CurrentScope {
public:
  CurrentScope(const CurrentCalls<Handle> &calls, Handle wanted) : call(calls.getName), set(calls.set) {
    result = calls.get(&previous);
    if (result != 0 || previous == wanted)
      return;
    call = calls.setName;
    result = set(wanted);
    changed = result == 0;
  }
  ~CurrentScope() {
    if (changed)
      set(previous);
  }
  CurrentScope(const CurrentScope &) = delete;
  CurrentScope &operator=(const CurrentScope &) = delete;

  /// The result of the switch, 0 for success; the name is for the message.
  int result = 0;
  const char *call;

private:
  int (*set)(Handle);
  Handle previous = {};
  bool changed = false;
};

} // namespace nereid::runtime
