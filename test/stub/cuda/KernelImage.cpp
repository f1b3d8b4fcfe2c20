// The kernels of a module and where their parameters lie, from the bytes that a driver would load.
// SPDX-License-Identifier: MIT
#include "test/stub/Stub.h"

#include <elf.h>

#include <algorithm>
#include <cstring>

namespace stub {

//--- Machine code ------------------------------------------------------------------------------

// An entry of a kernel's .nv.info section: a format, an attribute, then a number, or a size and as many bytes.
static constexpr uint8_t kSizedFormat = 4;
static constexpr uint8_t kParameterAttribute = 0x17;

struct ParameterEntry {
  uint32_t index;
  uint16_t ordinal;
  uint16_t offset;
  uint32_t flags; ///< the size from bit 18 on
};

static std::vector<KernelParameter> readParameters(const uint8_t *at, const uint8_t *end) {
  std::vector<std::pair<uint16_t, KernelParameter>> found;
  while (at + 4 <= end) {
    uint16_t size = 0;
    std::memcpy(&size, at + 2, sizeof size);
    if (at[0] == kSizedFormat && at[1] == kParameterAttribute && size == sizeof(ParameterEntry)) {
      ParameterEntry entry;
      std::memcpy(&entry, at + 4, sizeof entry);
      found.push_back({entry.ordinal, {entry.offset, entry.flags >> 18}});
    }
    at += 4 + (at[0] == kSizedFormat ? size : 0);
  }
  std::sort(found.begin(), found.end(), [](auto &a, auto &b) { return a.first < b.first; });
  std::vector<KernelParameter> parameters;
  for (const auto &[ordinal, parameter] : found)
    parameters.push_back(parameter);
  return parameters;
}

static std::vector<KernelImage> readElf(const uint8_t *image) {
  Elf64_Ehdr header;
  std::memcpy(&header, image, sizeof header);
  std::vector<Elf64_Shdr> sections(header.e_shnum);
  std::memcpy(sections.data(), image + header.e_shoff, sections.size() * sizeof(Elf64_Shdr));
  const char *names = reinterpret_cast<const char *>(image + sections[header.e_shstrndx].sh_offset);
  constexpr std::string_view kPrefix = ".nv.info.";
  std::vector<KernelImage> kernels;
  for (const Elf64_Shdr &section : sections) {
    const std::string_view name = names + section.sh_name;
    if (!name.starts_with(kPrefix))
      continue;
    const uint8_t *start = image + section.sh_offset;
    kernels.push_back({std::string(name.substr(kPrefix.size())), readParameters(start, start + section.sh_size)});
  }
  return kernels;
}

//--- PTX ---------------------------------------------------------------------------------------

/// Bytes of a type such as `.u64` or `.pred`.
static uint32_t typeBytes(std::string_view type) {
  const size_t digit = type.find_first_of("0123456789");
  return digit == type.npos ? 1 : static_cast<uint32_t>(std::max(std::atoi(type.data() + digit) / 8, 1));
}

struct Extent {
  uint32_t size, align;
};

static Extent scalarExtent(std::string_view rest) {
  const uint32_t size = typeBytes(rest.substr(rest.find('.'), rest.find(' ', rest.find('.'))));
  return {size, size};
}

constexpr std::string_view kAlign = ".align ";

/// Of `.align 64 .b8 map[128]`.
static Extent arrayExtent(std::string_view rest) {
  const auto numberAt = [&](size_t at) { return static_cast<uint32_t>(std::atoi(rest.data() + at)); };
  return {numberAt(rest.find('[') + 1), numberAt(kAlign.size())};
}

static std::vector<KernelParameter> readPtxParameters(std::string_view list) {
  std::vector<KernelParameter> parameters;
  uint32_t end = 0;
  constexpr std::string_view kParam = ".param ";
  for (size_t at = list.find(kParam); at != list.npos; at = list.find(kParam, at + 1)) {
    std::string_view rest = list.substr(at + kParam.size());
    const auto [size, align] = rest.starts_with(kAlign) ? arrayExtent(rest) : scalarExtent(rest);
    end = (end + align - 1) / align * align;
    parameters.push_back({end, size});
    end += size;
  }
  return parameters;
}

static std::vector<KernelImage> readPtx(std::string_view text) {
  std::vector<KernelImage> kernels;
  constexpr std::string_view kEntry = ".entry ";
  for (size_t at = text.find(kEntry); at != text.npos; at = text.find(kEntry, at + 1)) {
    const std::string_view rest = text.substr(at + kEntry.size());
    const size_t open = rest.find('('), close = rest.find(')');
    const std::string_view name = rest.substr(0, rest.find_first_of(" (\n"));
    kernels.push_back({std::string(name), readPtxParameters(rest.substr(open, close - open))});
  }
  return kernels;
}

std::vector<KernelImage> kernelsOf(const void *image) {
  if (std::memcmp(image, ELFMAG, SELFMAG) == 0)
    return readElf(static_cast<const uint8_t *>(image));
  return readPtx(static_cast<const char *>(image));
}

} // namespace stub
