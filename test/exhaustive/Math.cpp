// nereid-math-exhaustive: compares each vector math function with libm's f64 for all 2^32 values of an f32.
// SPDX-License-Identifier: MIT
//
//   nereid-math-exhaustive [--machine NAME] [--jobs N] [--lanes N] [function...]
// Prints the largest error of each function and where it is; fails if one is above its bound.

#include "test/unit/math/MathJit.h"
#include "test/unit/math/Ulp.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"

#include <atomic>
#include <bit>
#include <thread>
#include <vector>

using namespace nereid::math::testing;

namespace {
struct Worst {
  double ulp = 0;
  float at = 0;
  float result = 0;
};
} // namespace

static constexpr uint64_t chunkSize = 1 << 16;

static void checkChunks(const MathJit &code, const MathFunction &function, std::atomic<uint64_t> &next, Worst &worst) {
  std::vector<float> from(chunkSize), to(chunkSize);
  for (uint64_t start; (start = next.fetch_add(chunkSize)) < (uint64_t{1} << 32);) {
    for (uint64_t i = 0; i < chunkSize; ++i)
      from[i] = std::bit_cast<float>(static_cast<uint32_t>(start + i));
    code(from.data(), to.data(), chunkSize);
    for (uint64_t i = 0; i < chunkSize; ++i) {
      const double ulp = ulpError(to[i], function.reference(from[i]));
      if (ulp > worst.ulp)
        worst = {ulp, from[i], to[i]};
    }
  }
}

static Worst checkAll(const MathJit &code, const MathFunction &function, unsigned threadCount) {
  std::atomic<uint64_t> next = 0;
  std::vector<Worst> worsts(threadCount);
  std::vector<std::thread> threads;
  for (Worst &worst : worsts)
    threads.emplace_back([&] { checkChunks(code, function, next, worst); });
  for (std::thread &thread : threads)
    thread.join();
  return *llvm::max_element(worsts, [](const Worst &a, const Worst &b) { return a.ulp < b.ulp; });
}

int main(int argc, char **argv) {
  llvm::cl::opt<std::string> machineName("machine", llvm::cl::desc("instruction set; the best one by default"));
  llvm::cl::opt<unsigned> threads("jobs", llvm::cl::desc("threads to run on"),
                                  llvm::cl::init(std::thread::hardware_concurrency()));
  llvm::cl::opt<unsigned> lanes("lanes", llvm::cl::init(8));
  llvm::cl::list<std::string> names(llvm::cl::Positional, llvm::cl::desc("functions; all by default"));
  llvm::cl::ParseCommandLineOptions(argc, argv);

  const Machine *machine = machineName.empty()
                               ? &hostMachines().back()
                               : llvm::find_if(hostMachines(), [&](const Machine &m) { return m.name == machineName; });
  if (machine == hostMachines().end()) {
    llvm::errs() << "error: this host cannot run `" << machineName << "`\n";
    return 2;
  }
  bool isGood = true;
  for (const MathFunction &function : mathFunctions()) {
    if (!names.empty() && !llvm::is_contained(names, function.name))
      continue;
    const Kernel kernel{.function = &function, .machine = machine, .lanes = lanes};
    llvm::Expected<MathJit> code = MathJit::create(kernel);
    if (!code) {
      llvm::errs() << "error: " << llvm::toString(code.takeError()) << '\n';
      return 2;
    }
    const Worst worst = checkAll(*code, function, std::max(1u, threads.getValue()));
    const bool isWithin = worst.ulp <= kernel.maxUlp();
    isGood &= isWithin;
    llvm::outs() << llvm::format("%-6s %-6s max %.4f ulp at %a (%.9g), result %a", machine->name, function.name,
                                 worst.ulp, worst.at, worst.at, worst.result)
                 << (isWithin ? "\n" : "  ABOVE ITS BOUND\n");
    llvm::outs().flush();
  }
  return isGood ? 0 : 1;
}
