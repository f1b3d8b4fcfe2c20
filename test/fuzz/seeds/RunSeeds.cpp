// Runs the fuzz targets on files and on a few mutations of each, without libFuzzer: any build compiles and tests them.
// SPDX-License-Identifier: MIT
//
// usage: nereid-fuzz-seeds TARGET COUNT FILE...   COUNT mutations of each file; a broken invariant aborts
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <random>
#include <sstream>
#include <string>

// CMake names the function of each file: NEREID_FUZZ_TARGETS is X(ArtifactFuzz) X(...).
#define X(name) extern "C" int nereid_fuzz_##name(const uint8_t *data, size_t size);
NEREID_FUZZ_TARGETS
#undef X

namespace {
struct Target {
  const char *name;
  int (*run)(const uint8_t *, size_t);
};
} // namespace

static const Target targets[] = {
#define X(name) {#name, nereid_fuzz_##name},
    NEREID_FUZZ_TARGETS
#undef X
};

static void run(const Target &target, const std::string &input) {
  target.run(reinterpret_cast<const uint8_t *>(input.data()), input.size());
}

/// One of: a byte replaced, a part removed, a part repeated.
static std::string mutate(std::string input, std::mt19937 &random) {
  if (input.empty())
    return input;
  const size_t at = random() % input.size(), length = std::min<size_t>(1 + random() % 30, input.size() - at);
  switch (random() % 3) {
  case 0:
    input[at] = static_cast<char>(random());
    return input;
  case 1:
    return input.erase(at, length);
  default:
    return input.insert(random() % input.size(), input.substr(at, length));
  }
}

int main(int count, char **words) {
  const Target *target = nullptr;
  for (const Target &each : targets)
    if (count > 2 && std::strcmp(each.name, words[1]) == 0)
      target = &each;
  if (!target) {
    std::fprintf(stderr, "usage: nereid-fuzz-seeds TARGET COUNT FILE...\n");
    return 2;
  }
  std::mt19937 random(1);
  int inputs = 0;
  for (int index = 3; index < count; ++index) {
    std::ifstream file(words[index], std::ios::binary);
    std::stringstream text;
    text << file.rdbuf();
    const std::string seed = text.str();
    run(*target, seed);
    for (int mutation = std::atoi(words[2]); mutation > 0; --mutation, ++inputs)
      run(*target, mutate(seed, random));
    ++inputs;
  }
  std::printf("%d inputs\n", inputs);
  return 0;
}
