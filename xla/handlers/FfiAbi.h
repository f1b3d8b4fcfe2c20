// The parts of XLA's typed foreign-function interface that are used here.
// SPDX-License-Identifier: MIT
//
// None of XLA's headers is needed. These structures begin the same in all versions from 0.1 to 0.5 of the interface,
// and only these first fields are read.
#pragma once

#include <cstddef>
#include <cstdint>

namespace nereid::xla::ffi {

struct Extension {
  size_t structBytes;
  int32_t type;
  Extension *next;
};
inline constexpr int32_t kMetadataExtension = 1;

struct Version {
  size_t structBytes;
  Extension *extension;
  int32_t major, minor;
};

struct Text {
  const char *data;
  size_t size;
};

struct Buffer {
  size_t structBytes;
  Extension *extension;
  int32_t type;
  void *data;
  int64_t rank;
  int64_t *dims;
};

/// Operands or results.
struct Values {
  size_t structBytes;
  Extension *extension;
  int64_t count;
  int32_t *types;
  void **values;
};
inline constexpr int32_t kBufferValue = 1;

struct Attributes {
  size_t structBytes;
  Extension *extension;
  int64_t count;
  int32_t *types;
  Text **names;
  void **values;
};
inline constexpr int32_t kTextAttribute = 4;

using Failure = struct FailureTag;
struct Api;

struct Frame {
  size_t structBytes;
  Extension *extension;
  const Api *api;
  void *context;
  int32_t stage;
  Values operands;
  Values results;
  Attributes attributes;
};

using Handler = Failure *(Frame *);

struct Metadata {
  size_t structBytes;
  Version version;
  uint32_t traits;
};
inline constexpr uint32_t kCapturableTrait = 1; ///< the work may be recorded into a graph

/// The extension with which XLA queries a handler's metadata, once.
struct MetadataExtension {
  Extension base;
  Metadata *metadata;
};

enum class Code : int32_t { InvalidArgument = 3, ResourceExhausted = 8, FailedPrecondition = 9, Internal = 13 };

struct MakeFailure {
  size_t structBytes;
  Extension *extension;
  const char *message;
  Code code;
};

struct ReadFailure {
  size_t structBytes;
  Extension *extension;
  Failure *failure;
  const char *message;
};

struct DropFailure {
  size_t structBytes;
  Extension *extension;
  Failure *failure;
};

/// Up to version 0.3; a later version added a fifth handler, and with it another size.
struct Registration {
  size_t structBytes;
  Extension *extension;
  Text name, platform;
  Handler *instantiate, *prepare, *initialize, *execute;
  uint32_t traits;
};

struct GetStream {
  size_t structBytes;
  Extension *extension;
  void *context;
  void *stream;
};

struct Api {
  size_t structBytes;
  Extension *extension;
  Version version;
  const void *internal;
  Failure *(*makeFailure)(MakeFailure *);
  void (*readFailure)(ReadFailure *);
  void (*dropFailure)(DropFailure *);
  Failure *(*registerHandler)(Registration *);
  Failure *(*getStream)(GetStream *);
};

} // namespace nereid::xla::ffi
