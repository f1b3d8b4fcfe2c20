// AMD's HIP runtime as a table of functions, found in libamdhip64 at first use.
// SPDX-License-Identifier: MIT
#pragma once

#include "runtime/Device.h"
#include "runtime/hip/HipAbi.h"

#include <memory>
#include <string>
#include <vector>

namespace nereid::runtime {

namespace hip {
struct HipCalls {
#define NEREID_HIP_CALL(name, parameters) Result(*name) parameters = nullptr;
#include "runtime/hip/HipCalls.def"
};
} // namespace hip

class HipDevice;

/// An initialised libamdhip64. It stays open until the process ends.
class HipDriver {
public:
  /// Opens the library and initialises it. Codes: `hip-library`, `hip-version`, `hip-no-device`, `hip-call`.
  static Expected<std::unique_ptr<HipDriver>> open(const std::string &library);
  /// Loads the library alone; null where there is none.
  static void *openLibrary(const std::string &path);
  ~HipDriver();

  const hip::HipCalls &calls() const { return table; }
  /// The HIP version: 60342134 is 6.3.42134.
  int version() const { return hipVersion; }
  int deviceCount() const { return static_cast<int>(devices.size()); }
  /// Code: `hip-no-device`.
  Expected<HipDevice *> device(int ordinal) const;

  /// "invalid device image (hipErrorInvalidImage from hipModuleLoadDataEx)"
  std::string describe(const char *call, hip::Result result) const;

private:
  HipDriver() = default;
  Expected<void> initialize();

  hip::HipCalls table;
  int hipVersion = 0;
  std::vector<std::unique_ptr<HipDevice>> devices;
};

/// "6.3" for 60342134.
std::string hipVersionText(int version);

//--- The driver of this process ----------------------------------------------------------------

/// Sets the path of libamdhip64; empty for the system's own. Kernels that another library has loaded stay with it.
void setHipLibrary(const std::string &path);

/// Whether there is a libamdhip64. It is not initialised, so a process may fork afterwards.
bool hasHipLibrary();

/// The driver, opened and initialised at first use; after a failure the next call tries again.
Expected<HipDriver *> hipDriver();

/// Whether the driver has been initialised.
bool isHipInitialized();

Expected<HipDevice *> hipDevice(int ordinal);

} // namespace nereid::runtime
