// A GPU's streams, events and memory by the calls that all drivers have, and the texts of its failures.
// SPDX-License-Identifier: MIT
#include "runtime/gpu/GpuDevice.h"

namespace nereid::runtime {

using namespace gpu;

std::string GpuDevice::name() const { return library.words().backend + (":" + std::to_string(index)); }

GpuDevice *GpuDevice::sibling(int number) const {
  auto found = library.find(number);
  return found ? *found : nullptr;
}

//--- Failures ----------------------------------------------------------------------------------

/// Whether the result means that a kernel has failed: the device then returns it from every call.
static bool isKernelFailure(Result result) {
  switch (result) {
  case EccUncorrectable:
  case NvlinkUncorrectable:
  case Contained:
  case IllegalAddress:
  case LaunchTimeout:
  case DeviceAssert:
  case HardwareStackError:
  case IllegalInstruction:
  case MisalignedAddress:
  case InvalidAddressSpace:
  case InvalidPc:
  case LaunchFailed:
    return true;
  default:
    return false;
  }
}

void GpuDevice::notePeer(const std::string &kernel, const std::string &parameter, uint64_t address, int owner) {
  peers.record({internedName(kernel), internedName(parameter), address, owner});
}

/// "; `y` of `add` is memory of cuda:1, to which cuda:0 has no access: ..." for arguments that explain the failure.
std::string GpuDevice::peerText() const {
  std::string text;
  for (const PeerArgument &argument : peers.recorded()) {
    const PeerAccess access = peerAccess(argument.address, argument.owner);
    if (access == PeerAccess::On)
      continue;
    const std::string owner = library.words().backend + (":" + std::to_string(argument.owner));
    text += std::string("; `") + argument.parameter + "` of `" + argument.kernel + "` is memory of " + owner + ", ";
    if (access == PeerAccess::Never)
      text += "which " + name() + " cannot access: the two are not connected as peers; copy it to " + name();
    else
      text += "to which " + name() + (access == PeerAccess::Off ? " has" : " may have") +
              " no access: peer access has to be enabled first; torch does so when it copies a tensor from one GPU to "
              "the other";
  }
  return text;
}

Error GpuDevice::failure(const std::string &code, const std::string &what, CallResult failed) const {
  const std::string driverText = library.describe(failed);
  if (!isKernelFailure(failed.result))
    return {code, what + ": " + driverText};
  const std::string launched = history.text();
  return {"launch-earlier",
          what + ", since a kernel has failed on " + name() + ": " + driverText + "; " +
              (launched.empty() ? "none was launched here since the last time that all was well"
                                : "launched here since the last time that all was well, newest last: " + launched) +
              (failed.result == IllegalAddress ? peerText() : "") + "; with " + library.words().blockingVariable +
              "=1 set the kernel whose own launch fails is the one; start a new process, since "
              "this one cannot use the GPU any more"};
}

Error GpuDevice::failure(const std::string &what, CallResult failed) const {
  return failure(library.words().backend + std::string("-call"), what, failed);
}

//--- Calls -------------------------------------------------------------------------------------

template <typename... Parameters, typename... Arguments>
Expected<void> GpuDevice::call(const Call<Result(Parameters...)> &function, Arguments... arguments) {
  auto wanted = wantedCurrent();
  if (!wanted)
    return wanted.error();
  const CurrentScope scope(*this, *wanted);
  CallResult done = scope.outcome;
  if (done.result == Success)
    done = {function.name, function(arguments...)};
  if (done.result == Success)
    return {};
  return failure(std::string(function.name) + " failed on " + name(), done);
}

Expected<void> GpuDevice::makeCurrent() {
  auto wanted = wantedCurrent();
  if (!wanted)
    return wanted.error();
  if (const CallResult done = setCurrent(*wanted); done.result != Success)
    return failure(std::string(done.call) + " failed on " + name(), done);
  return {};
}

Expected<void> GpuDevice::synchronize() {
  auto wanted = wantedCurrent();
  if (!wanted)
    return wanted.error();
  const CurrentScope scope(*this, *wanted);
  CallResult done = scope.outcome;
  const uint64_t next = history.next(); // other threads may launch meanwhile
  if (done.result == Success)
    done = {calls().synchronize.name, calls().synchronize()};
  if (done.result != Success)
    return failure(library.words().waitFailure + name(), done);
  history.forgetBefore(next);
  peers.clear();
  return {};
}

//--- Streams and events ------------------------------------------------------------------------

Expected<void> GpuDevice::orderStreams(void *earlier, void *later) {
  Event event = nullptr;
  auto done = call(calls().createEvent, &event, kEventWithoutTiming);
  if (done)
    done = recordEvent(event, earlier);
  if (done)
    done = call(calls().waitForEvent, static_cast<Stream>(later), event, 0u);
  if (event)
    destroyEvent(event);
  return done;
}

Expected<void *> GpuDevice::createEvent() {
  Event event = nullptr;
  auto done = call(calls().createEvent, &event, 0u);
  return done ? Expected<void *>(event) : done.error();
}

Expected<void> GpuDevice::recordEvent(void *event, void *stream) {
  return call(calls().recordEvent, static_cast<Event>(event), static_cast<Stream>(stream));
}

Expected<float> GpuDevice::millisecondsBetween(void *earlier, void *later) {
  float milliseconds = 0;
  auto done = call(calls().elapsedTime, &milliseconds, static_cast<Event>(earlier), static_cast<Event>(later));
  return done ? Expected<float>(milliseconds) : done.error();
}

void GpuDevice::destroyEvent(void *event) { (void)call(calls().destroyEvent, static_cast<Event>(event)); }

//--- Memory ------------------------------------------------------------------------------------

Expected<uint64_t> GpuDevice::allocate(uint64_t bytes) {
  Address address = 0;
  auto done = call(calls().allocate, &address, bytes);
  return done ? Expected<uint64_t>(address) : done.error();
}

Expected<void> GpuDevice::fillWithZeros(uint64_t address, uint64_t bytes, void *stream) {
  return call(calls().fill, address, static_cast<unsigned char>(0), bytes, static_cast<Stream>(stream));
}

void GpuDevice::release(uint64_t address) { (void)call(calls().release, address); }

} // namespace nereid::runtime
