// Loads a kernel's code onto an AMD GPU; reports what does not fit it.
// SPDX-License-Identifier: MIT
#include "artifact/TargetInfo.h"
#include "runtime/gpu/DriverKernel.h"
#include "runtime/gpu/LaunchErrors.h"
#include "runtime/hip/HipDevice.h"

namespace nereid::runtime {

using namespace hip;

Expected<void> HipDevice::checkArtifact(const artifact::Artifact &artifact) const {
  if (artifact.target.backend != artifact::kHip.name)
    return Error{"load-target", quoted(artifact) + " was compiled for `" + artifact.target.backend +
                                    "`; this device is `" + name() + "`"};
  if (artifact.target.arch != archName)
    return Error{"load-target", quoted(artifact) + " was compiled for " + artifact.target.arch + "; " + name() + " (" +
                                    known.name + ") is " + archName};
  if (artifact.abi != artifact::Abi::Plain || artifact.clusterDims != artifact::Dim3{1, 1, 1})
    return Error{"load-abi", quoted(artifact) + " has the launch ABI `own` or clusters of CTAs, which AMD GPUs lack"};
  if (artifact.cooperative && !isCooperative)
    return Error{"load-feature",
                 quoted(artifact) + " is launched cooperatively, which " + name() + " (" + known.name + ") cannot do"};
  return checkResources(artifact, known, name());
}

Expected<Module> HipDevice::loadModule(const artifact::Artifact &artifact) const {
  Module module = nullptr;
  const Result result = calls().loadModule(&module, artifact.binary.data(), 0, nullptr, nullptr);
  if (result != Success)
    return failure("load-binary", "the code of " + quoted(artifact) + " cannot be loaded on " + name(),
                   {calls().loadModule.name, result});
  return module;
}

/// The code's own limit of dynamic LDS needs no call: hipFuncSetAttribute takes a function of the host program, and
/// launches by module may use all that the device has.
Expected<std::shared_ptr<Kernel>> HipDevice::makeKernel(artifact::Artifact artifact, Module module, Function function) {
  auto resources = readResources(artifact, function);
  if (!resources)
    return resources.error();
  return std::shared_ptr<Kernel>(
      std::make_shared<DriverKernel>(*this, std::move(artifact), module, function, *resources));
}

} // namespace nereid::runtime
