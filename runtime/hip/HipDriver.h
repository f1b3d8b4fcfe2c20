// AMD's HIP runtime as a table of functions, found in libamdhip64 at first use.
// SPDX-License-Identifier: MIT
#pragma once

#include "runtime/gpu/GpuDriver.h"
#include "runtime/gpu/ProcessDriver.h"
#include "runtime/hip/HipAbi.h"

namespace nereid::runtime {

namespace hip {
struct HipCalls : SharedCalls {
#define NEREID_HIP_CALL(name, parameters) Result(*name) parameters = nullptr;
#include "runtime/hip/HipCalls.def"
};
} // namespace hip

class HipDevice;

/// An initialised libamdhip64. Its version 60342134 is HIP 6.3.42134.
class HipDriver : public GpuDriver {
public:
  using Device = HipDevice;
  /// The driver of this process.
  static ProcessDriver<HipDriver> &process();
  /// Opens the library and initialises it. Codes: `hip-library`, `hip-version`, `hip-no-device`, `hip-call`.
  static Expected<std::unique_ptr<HipDriver>> open(const std::string &library);
  /// Loads the library alone; null where there is none.
  static void *openLibrary(const std::string &path);

  const hip::HipCalls &calls() const { return table; }
  /// Code: `hip-no-device`.
  Expected<HipDevice *> device(int ordinal) const;

private:
  HipDriver();
  Expected<void> initialize();

  hip::HipCalls table;
};

/// "6.3" for 60342134.
std::string hipVersionText(int version);

} // namespace nereid::runtime
