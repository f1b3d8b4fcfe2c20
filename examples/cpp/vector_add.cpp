// Adds two vectors with the kernel of examples/vector_add.py, using only C++.
// SPDX-License-Identifier: MIT
#include <nereid/Kernel.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <vector>

int main(int argc, char **argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: %s PATH/TO/vector_add.py\n", argv[0]);
    return 2;
  }
  try {
    constexpr int size = 98432, block = 1024;
    std::vector<float> x(size), y(size), out(size, NAN);
    for (int i = 0; i < size; ++i) {
      x[i] = 0.5f * static_cast<float>(i);
      y[i] = 1.0f / static_cast<float>(i + 1);
    }
    const auto add = nereid::Kernel::fromSource(argv[1], "add_kernel", "*fp32,*fp32,*fp32,i32,1024");
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
