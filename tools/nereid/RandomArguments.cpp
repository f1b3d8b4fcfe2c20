// Makes arrays with random elements, and packs their addresses with the scalars.
// SPDX-License-Identifier: MIT
#include "tools/nereid/RandomArguments.h"

#include "artifact/ElementType.h"

#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"

#include <cstring>
#include <random>

using namespace nereid;
using namespace nereid::tools;
using llvm::StringRef;

namespace {
/// How an element with random bits is made: `fixed | random & mask`.
struct Element {
  uint64_t bytes, fixed, mask;
};
} // namespace

/// Of floats the sign and the mantissa are random, the exponent is that of 0.5.
static std::optional<Element> elementOf(StringRef signature) {
  const auto type = artifact::elementOfSignature(signature);
  if (!type)
    return std::nullopt;
  const artifact::ElementInfo &info = artifact::infoOf(*type);
  const uint64_t bytes = artifact::storageBytes(*type);
  if (!info.isFloat())
    return Element{bytes, 0, info.kind == artifact::ElementKind::Bool ? 1u : 7u};
  const uint64_t mantissa = (uint64_t{1} << info.mantissaBits) - 1, sign = uint64_t{1} << (info.bits - 1);
  return Element{bytes, static_cast<uint64_t>(info.bias - 1) << info.mantissaBits, sign | mantissa};
}

/// The number of elements of "4096x781".
static std::optional<uint64_t> elementsOf(StringRef shape) {
  constexpr uint64_t kLimit = uint64_t{1} << 34;
  uint64_t product = 1;
  llvm::SmallVector<StringRef> extents;
  shape.split(extents, 'x');
  for (StringRef extent : extents) {
    uint64_t value = 0;
    if (extent.trim().getAsInteger(10, value) || value == 0 || value > kLimit / product)
      return std::nullopt;
    product *= value;
  }
  return product;
}

static char *makeArray(RandomArguments &arguments, const Element &element, uint64_t count, std::mt19937_64 &random) {
  constexpr uintptr_t kAlignment = 256; // of a GPU's allocations
  std::vector<char> &array = arguments.arrays.emplace_back(count * element.bytes + kAlignment);
  auto *begin =
      reinterpret_cast<char *>((reinterpret_cast<uintptr_t>(array.data()) + kAlignment - 1) / kAlignment * kAlignment);
  for (uint64_t index = 0; index < count; ++index) {
    const uint64_t bits = element.fixed | (random() & element.mask);
    std::memcpy(begin + index * element.bytes, &bits, element.bytes);
  }
  return begin;
}

/// Writes a scalar; false where the text is no value of the type.
static bool packScalar(const artifact::Parameter &parameter, StringRef text, char *to) {
  if (parameter.kind == artifact::ParameterKind::Float) {
    double value = 0;
    if (text.getAsDouble(value))
      return false;
    const float single = float(value);
    if (parameter.size == 8)
      std::memcpy(to, &value, 8);
    else if (parameter.size == 4)
      std::memcpy(to, &single, 4);
    return parameter.size == 8 || parameter.size == 4;
  }
  int64_t value = 0;
  if (text.getAsInteger(0, value))
    return false;
  std::memcpy(to, &value, std::min<size_t>(parameter.size, sizeof(value)));
  return true;
}

static std::string described(const artifact::Parameter &parameter) {
  return "`" + parameter.name + "` (" + parameter.type + ")";
}

static std::string missing(const artifact::Artifact &artifact, size_t count) {
  std::string text = "--arguments has " + std::to_string(count) + " entries, the kernel takes " +
                     std::to_string(artifact.parameters.size()) + ":";
  for (const artifact::Parameter &parameter : artifact.parameters)
    text += " " + described(parameter);
  return text + "; write a shape such as 4096x781 for a pointer, the value of a number";
}

std::optional<RandomArguments> tools::makeArguments(const artifact::Artifact &artifact, const std::string &text,
                                                    uint64_t seed, std::string &problem) {
  llvm::SmallVector<StringRef> entries;
  if (!text.empty())
    StringRef(text).split(entries, ',');
  if (entries.size() != artifact.parameters.size())
    return problem = missing(artifact, entries.size()), std::nullopt;
  RandomArguments arguments;
  arguments.packed.resize(artifact::packedBytes(artifact));
  std::mt19937_64 random(seed);
  for (size_t index = 0; index < entries.size(); ++index) {
    const artifact::Parameter &parameter = artifact.parameters[index];
    const StringRef entry = entries[index].trim();
    char *to = arguments.packed.data() + parameter.offset;
    if (parameter.kind == artifact::ParameterKind::Descriptor)
      return problem = "descriptors such as " + described(parameter) + " cannot be given here", std::nullopt;
    if (parameter.kind != artifact::ParameterKind::Pointer) {
      if (!packScalar(parameter, entry, to))
        return problem = "`" + entry.str() + "` is no value of " + described(parameter), std::nullopt;
      continue;
    }
    const std::optional<Element> element = elementOf(StringRef(parameter.type).ltrim("*").ltrim('k'));
    const std::optional<uint64_t> count = elementsOf(entry);
    if (!element || !count)
      return problem = "`" + entry.str() + "` is no shape for " + described(parameter) + "; one is 4096x781",
             std::nullopt;
    const char *array = makeArray(arguments, *element, *count, random);
    std::memcpy(to, &array, sizeof(array));
  }
  return arguments;
}
