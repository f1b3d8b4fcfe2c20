// The typed handler of the CPU, and registration of handlers for programs that offer none.
// SPDX-License-Identifier: MIT
#include "runtime/cpu/CpuDevice.h"
#include "xla/handlers/Handlers.h"
#include "xla/handlers/Typed.h"

using namespace nereid;
using namespace nereid::xla::ffi;

void *nereid_xla_cpu(void *pointer) {
  auto &frame = *static_cast<Frame *>(pointer);
  if (const auto answer = answerMetadata(frame, /*traits=*/0))
    return *answer;
  auto done = runFrame(frame, runtime::cpuDevice(), nullptr);
  return done ? nullptr : report(frame, done.error());
}

static std::string take(const Api &api, Failure *failure) {
  ReadFailure read{sizeof read, nullptr, failure, nullptr};
  api.readFailure(&read);
  std::string text = read.message ? read.message : "";
  DropFailure drop{sizeof drop, nullptr, failure};
  api.dropFailure(&drop);
  return text;
}

static std::string registerHandler(const Api &api, const char *name, const char *platform, void *(*handler)(void *)) {
  constexpr int kLastMinor = 3;
  if (api.version.major != 0 || api.version.minor > kLastMinor)
    return "this XLA has version " + std::to_string(api.version.major) + "." + std::to_string(api.version.minor) +
           " of the foreign-function interface, through which only versions up to 0." + std::to_string(kLastMinor) +
           " can be reached; register by its own Python function";
  Registration registration{};
  registration.structBytes = sizeof registration;
  registration.name = {name, std::string_view(name).size()};
  registration.platform = {platform, std::string_view(platform).size()};
  registration.execute = reinterpret_cast<Handler *>(handler);
  Failure *failure = api.registerHandler(&registration);
  return failure ? take(api, failure) : "";
}

const char *nereid_xla_register(const void *api, const char *name, const char *platform,
                                void *(*handler)(void *frame)) {
  static thread_local std::string problem;
  problem = registerHandler(*static_cast<const Api *>(api), name, platform, handler);
  return problem.empty() ? nullptr : problem.c_str();
}
