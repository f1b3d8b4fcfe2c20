// Multiplies two matrices on a simulated GPU with the kernel of matmul.py, using only C++.
// SPDX-License-Identifier: MIT
#include <nereid/Kernel.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdio>
#include <vector>

static uint16_t bfloat16(float number) { return static_cast<uint16_t>(std::bit_cast<uint32_t>(number) >> 16); }

int main(int argc, char **argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: %s PATH/TO/matmul.py\n", argv[0]);
    return 2;
  }
  try {
    constexpr int m = 128, n = 128, k = 192, block = 128;
    std::vector<uint16_t> a(m * k), b(k * n);
    std::vector<float> c(m * n, NAN);
    const auto element = [](int i, int j) { return static_cast<float>((7 * i + 3 * j) % 5 - 2); };
    for (int i = 0; i < m * k; ++i)
      a[i] = bfloat16(element(i / k, i % k));
    for (int i = 0; i < k * n; ++i)
      b[i] = bfloat16(element(i / n, i % n));
    const nereid::KernelOptions options{.target = "cuda:90+sim", .numWarps = 8, .numStages = 3};
    const auto matmul = nereid::Kernel::fromSource(argv[1], "matmul_kernel",
                                                   "*bf16:16,*bf16:16,*fp32:16,i32:16,i32:16,128,128,64", options);
    matmul.launch({m / block, n / block}, a.data(), b.data(), c.data(), n, k);
    float largest = 0;
    for (int i = 0; i < m; ++i)
      for (int j = 0; j < n; ++j) {
        float sum = 0;
        for (int l = 0; l < k; ++l)
          sum += element(i, l) * element(l, j);
        largest = std::max(largest, std::fabs(c[i * n + j] - sum));
      }
    std::printf("%s: %d x %d x %d, largest difference %g\n", matmul.name().c_str(), m, n, k, largest);
    return largest == 0 ? 0 : 1;
  } catch (const nereid::Error &error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
