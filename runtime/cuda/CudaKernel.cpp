// Prepares the launch configuration of a kernel once.
// SPDX-License-Identifier: MIT
#include "runtime/cuda/CudaKernel.h"

#include "runtime/gpu/LaunchGrid.h"

namespace nereid::runtime {

using namespace cuda;

CudaKernel::CudaKernel(CudaDevice &device, artifact::Artifact contents, Module module, Function function,
                       KernelResources resources, uint32_t residentPrograms)
    : DriverKernel(device, std::move(contents), module, function, resources), residentPrograms(residentPrograms),
      cluster(artifact().clusterDims) {
  if (artifact().abi == artifact::Abi::Own)
    tensorMaps = std::make_unique<TensorMaps>(artifact(), device.driver().calls());
  fillConfig();
}

bool CudaKernel::accepts(Grid grid, std::span<const char> packed) const {
  if (residentPrograms && !programCount(grid))
    return false;
  return !tensorMaps || packed.size() != argumentBytes ||
         tensorMaps->make(packed, isOneWave(grid), nullptr).fit != TensorMaps::Fit::No;
}

bool CudaKernel::isOneWave(Grid grid) const {
  const auto programs = programCount(grid);
  return programs && *programs <= loader.properties().multiprocessorCount;
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

} // namespace nereid::runtime
