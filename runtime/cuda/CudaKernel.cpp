// Prepares the launch configuration of a kernel once, and unloads the kernel.
// SPDX-License-Identifier: MIT
#include "runtime/cuda/CudaKernel.h"

#include "runtime/cuda/CaptureScope.h"

namespace nereid::runtime {

using namespace cuda;

CudaKernel::CudaKernel(CudaDevice &device, artifact::Artifact artifact, Module module, Function function,
                       KernelResources resources)
    : Kernel(device, std::move(artifact)), loader(device), module(module), function(function),
      launchName(internedName(this->artifact().name)), cluster(this->artifact().clusterDims), known(resources) {
  const artifact::Artifact &loaded = this->artifact();
  argumentBytes = artifact::packedBytes(loaded);
  for (const artifact::Parameter &parameter : loaded.parameters)
    offsets.push_back(parameter.offset);
  const auto scratch = static_cast<uint32_t>(artifact::scratchOffset(loaded));
  offsets.insert(offsets.end(), {scratch, scratch + 8});
  usesScratch = loaded.globalScratchBytes != 0 || loaded.profileScratchBytes != 0;
  if (loaded.abi == artifact::Abi::Own)
    tensorMaps = std::make_unique<TensorMaps>(loaded, device.driver().calls());
  fillConfig();
}

bool CudaKernel::accepts(std::span<const char> packed) const {
  return !tensorMaps || packed.size() != argumentBytes || tensorMaps->make(packed, nullptr).fit != TensorMaps::Fit::No;
}

void CudaKernel::addAttribute(LaunchAttribute attribute) {
  attributes[config.attributeCount++] = attribute;
  config.attributes = attributes;
}

void CudaKernel::fillConfig() {
  const artifact::Artifact &loaded = artifact();
  config.blockX = loaded.blockDims[0];
  config.blockY = loaded.blockDims[1];
  config.blockZ = loaded.blockDims[2];
  config.dynamicSharedBytes = static_cast<unsigned>(loaded.sharedBytes);
  if (cluster != artifact::Dim3{1, 1, 1}) {
    LaunchAttribute attribute{LaunchAttributeId::ClusterDimension, {}, {}};
    attribute.cluster = {cluster[0], cluster[1], cluster[2]};
    addAttribute(attribute);
  }
  for (auto [isWanted, id] : {std::pair{loaded.cooperative, LaunchAttributeId::Cooperative},
                              std::pair{loaded.programmaticLaunch, LaunchAttributeId::ProgrammaticStreamSerialization}})
    if (isWanted) {
      LaunchAttribute attribute{id, {}, {}};
      attribute.flag = 1;
      addAttribute(attribute);
    }
}

CudaKernel::~CudaKernel() {
  // Errors are ignored: the process is ending, or the context is gone with the code.
  const DriverCalls &calls = loader.driver().calls();
  auto context = loader.context();
  if (!context)
    return;
  const ContextScope scope(calls, *context);
  if (scope.result != Success)
    return;
  const CaptureScope relaxed(calls);
  calls.cuModuleUnload(module);
}

} // namespace nereid::runtime
