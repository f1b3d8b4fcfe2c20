// Lets an older program drive a newer PJRT plugin: PyTorch/XLA 2.8.1 with the CUDA plugin of a later JAX.
// SPDX-License-Identifier: MIT
//
// A plugin refuses argument structures that are smaller than its own and says which size it expects. Every call goes
// through here; a call that is refused for this reason is repeated with a copy that is padded with zeroes, which mean
// "not given". The plugin's file is named by PJRT_FORWARD_TO.
//
//   c++ -std=c++20 -O1 -shared -fPIC -o libpjrt_forwarder.so PjrtForwarder.cpp -ldl
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <utility>

namespace {
using Failure = void;

/// What every argument structure begins with.
struct Arguments {
  size_t bytes;
  void *extension;
};
struct MessageArguments : Arguments {
  Failure *failure;
  const char *text;
  size_t textBytes;
};
struct DestroyArguments : Arguments {
  Failure *failure;
};
struct ExecuteArguments : Arguments {
  void *executable;
  Arguments *options;
};

using Function = Failure *(Arguments *);
constexpr size_t kMaxFunctions = 256, kMaxBytes = 4096;
/// The table of functions, after its size, extensions and version.
struct Api {
  uint64_t header[5];
  Function *functions[kMaxFunctions];
};
enum Index : size_t { kDestroyFailure = 0, kFailureMessage = 1, kFailureCode = 2, kFirstForwarded = 3 };

Api ours;
const Api *theirs;

/// What a refusal says; `structure` is empty if it is another failure.
struct Refusal {
  char structure[96] = "";
  size_t expected = 0;
};
} // namespace

static Refusal read(Failure *failure) {
  MessageArguments message{{sizeof message, nullptr}, failure, nullptr, 0};
  theirs->functions[kFailureMessage](&message); // returns nothing
  char text[512];
  std::snprintf(text, sizeof text, "%.*s", static_cast<int>(message.textBytes), message.text);
  Refusal refusal;
  unsigned long expected = 0;
  const char *start = std::strstr(text, "Unexpected PJRT_");
  if (start && std::sscanf(start, "Unexpected %95s size: expected %lu", refusal.structure, &expected) == 2)
    refusal.expected = expected;
  return refusal;
}

static void drop(Failure *failure) {
  DestroyArguments arguments{{sizeof arguments, nullptr}, failure};
  theirs->functions[kDestroyFailure](&arguments);
}

/// PyTorch/XLA 2.8.1 leaves the last field of this structure out of its size, but has it and reads it.
static size_t bytesThatAreThere(const Arguments &arguments, const Refusal &refusal) {
  const bool isShortByAField = !std::strcmp(refusal.structure, "PJRT_Plugin_Attributes_Args") && arguments.bytes == 24;
  return isShortByAField ? 32 : arguments.bytes;
}

/// The call with a larger copy instead of the one that `slot` points to; what the plugin writes is taken over.
static Failure *repeat(Function *function, Arguments *arguments, Arguments *&slot, const Refusal &refusal) {
  Arguments *const original = slot;
  const size_t stated = original->bytes, present = bytesThatAreThere(*original, refusal);
  if (refusal.expected <= stated || refusal.expected > kMaxBytes)
    return nullptr;
  auto *const copy = static_cast<Arguments *>(std::calloc(1, refusal.expected));
  std::memcpy(copy, original, present);
  copy->bytes = refusal.expected;
  slot = copy;
  Failure *failure = function(arguments == original ? copy : arguments);
  slot = original;
  std::memcpy(original, copy, present);
  original->bytes = stated;
  std::free(copy);
  return failure;
}

template <size_t Index> static Failure *forward(Arguments *arguments) {
  Function *const function = theirs->functions[Index];
  Failure *const failure = function(arguments);
  const Refusal refusal = failure ? read(failure) : Refusal();
  if (!refusal.expected)
    return failure;
  const bool isNested = !std::strcmp(refusal.structure, "PJRT_ExecuteOptions");
  Arguments *whole = arguments;
  Arguments *&slot = isNested ? static_cast<ExecuteArguments *>(arguments)->options : whole;
  if (refusal.expected <= slot->bytes || refusal.expected > kMaxBytes)
    return failure;
  drop(failure);
  return repeat(function, arguments, slot, refusal);
}

template <size_t... Indices> static void forwardAll(size_t count, std::index_sequence<Indices...>) {
  static constexpr Function *kForwarders[] = {forward<Indices>...};
  for (size_t i = kFirstForwarded; i < count; ++i)
    if (theirs->functions[i])
      ours.functions[i] = kForwarders[i];
}

extern "C" __attribute__((visibility("default"))) const void *GetPjrtApi() {
  if (theirs)
    return &ours;
  const char *path = std::getenv("PJRT_FORWARD_TO");
  void *library = path ? dlopen(path, RTLD_NOW | RTLD_LOCAL) : nullptr;
  if (!library) {
    std::fprintf(stderr, "PJRT_FORWARD_TO: %s\n", path ? dlerror() : "names no plugin");
    return nullptr;
  }
  theirs = reinterpret_cast<const Api *(*)()>(dlsym(library, "GetPjrtApi"))();
  const size_t offered = (theirs->header[0] - sizeof theirs->header) / sizeof(Function *);
  const size_t count = offered < kMaxFunctions ? offered : kMaxFunctions;
  std::memcpy(&ours, theirs, sizeof ours.header + count * sizeof(Function *));
  ours.header[0] = sizeof ours.header + count * sizeof(Function *);
  forwardAll(count, std::make_index_sequence<kMaxFunctions>());
  return &ours;
}
