// Opens the stubs and writes small PTX kernels and empty code objects.
// SPDX-License-Identifier: MIT
#include "test/unit/runtime/StubDriver.h"

#include <dlfcn.h>
#include <elf.h>
#include <gtest/gtest.h>

#include <cstring>
#include <sstream>

namespace nereid::runtime {

std::string stubLibrary() { return NEREID_STUB_LIBCUDA; }
std::string stubHipLibrary() { return NEREID_STUB_LIBAMDHIP64; }

//--- The library -------------------------------------------------------------------------------

template <typename Function> static Function *functionOf(void *library, const char *name) {
  void *found = library ? dlsym(library, name) : nullptr;
  EXPECT_NE(found, nullptr) << name;
  return reinterpret_cast<Function *>(found);
}

StubLibrary::StubLibrary(const std::string &path, const std::string &settings)
    : library(dlopen(path.c_str(), RTLD_NOW)) {
  functionOf<void(const char *)>(library, "stub_configure")(settings.c_str());
}

std::vector<std::string> StubLibrary::calls(const std::string &name) const {
  std::istringstream log(functionOf<const char *()>(library, "stub_log")());
  std::vector<std::string> lines;
  for (std::string line; std::getline(log, line);)
    if (name.empty() || line.starts_with("{\"call\": \"" + name + "\""))
      lines.push_back(line);
  return lines;
}

void StubLibrary::clear() { functionOf<void()>(library, "stub_clear")(); }
void StubLibrary::setCapturing(bool on) { functionOf<void(int)>(library, "stub_set_capturing")(on); }
void StubLibrary::addMemory(uint64_t start, uint64_t bytes, int type, int ordinal) {
  functionOf<void(uint64_t, uint64_t, int, int)>(library, "stub_add_memory")(start, bytes, type, ordinal);
}

StubDriver::StubDriver(const std::string &settings)
    : StubLibrary(stubLibrary(), settings), opened(CudaDriver::open(stubLibrary())) {
  clear();
}

CudaDevice &StubDriver::device(int ordinal) {
  auto found = (*opened)->device(ordinal);
  EXPECT_TRUE(found);
  return **found;
}

StubHip::StubHip(const std::string &settings)
    : StubLibrary(stubHipLibrary(), settings), opened(HipDriver::open(stubHipLibrary())) {
  clear();
}

HipDevice &StubHip::device(int ordinal) {
  auto found = (*opened)->device(ordinal);
  EXPECT_TRUE(found);
  return **found;
}

//--- Kernels -----------------------------------------------------------------------------------

static uint32_t bytesOf(const std::string &type) {
  if (type.starts_with("*"))
    return 8;
  const size_t digit = type.find_first_of("0123456789");
  return std::max(std::stoi(type.substr(digit)) / 8, 1);
}

/// An artifact with a parameter for each type, at natural alignment, and no code.
static artifact::Artifact withParameters(const std::vector<std::string> &types, const std::string &name) {
  artifact::Artifact made;
  made.name = made.entry = name;
  uint32_t end = 0, position = 0;
  for (const std::string &type : types) {
    const uint32_t size = bytesOf(type);
    const uint32_t offset = (end + size - 1) / size * size;
    made.parameters.push_back(
        {"p" + std::to_string(position), artifact::ParameterKind::Int, type, offset, size, position});
    ++position;
    end = offset + size;
  }
  return made;
}

artifact::Artifact cudaArtifact(const std::vector<std::string> &types, const std::string &name) {
  artifact::Artifact made = withParameters(types, name);
  made.target = {"cuda", "90", "", 32};
  made.blockDims = {128, 1, 1};
  made.binary = ".version 8.0\n.target sm_90\n.visible .entry " + name + "(\n";
  for (const artifact::Parameter &parameter : made.parameters)
    made.binary += "  .param .u" + std::to_string(parameter.size * 8) + " " + parameter.name + ",\n";
  made.binary +=
      "  .param .u64 .ptr .global .align 1 scratch,\n  .param .u64 .ptr .global .align 1 profile\n) { ret; }\n";
  return made;
}

//--- Code objects ------------------------------------------------------------------------------

// MessagePack: maps and arrays of up to 65535 entries, texts of up to 255 bytes, numbers of 32 bits.
static std::string packed(char tag, uint32_t number, int bytes) {
  std::string text(1, tag);
  while (bytes--)
    text += static_cast<char>(number >> (8 * bytes));
  return text;
}
static std::string packedMap(uint32_t entries) { return packed('\xde', entries, 2); }
static std::string packedArray(size_t elements) { return packed('\xdc', static_cast<uint32_t>(elements), 2); }
static std::string packedNumber(uint32_t number) { return packed('\xce', number, 4); }
static std::string packedText(const std::string &text) {
  return packed('\xd9', static_cast<uint32_t>(text.size()), 1) + text;
}

static std::string packedArgument(uint32_t offset, uint32_t size, const char *kind) {
  return packedMap(3) + packedText(".offset") + packedNumber(offset) + packedText(".size") + packedNumber(size) +
         packedText(".value_kind") + packedText(kind);
}

/// The metadata of AMDGPU's ABI for the kernel, whose last argument the runtime fills in.
static std::string metadataOf(const artifact::Artifact &artifact) {
  std::string text = packedMap(1) + packedText("amdhsa.kernels") + packedArray(1) + packedMap(2) + packedText(".name") +
                     packedText(artifact.entry) + packedText(".args") + packedArray(artifact.parameters.size() + 3);
  for (const artifact::Parameter &parameter : artifact.parameters)
    text += packedArgument(parameter.offset, parameter.size, "by_value");
  const auto scratch = static_cast<uint32_t>(artifact::scratchOffset(artifact));
  return text + packedArgument(scratch, 8, "global_buffer") + packedArgument(scratch + 8, 8, "global_buffer") +
         packedArgument(scratch + 16, 4, "hidden_block_count_x");
}

template <typename Struct> static std::string bytesOfStruct(const Struct &value) {
  return std::string(reinterpret_cast<const char *>(&value), sizeof value);
}

/// An ELF file with one segment, the note of the metadata.
static std::string elfWithNote(std::string content) {
  Elf64_Ehdr header = {};
  std::memcpy(header.e_ident, ELFMAG, SELFMAG);
  header.e_phoff = sizeof header;
  header.e_phentsize = sizeof(Elf64_Phdr);
  header.e_phnum = 1;
  const Elf64_Nhdr note = {7, static_cast<Elf64_Word>(content.size()), 32};
  content.resize((content.size() + 3) / 4 * 4);
  const std::string bytes = bytesOfStruct(note) + std::string("AMDGPU\0\0", 8) + content;
  Elf64_Phdr segment = {};
  segment.p_type = PT_NOTE;
  segment.p_offset = sizeof header + sizeof segment;
  segment.p_filesz = bytes.size();
  return bytesOfStruct(header) + bytesOfStruct(segment) + bytes;
}

artifact::Artifact hipArtifact(const std::vector<std::string> &types, const std::string &name) {
  artifact::Artifact made = withParameters(types, name);
  made.target = {"hip", "gfx942", "", 64};
  made.blockDims = {256, 1, 1};
  made.binary = elfWithNote(metadataOf(made));
  return made;
}

std::vector<char> patternBlock(const artifact::Artifact &artifact) {
  std::vector<char> block(artifact::packedBytes(artifact));
  char pattern = 1;
  for (const artifact::Parameter &parameter : artifact.parameters)
    std::memset(block.data() + parameter.offset, pattern++, parameter.size);
  return block;
}

} // namespace nereid::runtime
