// Converts a payload's kernel to an artifact that a device can load.
// SPDX-License-Identifier: MIT
#include "artifact/TargetInfo.h"
#include "xla/LoadedCall.h"

#include <bit>

namespace nereid::xla {

using artifact::Artifact;
using artifact::ParameterKind;

static constexpr uint32_t kMaxWarps = 64, kMaxCtas = 16;
static constexpr size_t kMaxParameters = 4096; // CUDA's own limit is 32764 bytes of them

static Error kernelError(const KernelCall &call, std::string text) {
  return {"payload-kernel", "kernel `" + call.kernel.name + "` of the payload: " + std::move(text)};
}

/// "90a" for the PTX line `.target sm_90a`, where there is one.
static std::string archOf(const KernelCode &kernel) {
  constexpr std::string_view kDirective = ".target sm_";
  const size_t at = kernel.ptx.find(kDirective);
  if (at == std::string::npos)
    return std::to_string(kernel.computeCapability);
  const size_t begin = at + kDirective.size();
  return kernel.ptx.substr(begin, kernel.ptx.find_first_not_of("0123456789af", begin) - begin);
}

ParameterKind parameterKindOf(artifact::ElementType scalar) {
  const artifact::ElementInfo &info = artifact::infoOf(scalar);
  return info.isFloat() ? ParameterKind::Float : info.isInteger() ? ParameterKind::Int : ParameterKind::Bool;
}

/// Adds the parameters that the PTX must have, each at the next multiple of its size.
static void addParameters(const KernelCall &call, Artifact &artifact) {
  uint32_t offset = 0;
  for (const Parameter &parameter : call.parameters) {
    const auto *scalar = std::get_if<ScalarParameter>(&parameter);
    artifact::Parameter packed;
    packed.size = 8;
    if (scalar) {
      packed.kind = parameterKindOf(scalar->type);
      packed.type = artifact::infoOf(scalar->type).signature;
      packed.size = static_cast<uint32_t>(artifact::storageBytes(scalar->type));
    }
    packed.position = static_cast<uint32_t>(artifact.parameters.size());
    packed.name = std::to_string(packed.position);
    packed.offset = offset = (offset + packed.size - 1) / packed.size * packed.size;
    offset += packed.size;
    artifact.parameters.push_back(std::move(packed));
  }
}

static uint32_t ctasOf(const KernelCode &kernel) {
  if (kernel.numCtas)
    return *kernel.numCtas;
  if (!kernel.cluster)
    return 1;
  const auto &[x, y, z] = *kernel.cluster;
  return x <= kMaxCtas && y <= kMaxCtas && z <= kMaxCtas ? x * y * z : 0;
}

/// A payload that another Triton made contains only PTX.
static Expected<Artifact> artifactFromPtx(const KernelCall &call) {
  const KernelCode &kernel = call.kernel;
  if (kernel.ptx.empty())
    return kernelError(call, "it has neither PTX nor an artifact, so there is no code to run");
  if (kernel.name.empty() || kernel.ptx.find('\0') != std::string::npos)
    return kernelError(call, kernel.name.empty() ? "it has no name" : "its PTX has a zero byte in it");
  if (kernel.numWarps == 0 || kernel.numWarps > kMaxWarps)
    return kernelError(call, "it has " + std::to_string(kernel.numWarps) + " warps; 1 to " + std::to_string(kMaxWarps) +
                                 " are possible");
  const uint32_t ctas = ctasOf(kernel);
  if (!std::has_single_bit(ctas) || ctas > kMaxCtas)
    return kernelError(call, "a cluster has " + std::to_string(ctas) + " blocks; a power of two up to " +
                                 std::to_string(kMaxCtas) + " is possible");
  Artifact artifact;
  artifact.name = artifact.entry = kernel.name;
  artifact.target = {.backend = std::string(artifact::kCuda.name),
                     .arch = archOf(kernel),
                     .features = {},
                     .warpSize = artifact::kCuda.warpSize};
  artifact.blockDims = {32 * kernel.numWarps, 1, 1};
  artifact.clusterDims = {ctas, 1, 1};
  if (kernel.cluster && !kernel.numCtas)
    artifact.clusterDims = *kernel.cluster;
  artifact.sharedBytes = kernel.sharedBytes;
  if (kernel.scratch) {
    artifact.globalScratchBytes = kernel.scratch->bytes;
    artifact.globalScratchAlign = static_cast<uint32_t>(std::min<uint64_t>(kernel.scratch->align, 4096));
  }
  artifact.binary = kernel.ptx;
  addParameters(call, artifact);
  return artifact;
}

Expected<Artifact> artifactOf(const KernelCall &call) {
  if (call.parameters.size() > kMaxParameters)
    return Error{"payload-parameter", "the call has " + std::to_string(call.parameters.size()) +
                                          " parameters; at most " + std::to_string(kMaxParameters) + " are possible"};
  if (call.kernel.artifact.empty())
    return artifactFromPtx(call);
  auto artifact = artifact::deserialize(call.kernel.artifact);
  if (!artifact)
    return artifact.error();
  if (artifact->name != call.kernel.name)
    return kernelError(call, "its artifact is that of kernel `" + artifact->name + "`");
  return artifact;
}

} // namespace nereid::xla
