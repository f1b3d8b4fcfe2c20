// The launcher that AOTInductor's packages call.
// SPDX-License-Identifier: MIT
#include "compiler/target/cpu/codegen/AotLauncher.h"
#include "compiler/target/cpu/CpuTarget.h"

#include <dlfcn.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

using namespace nereid;

using Launcher = void (*)(uint32_t, uint32_t, uint32_t, uint32_t, void **, void *);

/// Of a kernel without parameters whose threads want that much memory.
static Launcher launcherFor(uint64_t arenaBytes) {
  artifact::Artifact artifact;
  artifact.name = artifact.entry = "kernel";
  artifact.arenaBytes = arenaBytes;
  const auto object = cpu::compileAotLauncher(artifact, cpu::hostTarget());
  const int file = memfd_create("launcher", MFD_CLOEXEC); // stays open: the loader knows objects by path
  if (!object || write(file, object->data(), object->size()) != static_cast<ssize_t>(object->size()))
    return nullptr;
  void *handle = dlopen(("/proc/self/fd/" + std::to_string(file)).c_str(), RTLD_NOW | RTLD_LOCAL);
  return handle ? reinterpret_cast<Launcher>(dlsym(handle, "run_from_nativert")) : nullptr;
}

static uint64_t programs = 0;
static char *arenaSeen = nullptr;

static void kernel(const char *, const uint32_t[3], uint64_t begin, uint64_t end, char *arena) {
  programs = end - begin;
  arenaSeen = arena;
}

TEST(AotLauncher, runs_every_program_with_an_arena) {
  const Launcher launch = launcherFor(100);
  ASSERT_TRUE(launch);
  launch(2, 3, 4, 0, nullptr, reinterpret_cast<void *>(kernel));
  EXPECT_EQ(programs, 24u);
  EXPECT_TRUE(arenaSeen);
}

TEST(AotLauncher, says_that_there_is_no_memory) {
  const Launcher launch = launcherFor(uint64_t{1} << 60);
  ASSERT_TRUE(launch);
  EXPECT_DEATH(launch(1, 1, 1, 0, nullptr, reinterpret_cast<void *>(kernel)),
               "no memory for the arena of kernel `kernel`");
}
