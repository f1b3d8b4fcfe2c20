// Compiles a kernel given as `tt` text for this host and calls it.
// SPDX-License-Identifier: MIT
#include "test/unit/target_cpu/LoadedKernel.h"

#include "compiler/dialect/check/Dialect.h"
#include "compiler/dialect/tt/Dialect.h"
#include "compiler/passes/tt/Passes.h"

#include "mlir/IR/MLIRContext.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"

#include <dlfcn.h>
#include <sys/mman.h>
#include <unistd.h>

using namespace nereid;
using namespace nereid::cpu_test;

std::vector<char> Arguments::packed() const {
  std::vector<char> block = bytes;
  block.resize((block.size() + 7) / 8 * 8 + 16);
  return block;
}

std::optional<Code> cpu_test::compileText(const std::string &text, const support::TargetSpec &target,
                                          std::string *error) {
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  context.loadDialect<check::CheckDialect, tt::TtDialect, mlir::arith::ArithDialect, mlir::math::MathDialect,
                      mlir::scf::SCFDialect, mlir::ub::UBDialect>();
  context.printOpOnDiagnostic(false);
  mlir::ScopedDiagnosticHandler handler(&context, [&](mlir::Diagnostic &diagnostic) {
    if (error)
      *error += diagnostic.str() + "\n";
    return mlir::success();
  });
  auto module = mlir::parseSourceString<mlir::ModuleOp>(text, &context);
  if (!module)
    return std::nullopt;
  mlir::PassManager passes(&context);
  passes.addPass(tt::createRewriteDescriptors());
  if (mlir::failed(passes.run(*module)))
    return std::nullopt;
  const support::Options options;
  auto kernel = cpu::beginKernel(*module, options, target);
  if (mlir::failed(kernel) || mlir::failed(cpu::makePlan(**kernel)) || mlir::failed(cpu::makeLlvm(**kernel)))
    return std::nullopt;
  auto assembly = cpu::printAssembly(**kernel);
  if (mlir::failed(assembly) || mlir::failed(cpu::makeObject(**kernel)) || mlir::failed(cpu::makeShared(**kernel)))
    return std::nullopt;
  return Code{std::move(*assembly), std::move((*kernel)->object), std::move((*kernel)->sharedObject),
              (*kernel)->plan.arenaBytes, lowering::paramsOf((*kernel)->function)};
}

std::unique_ptr<LoadedKernel> LoadedKernel::compile(const std::string &text, std::string *error) {
  return compile(text, cpu::hostTarget(), error);
}

std::unique_ptr<LoadedKernel> LoadedKernel::compile(const std::string &text, const support::TargetSpec &target,
                                                    std::string *error) {
  auto code = compileText(text, target, error);
  if (!code)
    return nullptr;
  std::unique_ptr<LoadedKernel> kernel(new LoadedKernel);
  // Open as long as the kernel lives: the loader takes a path that it has seen for the same object.
  const int fd = kernel->file = memfd_create("kernel", MFD_CLOEXEC);
  const auto size = static_cast<ssize_t>(code->sharedObject.size());
  if (fd < 0 || write(fd, code->sharedObject.data(), size) != size)
    return nullptr;
  kernel->arenaBytes = code->arenaBytes;
  kernel->handle = dlopen(("/proc/self/fd/" + std::to_string(fd)).c_str(), RTLD_NOW | RTLD_LOCAL);
  if (kernel->handle)
    kernel->entry = dlsym(kernel->handle, "kernel");
  return kernel->entry ? std::move(kernel) : nullptr;
}

LoadedKernel::~LoadedKernel() {
  if (handle)
    dlclose(handle);
  if (file >= 0)
    close(file);
}

void LoadedKernel::run(std::array<uint32_t, 3> grid, const Arguments &arguments) const {
  run(grid, arguments, 0, uint64_t(grid[0]) * grid[1] * grid[2]);
}

void LoadedKernel::run(std::array<uint32_t, 3> grid, const Arguments &arguments, uint64_t begin, uint64_t end) const {
  using Entry = void (*)(const char *, const uint32_t *, uint64_t, uint64_t, char *);
  const std::vector<char> packed = arguments.packed();
  // What a program leaves in the arena must not matter to another.
  std::vector<char> arena(std::max<uint64_t>(arenaBytes, 8) + 64, char(0xA5));
  char *aligned = arena.data() + (64 - reinterpret_cast<uintptr_t>(arena.data()) % 64) % 64;
  std::fill_n(aligned, sizeof(uint64_t), char(0)); // a launch begins
  reinterpret_cast<Entry>(entry)(packed.data(), grid.data(), begin, end, aligned);
}

FencedBytes::FencedBytes(size_t count) {
  const size_t page = sysconf(_SC_PAGESIZE);
  const size_t usable = (count + page - 1) / page * page;
  mapped = usable + page;
  base = static_cast<char *>(mmap(nullptr, mapped, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  mprotect(base + usable, page, PROT_NONE);
  begin = base + usable - count;
}

FencedBytes::~FencedBytes() { munmap(base, mapped); }

std::string cpu_test::replaced(std::string text, const std::string &from, const std::string &to) {
  for (size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size()))
    text.replace(at, from.size(), to);
  return text;
}
