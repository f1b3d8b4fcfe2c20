// Compares addresses with the extents of a launch's tensors, and memory with its initial fill value.
// SPDX-License-Identifier: MIT
#include "runtime/cpu/CheckedMemory.h"

#include "runtime/process/StoredPatterns.h"

#include <cstring>

namespace nereid::runtime {

static size_t parameterCount(const LaunchMemory &memory) { return memory.artifact->parameters.size(); }

static bool isPointer(const LaunchMemory &memory, size_t parameter) {
  return memory.artifact->parameters[parameter].kind == artifact::ParameterKind::Pointer;
}

static bool contains(const MemoryExtent &extent, uint64_t address, uint32_t bytes) {
  const uint64_t size = static_cast<uint64_t>(extent.high - extent.low);
  return size >= bytes && address - (extent.base + static_cast<uint64_t>(extent.low)) <= size - bytes;
}

/// The parameter whose tensor contains the element; nullopt where none does.
static std::optional<size_t> ownerOf(const CheckedValues &values, const LaunchMemory &memory, uint64_t address) {
  const uint32_t bytes = values.site.elementBytes;
  if (values.site.argument >= 0) {
    const auto parameter = static_cast<size_t>(values.site.argument);
    const MemoryExtent &extent = memory.extents[parameter];
    return extent.isKnown && contains(extent, address, bytes) ? std::optional(parameter) : std::nullopt;
  }
  for (size_t parameter = 0; parameter < parameterCount(memory); ++parameter)
    if (memory.extents[parameter].isKnown && contains(memory.extents[parameter], address, bytes))
      return parameter;
  return std::nullopt;
}

/// Whether the launcher gave the extents of all tensors that the pointers may belong to.
static bool knowsExtents(const CheckedValues &values, const LaunchMemory &memory) {
  if (values.site.argument >= 0)
    return memory.extents[values.site.argument].isKnown;
  for (size_t parameter = 0; parameter < parameterCount(memory); ++parameter)
    if (isPointer(memory, parameter) && !memory.extents[parameter].isKnown)
      return false;
  return true;
}

//--- Bounds --------------------------------------------------------------------------------------

static int64_t distance(const MemoryExtent &extent, uint64_t address) {
  const auto offset = static_cast<int64_t>(address - extent.base);
  return offset < extent.low ? extent.low - offset : offset - extent.high;
}

/// The tensor whose extent is nearest to the address, as the likely intended one.
static size_t nearest(const CheckedValues &values, const LaunchMemory &memory, uint64_t address) {
  if (values.site.argument >= 0)
    return static_cast<size_t>(values.site.argument);
  std::optional<size_t> best;
  for (size_t parameter = 0; parameter < parameterCount(memory); ++parameter)
    if (isPointer(memory, parameter) &&
        (!best || distance(memory.extents[parameter], address) < distance(memory.extents[*best], address)))
      best = parameter;
  return best.value_or(0);
}

static std::string elementText(const MemoryExtent &extent, const std::string &name, uint64_t address, int64_t bytes) {
  const auto offset = static_cast<int64_t>(address - extent.base);
  const int64_t index = offset >= 0 ? offset / bytes : -((bytes - 1 - offset) / bytes);
  return "element " + std::to_string(index) + " of `" + name + "`, at byte " + std::to_string(offset) + ",";
}

std::optional<Finding> findOutside(const CheckedValues &values, const LaunchMemory &memory) {
  if (!knowsExtents(values, memory))
    return std::nullopt;
  for (int64_t element = 0; element < values.elements; ++element) {
    if (!values.counts(element))
      continue;
    const uint64_t address = values.pointers()[element];
    if (ownerOf(values, memory, address))
      continue;
    const size_t parameter = nearest(values, memory, address);
    const MemoryExtent &extent = memory.extents[parameter];
    const std::string &name = memory.artifact->parameters[parameter].name;
    const int64_t bytes = values.site.elementBytes, size = extent.high - extent.low;
    std::string text = elementText(extent, name, address, bytes) + " is " + values.site.what + "; ";
    if (!extent.base)
      return Finding{element, text + "`" + name + "` is None"};
    text += "`" + name + "` has " + std::to_string(size / bytes) + " elements, " + std::to_string(size) + " bytes";
    if (extent.low)
      text += ", from byte " + std::to_string(extent.low) + " on";
    return Finding{element, text};
  }
  return std::nullopt;
}

//--- Unwritten memory ----------------------------------------------------------------------------

static bool hasPattern(const MemoryExtent &extent, const void *address, uint32_t bytes) {
  return extent.patternBytes == bytes && std::memcmp(address, &extent.pattern, bytes) == 0;
}

static bool hasPatterns(const LaunchMemory &memory) {
  for (size_t parameter = 0; parameter < parameterCount(memory); ++parameter)
    if (memory.extents[parameter].patternBytes)
      return true;
  return false;
}

std::optional<Finding> findUnwritten(const CheckedValues &values, const LaunchMemory &memory) {
  if (!hasPatterns(memory))
    return std::nullopt;
  const uint32_t bytes = values.site.elementBytes;
  for (int64_t element = 0; element < values.elements; ++element) {
    const uint64_t address = values.pointers()[element];
    const auto owner = values.counts(element) ? ownerOf(values, memory, address) : std::nullopt;
    if (!owner || !hasPattern(memory.extents[*owner], reinterpret_cast<const void *>(address), bytes))
      continue;
    if (!StoredPatterns::all().contains(address))
      return Finding{element,
                     elementText(memory.extents[*owner], memory.artifact->parameters[*owner].name, address, bytes) +
                         " is " + values.site.what + "; nothing has been written there"};
  }
  return std::nullopt;
}

void noteWritten(const CheckedValues &values, const LaunchMemory &memory) {
  if (!hasPatterns(memory))
    return;
  const uint32_t bytes = values.site.elementBytes;
  const auto *stored = static_cast<const char *>(values.values[1]);
  StoredPatterns &patterns = StoredPatterns::all();
  for (int64_t element = 0; element < values.elements; ++element) {
    const uint64_t address = values.pointers()[element];
    const auto owner = values.counts(element) ? ownerOf(values, memory, address) : std::nullopt;
    if (!owner)
      continue;
    if (hasPattern(memory.extents[*owner], stored + element * bytes, bytes))
      patterns.insert(address);
    else
      patterns.erase(address);
  }
}

std::optional<Finding> findUndefined(const CheckedValues &values) {
  const auto *flags = static_cast<const uint8_t *>(values.values[0]);
  for (int64_t element = 0; element < values.elements; ++element)
    if (flags[element] && values.counts(element))
      return Finding{element, std::string(values.site.what) + " comes from a lane that a load's mask lets out; give "
                                                              "that load an `other`"};
  return std::nullopt;
}

} // namespace nereid::runtime
