// Allows calls that a stream capture into a graph would forbid, for the length of a scope.
// SPDX-License-Identifier: MIT
#pragma once

namespace nereid::runtime {

/// Loading and freeing are not part of a graph: a capture records the same with and without them. `Mode` is the
/// driver's own type, whose number 2 is "relaxed".
template <typename Mode> class CaptureScope {
public:
  explicit CaptureScope(int (*exchange)(Mode *)) : exchange(exchange) { exchange(&mode); }
  ~CaptureScope() { exchange(&mode); }
  CaptureScope(const CaptureScope &) = delete;
  CaptureScope &operator=(const CaptureScope &) = delete;

private:
  int (*exchange)(Mode *);
  Mode mode = Mode::Relaxed; ///< swapped with the thread's own mode
};

} // namespace nereid::runtime
