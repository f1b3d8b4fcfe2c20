// Compiles C text into shared objects with the clang that built the tests, or any other.
// SPDX-License-Identifier: MIT
#include "test/unit/runtime/CKernel.h"

#include "runtime/cpu/CpuDevice.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <map>
#include <mutex>

#include <unistd.h>

namespace nereid::runtime {

static constexpr const char *kPrelude =
    "#include <stdint.h>\n"
    "#define KERNEL void kernel(const char *packed, const uint32_t *grid, uint64_t begin, "
    "uint64_t end, char *arena)\n"
    "#define ARG(type, i) (*(type *)(packed + 8 * (i)))\n";

static std::string readFile(const std::string &path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

static std::string build(const std::string &source) {
  char folder[] = "/tmp/nereid-test-XXXXXX";
  if (!mkdtemp(folder))
    return "";
  const std::string base = folder, in = base + "/kernel.c", out = base + "/kernel.so";
  std::ofstream(in) << kPrelude << source;
  std::string object;
  for (const char *compiler : {"clang-22", "clang", "cc"}) {
    const std::string command =
        std::string(compiler) + " -O2 -w -shared -fPIC -ffp-contract=off -o " + out + " " + in + " 2>" + base + "/log";
    if (std::system(command.c_str()) == 0) {
      object = readFile(out);
      break;
    }
  }
  EXPECT_FALSE(object.empty()) << readFile(base + "/log");
  for (const std::string &file : {in, out, base + "/log"})
    unlink(file.c_str());
  rmdir(folder);
  return object;
}

std::string compileC(const std::string &source) {
  static std::mutex mutex;
  static std::map<std::string, std::string> built;
  std::lock_guard<std::mutex> lock(mutex);
  std::string &object = built[source];
  if (object.empty())
    object = build(source);
  return object;
}

artifact::Artifact cArtifact(const std::string &source, uint32_t parameters) {
  artifact::Artifact artifact;
  artifact.name = artifact.entry = "kernel";
  artifact.target.backend = "cpu";
  for (uint32_t i = 0; i < parameters; ++i)
    artifact.parameters.push_back({"p" + std::to_string(i), artifact::ParameterKind::Pointer, "*i8", 8 * i, 8});
  artifact.binary = compileC(source);
  return artifact;
}

std::shared_ptr<Kernel> cKernel(const std::string &source, uint32_t parameters) {
  auto kernel = cpuDevice().load(cArtifact(source, parameters));
  EXPECT_TRUE(kernel) << kernel.error().text;
  return kernel ? *kernel : nullptr;
}

namespace {

/// Stops the pool's threads before the program ends, so that a leak checker finds no launch that a worker still holds.
class PoolEnvironment : public testing::Environment {
  void TearDown() override { setCpuThreads(0); }
};

} // namespace

[[maybe_unused]] static testing::Environment *const poolEnvironment =
    testing::AddGlobalTestEnvironment(new PoolEnvironment);

ThreadsForScope::ThreadsForScope(uint32_t threads) { setCpuThreads(threads); }
ThreadsForScope::~ThreadsForScope() { setCpuThreads(0); }

} // namespace nereid::runtime
