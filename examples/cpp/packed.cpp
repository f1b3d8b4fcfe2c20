// Adds two vectors with a kernel from a pack, using only C++ and no compiler.
// SPDX-License-Identifier: MIT
//
//   TRITON_RECORD=add.jsonl python examples/vector_add.py
//   nereid pack add.jsonl --target cpu:x86-64-v3 -o add.pack
//   packed add.pack [PUBLIC_KEY]
#include <nereid/Pack.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <vector>

int main(int argc, char **argv) {
  if (argc != 2 && argc != 3) {
    std::fprintf(stderr, "usage: %s PATH/TO/add.pack [PUBLIC_KEY]\n", argv[0]);
    return 2;
  }
  try {
    constexpr int size = 98432, block = 1024;
    std::vector<float> x(size), y(size), out(size, NAN);
    for (int i = 0; i < size; ++i) {
      x[i] = 0.5f * static_cast<float>(i);
      y[i] = 1.0f / static_cast<float>(i + 1);
    }
    const auto pack = nereid::Pack::open(argv[1], argc == 3 ? argv[2] : "");
    const auto add = pack.kernel("add_kernel");
    add.launch({(size + block - 1) / block}, x.data(), y.data(), out.data(), size);
    float largest = 0;
    for (int i = 0; i < size; ++i)
      largest = std::max(largest, std::fabs(out[i] - (x[i] + y[i])));
    std::printf("%s: %d elements, largest difference %g\n", add.name().c_str(), size, largest);
    return largest == 0 ? 0 : 1;
  } catch (const nereid::Error &error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
