// The text for a call that fails because an earlier kernel has failed.
// SPDX-License-Identifier: MIT
#include "runtime/gpu/GpuDevice.h"

namespace nereid::runtime {

Error GpuDevice::earlierFailure(const std::string &what, const std::string &driverText,
                                const char *blockingVariable) const {
  const std::string launched = history.text();
  return {"launch-earlier",
          what + ", since a kernel has failed on " + name() + ": " + driverText + "; " +
              (launched.empty() ? "none was launched here since the last time that all was well"
                                : "launched here since the last time that all was well, newest last: " + launched) +
              "; with " + blockingVariable +
              "=1 set the kernel whose own launch fails is the one; start a new process, since "
              "this one cannot use the GPU any more"};
}

} // namespace nereid::runtime
