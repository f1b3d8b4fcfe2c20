// The kernels of a code object and where their arguments lie, from the metadata that HIP's runtime reads.
// SPDX-License-Identifier: MIT
//
// AMDGPU's ABI: a note "AMDGPU" of type 32 has a MessagePack map whose entry "amdhsa.kernels" is an array of maps, each
// with ".name" and ".args"; an argument has ".offset", ".size" and ".value_kind", which begins with "hidden_" where the
// runtime fills it in.
#include "test/stub/Stub.h"

#include <elf.h>

#include <cstring>
#include <map>

namespace {
/// A MessagePack value of the kinds that the metadata has.
struct Value {
  Value() = default;
  explicit Value(uint64_t number) : number(number) {}

  uint64_t number = 0;
  std::string text;
  std::vector<Value> elements;
  std::map<std::string, Value> entries;
};

class Reader {
public:
  Reader(const uint8_t *at, const uint8_t *end) : at(at), end(end) {}

  Value read() {
    const uint8_t tag = byte();
    if (tag <= 0x7f)
      return Value(tag);
    if (tag <= 0x8f)
      return map(tag & 15);
    if (tag <= 0x9f)
      return array(tag & 15);
    if (tag <= 0xbf)
      return text(tag & 31);
    switch (tag) {
    case 0xc2:
    case 0xc3:
      return Value(tag & 1u);
    case 0xcc:
    case 0xcd:
    case 0xce:
    case 0xcf:
      return Value(number(1u << (tag - 0xcc)));
    case 0xd9:
    case 0xda:
    case 0xdb:
      return text(number(1u << (tag - 0xd9)));
    case 0xdc:
    case 0xdd:
      return array(number(2u << (tag - 0xdc)));
    case 0xde:
    case 0xdf:
      return map(number(2u << (tag - 0xde)));
    default:
      return Value();
    }
  }

private:
  uint8_t byte() { return at < end ? *at++ : 0; }
  uint64_t number(unsigned bytes) {
    uint64_t value = 0;
    while (bytes--)
      value = value << 8 | byte();
    return value;
  }
  Value text(uint64_t bytes) {
    Value value;
    while (bytes-- && at < end)
      value.text += static_cast<char>(byte());
    return value;
  }
  Value array(uint64_t count) {
    Value value;
    while (count-- && at < end)
      value.elements.push_back(read());
    return value;
  }
  Value map(uint64_t count) {
    Value value;
    while (count-- && at < end) {
      std::string key = read().text;
      value.entries[key] = read();
    }
    return value;
  }

  const uint8_t *at, *end;
};
} // namespace

static Value metadataOf(const uint8_t *image) {
  Elf64_Ehdr header;
  std::memcpy(&header, image, sizeof header);
  for (unsigned i = 0; i < header.e_phnum; ++i) {
    Elf64_Phdr segment;
    std::memcpy(&segment, image + header.e_phoff + i * sizeof segment, sizeof segment);
    if (segment.p_type != PT_NOTE)
      continue;
    const uint8_t *at = image + segment.p_offset, *const end = at + segment.p_filesz;
    while (at + sizeof(Elf64_Nhdr) <= end) {
      Elf64_Nhdr note;
      std::memcpy(&note, at, sizeof note);
      const uint8_t *name = at + sizeof note, *content = name + (note.n_namesz + 3) / 4 * 4;
      constexpr uint32_t kMetadata = 32;
      if (note.n_type == kMetadata && std::string_view(reinterpret_cast<const char *>(name), 6) == "AMDGPU")
        return Reader(content, content + note.n_descsz).read();
      at = content + (note.n_descsz + 3) / 4 * 4;
    }
  }
  return Value();
}

std::vector<stub::KernelImage> stub::kernelsOf(const void *image) {
  std::vector<KernelImage> kernels;
  if (std::memcmp(image, ELFMAG, SELFMAG) != 0)
    return kernels;
  Value metadata = metadataOf(static_cast<const uint8_t *>(image));
  for (const Value &kernel : metadata.entries["amdhsa.kernels"].elements) {
    KernelImage found{kernel.entries.at(".name").text, {}};
    if (const auto args = kernel.entries.find(".args"); args != kernel.entries.end())
      for (const Value &argument : args->second.elements)
        if (!argument.entries.at(".value_kind").text.starts_with("hidden_"))
          found.parameters.push_back({static_cast<uint32_t>(argument.entries.at(".offset").number),
                                      static_cast<uint32_t>(argument.entries.at(".size").number)});
    kernels.push_back(std::move(found));
  }
  return kernels;
}
