// An XLA for tests: its table of functions, and call frames with buffers.
// SPDX-License-Identifier: MIT
#pragma once

#include "xla/LoadedCall.h"
#include "xla/handlers/FfiAbi.h"

#include <deque>
#include <string>

namespace nereid::xla {

/// The table of a version of the interface; what it was asked to create is recorded.
struct FakeXla {
  explicit FakeXla(int minor);

  ffi::Api api{};
  void *stream = reinterpret_cast<void *>(0x40); ///< null: there is none
  std::string failure;                           ///< text of the last one
  ffi::Code code{};
  std::string registered; ///< "name on platform"
  ffi::Handler *handler = nullptr;
  std::string refusal; ///< of the next registration

  static FakeXla *current; ///< the last one made; functions of a table know no more
};

/// A call with an attribute `opaque`.
class FakeCall {
public:
  FakeCall(FakeXla &xla, std::string payload);
  FakeCall(const FakeCall &) = delete;
  FakeCall &operator=(const FakeCall &) = delete;

  void add(bool isResult, artifact::ElementType type, std::vector<int64_t> dims, uint64_t address);
  ffi::Frame *frame();

private:
  std::string payload;
  ffi::Text name, text;
  int32_t attributeType = ffi::kTextAttribute;
  ffi::Text *names[1];
  void *attributes[1];
  std::deque<std::vector<int64_t>> dims;
  std::deque<ffi::Buffer> buffers;
  std::vector<void *> operands, results;
  std::vector<int32_t> types;
  ffi::Frame made{};
};

/// A handler's answer to XLA's query for its metadata.
ffi::Metadata askHandler(void *(*handler)(void *), const FakeXla *xla, bool &refused);

} // namespace nereid::xla
