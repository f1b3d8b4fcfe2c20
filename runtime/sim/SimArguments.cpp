// Lays out the parameters of a launch, as a GPU's launcher does, and allocates its scratch memory.
// SPDX-License-Identifier: MIT
#include "runtime/sim/SimArguments.h"

#include "artifact/ElementType.h"
#include "runtime/gpu/LaunchErrors.h"
#include "runtime/gpu/LaunchGrid.h"
#include "runtime/sim/units/TensorMap.h"

#include <algorithm>
#include <cstring>

namespace nereid::sim {

using namespace runtime;

/// The bytes of fresh scratch memory: a kernel may not rely on zeros.
static constexpr int kFresh = 0xA5;

//--- Grid --------------------------------------------------------------------------------------

Expected<void> SimArguments::fillGrid(const SimAbi &abi, Grid programs) {
  const std::optional<Grid> fitting = ctasOf(programs, abi.artifact.clusterDims);
  if (!fitting)
    return gridError(abi.artifact, programs);
  ctas = {fitting->x, fitting->y, fitting->z};
  return {};
}

/// Makes the grid one of as many CTAs as run at once, which take programs by a pair of counters.
Expected<void> SimArguments::sharePrograms(const SimAbi &abi, Grid programs) {
  const std::optional<uint32_t> count = programCount(programs);
  if (!count)
    return gridError(abi.artifact, programs);
  const artifact::Dim3 &cluster = abi.artifact.clusterDims;
  const uint64_t resident = std::min<uint64_t>(*count, abi.residentPrograms);
  ctas = {static_cast<uint32_t>(resident * cluster[0] * cluster[1] * cluster[2]), 1, 1};
  counters = std::make_unique<uint32_t[]>(2);
  for (const uint32_t extent : {programs.x, programs.y, programs.z})
    add(&extent, sizeof extent, sizeof extent);
  addMemory("the counters of programs", counters.get(), 2 * sizeof(uint32_t));
  return {};
}

//--- Parameters --------------------------------------------------------------------------------

uint32_t SimArguments::add(const void *bytes, size_t size, size_t alignment) {
  block.resize((block.size() + alignment - 1) / alignment * alignment);
  const auto *first = static_cast<const char *>(bytes);
  block.insert(block.end(), first, first + size);
  return static_cast<uint32_t>(block.size() - size);
}

/// A pointer to memory of the launcher.
uint32_t SimArguments::addMemory(std::string name, const void *begin, uint64_t bytes) {
  const uint64_t address = reinterpret_cast<uint64_t>(begin);
  const uint32_t at = add(&address, sizeof address, sizeof address);
  memory.push_back({std::move(name), at, address, address, address + bytes, 1, bytes != 0, 0, 0});
  return at;
}

/// Bytes of what a type such as "*fp32" points to.
static uint32_t elementBytes(std::string_view type) {
  type.remove_prefix(std::min(type.find_first_not_of("*k"), type.size()));
  const auto element = artifact::elementOfSignature(type);
  return element ? static_cast<uint32_t>(artifact::storageBytes(*element)) : 1;
}

static Buffer bufferOf(const artifact::Parameter &parameter, uint32_t param, const char *packed,
                       const MemoryExtent &extent) {
  Buffer buffer{parameter.name, param};
  std::memcpy(&buffer.base, packed + parameter.offset, sizeof buffer.base);
  buffer.begin = buffer.base + static_cast<uint64_t>(extent.low);
  buffer.end = buffer.base + static_cast<uint64_t>(extent.high);
  buffer.elementBytes = elementBytes(parameter.type);
  buffer.isKnown = extent.isKnown;
  buffer.pattern = extent.pattern;
  buffer.patternBytes = extent.patternBytes;
  return buffer;
}

Expected<void> SimArguments::addTensorMaps(const SimAbi &abi, Grid programs, std::span<const char> packed) {
  std::vector<cuda::TensorMap> maps(abi.tensorMaps->count());
  const uint64_t count = uint64_t{programs.x} * programs.y * programs.z;
  if (abi.tensorMaps->make(packed, count <= abi.multiprocessors, maps.data()).fit != TensorMaps::Fit::Yes)
    return Error{"launch-arguments",
                 quoted(abi.artifact) + " was compiled for other arguments: " + abi.tensorMaps->reason(packed)};
  for (const cuda::TensorMap &map : maps)
    add(&map, sizeof map, alignof(cuda::TensorMap));
  return {};
}

//--- Scratch -----------------------------------------------------------------------------------

void SimArguments::Free::operator()(char *memory) const { std::free(memory); }

SimArguments::Memory SimArguments::allocate(uint64_t bytes, uint64_t alignment) {
  alignment = std::max<uint64_t>(alignment, 16);
  bytes = (bytes + alignment - 1) / alignment * alignment;
  Memory memory(static_cast<char *>(std::aligned_alloc(alignment, bytes)));
  if (memory)
    std::memset(memory.get(), kFresh, bytes);
  return memory;
}

Expected<void> SimArguments::addScratch(const artifact::Artifact &artifact, std::span<const char> packed) {
  const struct {
    uint64_t bytes, alignment;
    const char *name;
  } wanted[] = {{artifact.globalScratchBytes, artifact.globalScratchAlign, "scratch"},
                {artifact.profileScratchBytes, artifact.profileScratchAlign, "profile"}};
  for (size_t i = 0; i < 2; ++i) {
    uint64_t address = 0, total = 0;
    std::memcpy(&address, packed.data() + artifact::scratchOffset(artifact) + i * sizeof address, sizeof address);
    if (!address && wanted[i].bytes != 0) { // else the caller supplies the memory
      const bool isTooLarge = __builtin_mul_overflow(ctas.count(), wanted[i].bytes, &total) || total >> 48;
      scratch[i] = isTooLarge ? nullptr : allocate(total, wanted[i].alignment);
      if (!scratch[i])
        return Error{"launch-memory", "there is no " + std::string(wanted[i].name) + " memory for " + quoted(artifact) +
                                          " (" + std::to_string(wanted[i].bytes) + " bytes for each block)"};
      address = reinterpret_cast<uint64_t>(scratch[i].get());
    }
    addMemory("the " + std::string(wanted[i].name) + " memory", reinterpret_cast<const void *>(address), total);
  }
  return {};
}

Expected<SimArguments> SimArguments::make(const SimAbi &abi, Grid programs, std::span<const char> packed,
                                          std::span<const MemoryExtent> extents) {
  SimArguments arguments;
  for (size_t index = 0; index < abi.artifact.parameters.size(); ++index) {
    const artifact::Parameter &parameter = abi.artifact.parameters[index];
    const uint32_t at = arguments.add(packed.data() + parameter.offset, parameter.size, std::max(parameter.size, 1u));
    if (parameter.kind == artifact::ParameterKind::Pointer)
      arguments.memory.push_back(
          bufferOf(parameter, at, packed.data(), index < extents.size() ? extents[index] : MemoryExtent()));
  }
  if (auto done = arguments.fillGrid(abi, programs); !done)
    return done.error();
  if (abi.tensorMaps)
    if (auto done = arguments.addTensorMaps(abi, programs, packed); !done)
      return done.error();
  if (abi.residentPrograms)
    if (auto done = arguments.sharePrograms(abi, programs); !done)
      return done.error();
  if (auto done = arguments.addScratch(abi.artifact, packed); !done)
    return done.error();
  return arguments;
}

//--- Tensor maps -------------------------------------------------------------------------------

namespace driver = runtime::cuda;

/// The caller has checked address, extents and strides.
static driver::Result encodeTiled(driver::TensorMap *result, unsigned elementType, uint32_t rank, driver::Address base,
                                  const uint64_t *extents, const uint64_t *strides, const uint32_t *box,
                                  const uint32_t *elementStrides, driver::TensorMapInterleave interleave,
                                  driver::TensorMapSwizzle swizzle, driver::TensorMapL2Promotion,
                                  driver::TensorMapFill fill) {
  TensorMap map;
  if (rank < 1 || rank > std::size(map.extents))
    return driver::InvalidValue;
  map.rank = static_cast<uint8_t>(rank);
  map.element = elementOfDriver(elementType);
  map.swizzle = static_cast<uint8_t>(swizzle);
  map.interleave = static_cast<uint8_t>(interleave);
  map.padsWithNan = fill == driver::TensorMapFill::Nan;
  map.base = base;
  for (uint32_t i = 0; i < rank; ++i) {
    if (extents[i] > UINT32_MAX || box[i] == 0 || box[i] > artifact::kMaxBoxExtent)
      return driver::InvalidValue;
    map.extents[i] = static_cast<uint32_t>(extents[i]);
    map.box[i] = box[i];
    map.elementStrides[i] = elementStrides[i];
  }
  std::copy(strides, strides + rank - 1, map.strides);
  std::memset(result, 0, sizeof *result);
  std::memcpy(result, &map, sizeof map);
  return driver::Success;
}

const driver::DriverCalls &tensorMapCalls() {
  static const driver::DriverCalls calls = [] {
    driver::DriverCalls table;
    table.cuTensorMapEncodeTiled = encodeTiled;
    return table;
  }();
  return calls;
}

} // namespace nereid::sim
