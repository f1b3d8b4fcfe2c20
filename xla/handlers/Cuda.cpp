// The handlers of NVIDIA's GPUs, typed and untyped.
// SPDX-License-Identifier: MIT
#include "runtime/cuda/CudaDevice.h"
#include "xla/handlers/Handlers.h"
#include "xla/handlers/Typed.h"

#include <cstdio>
#include <dlfcn.h>

using namespace nereid;
using namespace nereid::xla::ffi;
using artifact::Error;
using artifact::Expected;

/// The device whose context XLA has made current: its primary context, which this runtime uses too.
static Expected<runtime::CudaDevice *> currentDevice() {
  auto driver = runtime::CudaDriver::process().get();
  if (!driver)
    return driver.error();
  runtime::cuda::Ordinal ordinal = 0;
  if (const auto result = (*driver)->calls().cuCtxGetDevice(&ordinal); result != runtime::cuda::Success)
    return (*driver)->failure({"cuCtxGetDevice", result});
  return (*driver)->device(ordinal);
}

static Expected<void> runTyped(const Frame &frame) {
  GetStream stream{sizeof stream, nullptr, frame.context, nullptr};
  if (Failure *failure = frame.api->getStream(&stream)) {
    DropFailure drop{sizeof drop, nullptr, failure};
    frame.api->dropFailure(&drop);
    return Error{"xla-stream", "XLA gives no stream; the handler is registered for a platform that is not CUDA"};
  }
  auto device = currentDevice();
  if (!device)
    return device.error();
  return runFrame(frame, **device, stream.stream);
}

static Failure *handle(void *pointer, uint32_t traits) {
  auto &frame = *static_cast<Frame *>(pointer);
  if (const auto answer = answerMetadata(frame, traits))
    return *answer;
  auto done = runTyped(frame);
  return done ? nullptr : report(frame, done.error());
}

void *nereid_xla_cuda(void *frame) { return handle(frame, kCapturableTrait); }
void *nereid_xla_cuda_autotuned(void *frame) { return handle(frame, /*traits=*/0); }

//--- The untyped interface ---------------------------------------------------------------------

static void reportUntyped(void *status, const Error &error) {
  using SetFailure = void (*)(void *status, const char *message, size_t size);
  static const auto setFailure = reinterpret_cast<SetFailure>(dlsym(RTLD_DEFAULT, "XlaCustomCallStatusSetFailure"));
  const std::string text = error.text + " [" + error.code + "]";
  if (setFailure && status)
    setFailure(status, text.data(), text.size());
  else // XLA hides the function; a kernel that has not run must not go unnoticed
    std::fprintf(stderr, "triton: %s\n", text.c_str());
}

static Expected<void> runUntyped(void *stream, void **buffers, std::string_view opaque) {
  auto device = currentDevice();
  if (!device)
    return device.error();
  auto payload = xla::loadedPayload(opaque, **device);
  if (!payload)
    return payload.error();
  return (*payload)->run({.untyped = buffers}, stream);
}

void nereid_xla_cuda_untyped(void *stream, void **buffers, const char *opaque, size_t size, void *status) {
  if (auto done = runUntyped(stream, buffers, {opaque, size}); !done)
    reportUntyped(status, done.error());
}
