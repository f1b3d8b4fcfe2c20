// Opens the stub driver and writes small PTX kernels.
// SPDX-License-Identifier: MIT
#include "test/unit/runtime/StubDriver.h"

#include <dlfcn.h>
#include <gtest/gtest.h>

#include <cstring>
#include <sstream>

namespace nereid::runtime {

std::string stubLibrary() { return NEREID_STUB_LIBCUDA; }

template <typename Function> static Function *stubFunction(const char *name) {
  static void *const library = dlopen(NEREID_STUB_LIBCUDA, RTLD_NOW);
  EXPECT_NE(library, nullptr);
  return reinterpret_cast<Function *>(library ? dlsym(library, name) : nullptr);
}

static Expected<std::unique_ptr<CudaDriver>> configured(const std::string &settings) {
  stubFunction<void(const char *)>("stub_configure")(settings.c_str());
  return CudaDriver::open(stubLibrary());
}

StubDriver::StubDriver(const std::string &settings) : opened(configured(settings)) { clear(); }

CudaDevice &StubDriver::device(int ordinal) {
  auto found = (*opened)->device(ordinal);
  EXPECT_TRUE(found);
  return **found;
}

std::vector<std::string> StubDriver::calls(const std::string &name) const {
  std::istringstream log(stubFunction<const char *()>("stub_log")());
  std::vector<std::string> lines;
  for (std::string line; std::getline(log, line);)
    if (name.empty() || line.starts_with("{\"call\": \"" + name + "\""))
      lines.push_back(line);
  return lines;
}

void StubDriver::clear() { stubFunction<void()>("stub_clear")(); }
void StubDriver::setCapturing(bool on) { stubFunction<void(int)>("stub_set_capturing")(on); }
void StubDriver::addMemory(uint64_t start, uint64_t bytes, int type, int ordinal) {
  stubFunction<void(uint64_t, uint64_t, int, int)>("stub_add_memory")(start, bytes, type, ordinal);
}

//--- Kernels -----------------------------------------------------------------------------------

static uint32_t bytesOf(const std::string &type) {
  if (type.starts_with("*"))
    return 8;
  const size_t digit = type.find_first_of("0123456789");
  return std::max(std::stoi(type.substr(digit)) / 8, 1);
}

artifact::Artifact cudaArtifact(const std::vector<std::string> &types, const std::string &name) {
  artifact::Artifact made;
  made.name = made.entry = name;
  made.target = {"cuda", "90", "", 32};
  made.blockDims = {128, 1, 1};
  made.binary = ".version 8.0\n.target sm_90\n.visible .entry " + name + "(\n";
  uint32_t end = 0, position = 0;
  for (const std::string &type : types) {
    const uint32_t size = bytesOf(type);
    const uint32_t offset = (end + size - 1) / size * size;
    made.parameters.push_back(
        {"p" + std::to_string(position), artifact::ParameterKind::Int, type, offset, size, position});
    made.binary += "  .param .u" + std::to_string(size * 8) + " p" + std::to_string(position++) + ",\n";
    end = offset + size;
  }
  made.binary +=
      "  .param .u64 .ptr .global .align 1 scratch,\n  .param .u64 .ptr .global .align 1 profile\n) { ret; }\n";
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
