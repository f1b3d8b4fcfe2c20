// What launches need of a loaded kernel, found once; unloads the kernel.
// SPDX-License-Identifier: MIT
#include "runtime/gpu/DriverKernel.h"

#include "runtime/gpu/CaptureScope.h"
#include "runtime/gpu/CurrentScope.h"

namespace nereid::runtime {

DriverKernel::DriverKernel(GpuDevice &device, artifact::Artifact contents, gpu::Module module, gpu::Function function,
                           KernelResources resources)
    : Kernel(device, std::move(contents)), loader(device), module(module), function(function),
      launchName(internedName(artifact().name)), argumentBytes(artifact::packedBytes(artifact())),
      usesScratch(artifact().globalScratchBytes != 0 || artifact().profileScratchBytes != 0), known(resources) {
  for (const artifact::Parameter &parameter : artifact().parameters)
    offsets.push_back(parameter.offset);
  const auto scratch = static_cast<uint32_t>(artifact::scratchOffset(artifact()));
  offsets.insert(offsets.end(), {scratch, scratch + 8});
}

DriverKernel::~DriverKernel() {
  // Errors are ignored: the process is ending, or the device is gone with the code.
  auto wanted = loader.wantedCurrent();
  if (!wanted)
    return;
  const CurrentScope scope(loader, *wanted);
  if (scope.outcome.result != gpu::Success)
    return;
  const CaptureScope relaxed(loader.calls().exchangeCaptureMode);
  loader.calls().unloadModule(module);
}

} // namespace nereid::runtime
