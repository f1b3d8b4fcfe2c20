// Tests the GPU function library against libm in long double; its code also runs on this machine.
// SPDX-License-Identifier: MIT
#include "compiler/lowering/gpu/FunctionLibraries.h"
#include "compiler/target/nvidia/lowering/LibraryBitcode.h"
#include "test/unit/math/Ulp.h"

#include "llvm/Bitcode/BitcodeWriter.h"
#include "llvm/ExecutionEngine/Orc/LLJIT.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Support/raw_ostream.h"

#include "gtest/gtest.h"

#include <cmath>
#include <map>
#include <random>

using namespace nereid;

namespace {

using Wide = long double;
constexpr Wide pi = 3.14159265358979323846264338327950288L;

/// A function of one or two f64, its reference, the tested range and the tolerated error.
struct Function {
  const char *symbol;
  unsigned arity;
  Wide (*reference)(Wide x, Wide y);
  double low, high;
  double maxUlp;
  double maxDistance = 0; ///< also accepted, near zeros
};

Wide logGamma(Wide x) {
  int sign;
  return lgammal_r(x, &sign);
}

#define ONE(expression) 1, [](Wide x, Wide) -> Wide { return expression; }
#define TWO(expression) 2, [](Wide x, Wide y) -> Wide { return expression; }
const Function functions[] = {
    {"tan", ONE(std::tan(x)), -4, 4, 2.5},
    {"sinh", ONE(std::sinh(x)), -30, 30, 2.5},
    {"cosh", ONE(std::cosh(x)), 650, 710, 2.5},
    {"asin", ONE(std::asin(x)), -1, 1, 3.5},
    {"acos", ONE(std::acos(x)), -1, 1, 3.5},
    {"atan", ONE(std::atan(x)), -5, 5, 2},
    {"asinh", ONE(std::asinh(x)), -20, 20, 2.5},
    {"acosh", ONE(std::acosh(x)), 1, 30, 2.5},
    {"atanh", ONE(std::atanh(x)), -0.999, 0.999, 2.5},
    {"exp10", ONE(powl(10, x)), -300, 300, 2},
    {"log10", ONE(std::log10(x)), 1e-3, 50, 2.5},
    {"cbrt", ONE(std::cbrt(x)), -20, 20, 1},
    {"rcbrt", ONE(1 / std::cbrt(x)), -20, 20, 2},
    {"sinpi", ONE(std::sin(pi * (x - 2 * rintl(x / 2)))), -9.9, 9.9, 4, 1e-18},
    {"erfc", ONE(std::erfc(x)), -3, 25, 4},
    {"erfcx", ONE(std::exp(x * x) * std::erfc(x)), -5, 20, 4},
    {"normcdf", ONE(std::erfc(-x / std::sqrt(Wide{2})) / 2), -20, 6, 4},
    {"tgamma", ONE(std::tgamma(x)), 0.1, 150, 4},
    {"lgamma", ONE(logGamma(x)), 0.01, 40, 4, 1e-16},
    {"lgamma", ONE(logGamma(x)), -19.5, 0, 4, 1e-15},
    {"j0", ONE(j0l(x)), -60, 60, 4, 3e-16},
    {"j1", ONE(j1l(x)), -60, 60, 4, 3e-16},
    {"y0", ONE(y0l(x)), 0.01, 60, 4, 1e-15},
    {"y1", ONE(y1l(x)), 0.01, 60, 4, 1e-15},
    {"pow", TWO(std::pow(x, y)), 0.1, 10, 1.5},
    {"atan2", TWO(std::atan2(x, y)), -5, 5, 2},
    {"hypot", TWO(std::hypot(x, y)), -1e200, 1e200, 2},
    {"remainder", TWO(std::remainder(x, y)), -50, 50, 0.51},
};

/// A library function, callable here.
class Loaded {
public:
  /// Defines `nereid_call`, which calls the symbol.
  static std::unique_ptr<Loaded> load(const Function &function, std::string &error) {
    auto context = std::make_unique<llvm::LLVMContext>();
    auto module = std::make_unique<llvm::Module>("library", *context);
    llvm::InitializeNativeTarget();
    llvm::InitializeNativeTargetAsmPrinter();
    auto jit = llvm::orc::LLJITBuilder().create();
    if (!jit) {
      error = llvm::toString(jit.takeError());
      return nullptr;
    }
    module->setDataLayout((*jit)->getDataLayout());
    module->setTargetTriple((*jit)->getTargetTriple());
    const math::HostMath properties = {.hasFma = true, .hasLibm = false, .avoidsBranches = true};
    lowering::FunctionLibraries libraries(nvidia::libraryBitcode(), properties, {});
    llvm::Function *callee = libraries.declare(*module, "", std::string("__nv_") + function.symbol);
    if (!callee) {
      error = "it is not there";
      return nullptr;
    }
    addCall(*module, *callee);
    if (llvm::Error failure = libraries.link(*module))
      error = llvm::toString(std::move(failure));
    auto loaded = std::make_unique<Loaded>();
    loaded->jit = std::move(*jit);
    if (error.empty())
      if (llvm::Error failure = loaded->jit->addIRModule({std::move(module), std::move(context)}))
        error = llvm::toString(std::move(failure));
    if (!error.empty())
      return nullptr;
    auto address = loaded->jit->lookup("nereid_call");
    if (!address) {
      error = llvm::toString(address.takeError());
      return nullptr;
    }
    loaded->call = address->toPtr<double (*)(double, double)>();
    return loaded;
  }

