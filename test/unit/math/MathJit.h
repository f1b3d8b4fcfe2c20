// Compiles one math function for this machine: a loop that applies it to an array, vector by vector.
// SPDX-License-Identifier: MIT

#pragma once

#include "compiler/math/Math.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <cstdint>
#include <memory>

namespace llvm {
class LLVMContext;
class Module;
namespace orc {
class LLJIT;
} // namespace orc
} // namespace llvm

namespace nereid::math::testing {

struct MathFunction {
  const char *name;
  llvm::Value *(*emit)(llvm::IRBuilderBase &, llvm::Value *, const HostMath &);
  double (*reference)(double);
  /// Largest errors allowed for f32, in units in the last place of the exact result, with FMA and without.
  double maxUlpWithFma;
  double maxUlpWithout;
  long double (*wideReference)(long double);
  /// The same for inline f64.
  double maxWideUlp;
};
llvm::ArrayRef<MathFunction> mathFunctions();

/// A set of CPU features to generate code for.
struct Machine {
  const char *name;
  /// LLVM target features.
  const char *features;
  HostMath math;
};
/// Those that this machine supports, the best one last.
llvm::ArrayRef<Machine> hostMachines();

struct Kernel {
  const MathFunction *function = nullptr;
  const Machine *machine = nullptr;
  /// 1 for scalar code.
  unsigned lanes = 1;
  bool isDouble = false;

  double maxUlp() const { return machine->math.hasFma ? function->maxUlpWithFma : function->maxUlpWithout; }
};

/// Applies the function to `count` numbers; `count` is a multiple of the kernel's lanes.
using Apply = void (*)(const void *from, void *to, int64_t count);

/// The loop as an optimised module; its one function is named `apply`.
std::unique_ptr<llvm::Module> buildModule(llvm::LLVMContext &context, const Kernel &kernel);

class MathJit {
public:
  static llvm::Expected<MathJit> create(const Kernel &kernel);
  MathJit(MathJit &&);
  ~MathJit();
  void operator()(const void *from, void *to, int64_t count) const { apply(from, to, count); }

private:
  MathJit(std::unique_ptr<llvm::orc::LLJIT> jit, Apply apply);
  std::unique_ptr<llvm::orc::LLJIT> jit;
  Apply apply;
};

} // namespace nereid::math::testing