  double (*call)(double, double) = nullptr;

private:
  static void addCall(llvm::Module &module, llvm::Function &callee) {
    llvm::IRBuilder<> ir(module.getContext());
    auto *type = llvm::FunctionType::get(ir.getDoubleTy(), {ir.getDoubleTy(), ir.getDoubleTy()}, false);
    auto *caller = llvm::Function::Create(type, llvm::Function::ExternalLinkage, "nereid_call", module);
    ir.SetInsertPoint(llvm::BasicBlock::Create(module.getContext(), "entry", caller));
    llvm::SmallVector<llvm::Value *> arguments;
    for (unsigned index = 0; index < callee.arg_size(); ++index)
      arguments.push_back(caller->getArg(index));
    ir.CreateRet(ir.CreateCall(&callee, arguments));
  }

  std::unique_ptr<llvm::orc::LLJIT> jit;
};

TEST(NvidiaLibrary, FunctionsOfDoubles) {
  for (const Function &function : functions) {
    std::string error;
    auto loaded = Loaded::load(function, error);
    ASSERT_TRUE(loaded) << function.symbol << ": " << error;
    std::mt19937_64 random(1);
    std::uniform_real_distribution<double> numbers(function.low, function.high);
    for (unsigned index = 0; index < 500; ++index) {
      const double x = numbers(random), y = function.arity == 2 ? numbers(random) : 0, result = loaded->call(x, y);
      const Wide exact = function.reference(x, y);
      if (std::fabs(result - exact) > function.maxDistance)
        ASSERT_LE(math::testing::wideUlpError(result, exact), function.maxUlp)
            << function.symbol << " of " << x << ", " << y << " is " << result << ", not "
            << static_cast<double>(exact);
    }
  }
}

TEST(NvidiaLibrary, RareArguments) {
  const double inf = INFINITY, nan = NAN;
  struct Case {
    const char *symbol;
    unsigned arity;
    double x, y, result;
  };
  const Case cases[] = {
      {"acos", 1, 2, 0, nan},
      {"acos", 1, 1, 0, 0},
      {"atanh", 1, 1, 0, inf},
      {"atanh", 1, -1, 0, -inf},
      {"atan", 1, -inf, 0, -M_PI_2},
      {"atan2", 2, 0., -1, M_PI},
      {"atan2", 2, -0., 1, -0.},
      {"atan2", 2, inf, inf, M_PI_4},
      {"cosh", 1, inf, 0, inf},
      {"sinh", 1, -inf, 0, -inf},
      {"cosh", 1, 800, 0, inf},
      {"tan", 1, inf, 0, nan},
      {"exp10", 1, 400, 0, inf},
      {"exp10", 1, -inf, 0, 0},
      {"exp10", 1, 3, 0, 1000},
      {"log10", 1, 1000, 0, 3},
      {"log10", 1, 0, 0, -inf},
      {"cbrt", 1, -8, 0, -2},
      {"cbrt", 1, 0x1p-1074, 0, 0x1p-358},
      {"rcbrt", 1, 0, 0, inf},
      {"pow", 2, -2, 3, -8},
      {"pow", 2, -2, 0.5, nan},
      {"pow", 2, 0, -1, inf},
      {"pow", 2, -0., -3, -inf},
      {"pow", 2, nan, 0, 1},
      {"pow", 2, 1, nan, 1},
      {"pow", 2, -1, inf, 1},
      {"pow", 2, 0.5, -inf, inf},
      {"pow", 2, -inf, 3, -inf},
      {"pow", 2, 10, 400, inf},
      {"pow", 2, 10, -400, 0},
      {"hypot", 2, nan, inf, inf},
      {"hypot", 2, 0x1p1000, 0x1p1000, 0x1.6a09e667f3bcdp1000},
      {"hypot", 2, 3e-320, 4e-320, 5e-320},
      {"rhypot", 2, 0, 0, inf},
      {"erfc", 1, -inf, 0, 2},
      {"erfc", 1, inf, 0, 0},
      {"erfcx", 1, inf, 0, 0},
      {"erfcx", 1, -30, 0, inf},
      {"erfinv", 1, 1, 0, inf},
      {"erfinv", 1, 2, 0, nan},
      {"erfcinv", 1, 0, 0, inf},
      {"erfcinv", 1, 2, 0, -inf},
      {"normcdfinv", 1, 0, 0, -inf},
      {"normcdf", 1, -inf, 0, 0},
      {"normcdf", 1, 100, 0, 1},
      {"tgamma", 1, 5, 0, 24},
      {"tgamma", 1, -0., 0, -inf},
      {"tgamma", 1, -3, 0, nan},
      {"tgamma", 1, 200, 0, inf},
      {"lgamma", 1, 1, 0, 0},
      {"lgamma", 1, -2, 0, inf},
      {"lgamma", 1, -inf, 0, inf},
      {"j0", 1, inf, 0, 0},
      {"j1", 1, 0, 0, 0},
      {"y0", 1, 0, 0, -inf},
      {"y0", 1, -1, 0, nan},
      {"cyl_bessel_i0", 1, 0, 0, 1},
      {"cyl_bessel_i1", 1, -inf, 0, -inf},
      {"remainder", 2, 3, 2, -1},
      {"remainder", 2, 5, 2, 1},
      {"remainder", 2, -6, 3, -0.},
      {"remainder", 2, 1, 0, nan},
      {"remainder", 2, 1, inf, 1},
      {"remainder", 2, 0x1p1023, 0x1.8p1023, -0x1p1022},
      {"nextafter", 2, 0, -1, -0x1p-1074},
      {"nextafter", 2, 1, 2, 0x1.0000000000001p0},
      {"nextafter", 2, -1, 0, -0x1.fffffffffffffp-1},
      {"logb", 1, 0, 0, -inf},
      {"logb", 1, 0x1p-1074, 0, -1074},
      {"sinpi", 1, 1, 0, 0},
      {"sinpi", 1, 2.5, 0, 1},
      {"cospi", 1, 7, 0, -1},
      {"cospi", 1, inf, 0, nan},
      {"fdim", 2, 1, nan, nan},
      {"fdim", 2, 1, 3, 0},
      {"asinh", 1, -0., 0, -0.},
      {"acosh", 1, 0.5, 0, nan},
  };
  std::map<std::string, std::unique_ptr<Loaded>> bySymbol;
  for (const Case &each : cases) {
    std::string error;
    std::unique_ptr<Loaded> &loaded = bySymbol[each.symbol];
    if (!loaded)
      loaded = Loaded::load({each.symbol, each.arity, nullptr, 0, 0, 0}, error);
    ASSERT_TRUE(loaded) << each.symbol << ": " << error;
    const double result = loaded->call(each.x, each.y);
    EXPECT_LE(math::testing::wideUlpError(result, each.result), 0.5)
        << each.symbol << " of " << each.x << ", " << each.y << " is " << result << ", not " << each.result;
  }
}

/// Writes a file with a user's function that calls one of ours; `flag` is a number that all files must agree about.
std::string writeBitcode(const char *name, const char *symbol, const char *callee, uint32_t flag = 1) {
  llvm::LLVMContext context;
  llvm::Module module("mine", context);
  llvm::IRBuilder<> ir(context);
  auto *type = llvm::FunctionType::get(ir.getDoubleTy(), {ir.getDoubleTy()}, false);
  auto *ours = llvm::Function::Create(type, llvm::Function::ExternalLinkage, callee, module);
  auto *theirs = llvm::Function::Create(type, llvm::Function::ExternalLinkage, symbol, module);
  module.addModuleFlag(llvm::Module::Error, "flag", flag);
  ir.SetInsertPoint(llvm::BasicBlock::Create(context, "entry", theirs));
  llvm::Value *root = ir.CreateCall(ours, {theirs->getArg(0)});
  ir.CreateRet(ir.CreateFAdd(root, root));
  const std::string path = testing::TempDir() + name;
  std::error_code failure;
  llvm::raw_fd_ostream stream(path, failure);
  llvm::WriteBitcodeToFile(module, stream);
  return path;
}

TEST(NvidiaLibrary, FilesOfBitcodeAreLinked) {
  const std::string path = writeBitcode("mine.bc", "twice_cbrt", "__nv_cbrt");
  llvm::LLVMContext context;
  llvm::Module module("kernel", context);
  const math::HostMath properties = {.hasFma = true, .hasLibm = false};
  lowering::FunctionLibraries libraries(nvidia::libraryBitcode(), properties, {});
  EXPECT_EQ(libraries.declare(module, path, "thrice_cbrt"), nullptr);
  llvm::Function *function = libraries.declare(module, path, "twice_cbrt");
  ASSERT_TRUE(function);
  EXPECT_EQ(llvm::toString(libraries.link(module)), "");
  ASSERT_TRUE(module.getFunction("twice_cbrt"));
  EXPECT_FALSE(module.getFunction("twice_cbrt")->isDeclaration());
  EXPECT_FALSE(module.getFunction("__nv_cbrt")->isDeclaration());
  EXPECT_TRUE(module.getFunction("__nv_cbrt")->hasInternalLinkage());
}

/// Links functions of files, each given with its symbol; returns the error, which must be a file's.
std::string linkFiles(std::initializer_list<std::pair<std::string, const char *>> symbols) {
  llvm::LLVMContext context;
  llvm::Module module("kernel", context);
  const math::HostMath properties = {.hasFma = true, .hasLibm = false};
  lowering::FunctionLibraries libraries(nvidia::libraryBitcode(), properties, {});
  for (const auto &[path, symbol] : symbols)
    EXPECT_TRUE(libraries.declare(module, path, symbol)) << symbol;
  std::string text;
  llvm::handleAllErrors(libraries.link(module), [&](const llvm::FileError &error) {
    text = error.getFileName().str() + ": " + error.messageWithoutFileInfo();
  });
  return text;
}

TEST(NvidiaLibrary, FilesThatDoNotFitAreNamed) {
  const std::string first = writeBitcode("first.bc", "twice_first", "__nv_cbrt");
  const std::string second = writeBitcode("second.bc", "twice_second", "__nv_exp", /*flag=*/2);
  EXPECT_EQ(linkFiles({{first, "twice_first"}}), "");
  const std::string text = linkFiles({{first, "twice_first"}, {second, "twice_second"}});
  EXPECT_EQ(text.find(second + ": linking module flags 'flag': IDs have conflicting values"), 0u) << text;
}

TEST(NvidiaLibrary, CallsOfFunctionsThatAreNotThereAreNamed) {
  const std::string path = writeBitcode("calls.bc", "calls", "__nv_frobnicate");
  EXPECT_EQ(linkFiles({{path, "calls"}}), path + ": libdevice has no function `__nv_frobnicate`");
}

TEST(NvidiaLibrary, WhatIsNotThere) {
  llvm::LLVMContext context;
  llvm::Module module("library", context);
  const math::HostMath properties = {.hasFma = true, .hasLibm = false};
  lowering::FunctionLibraries libraries(nvidia::libraryBitcode(), properties, {});
  EXPECT_EQ(libraries.declare(module, "", "__nv_frobnicate"), nullptr);
  EXPECT_EQ(libraries.declare(module, "/no/such/file.bc", "f"), nullptr);
}

} // namespace
