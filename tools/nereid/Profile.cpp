// Implements `nereid profile`: runs a kernel on a simulated GPU with random arguments and prints its counters.
// SPDX-License-Identifier: MIT
#include "tools/nereid/Commands.h"

#include "jit/FileJob.h"
#include "runtime/sim/SimDevice.h"
#include "runtime/sim/counters/CounterTable.h"
#include "tools/nereid/RandomArguments.h"

#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/raw_ostream.h"

using namespace nereid;
using namespace nereid::tools;
using llvm::StringRef;

static int report(const std::string &text, int status = 2) {
  llvm::errs() << "nereid: error: " << text << "\n";
  return status;
}

/// "sim" or "sim:80" as a target.
static std::optional<support::TargetSpec> simulatedTarget(StringRef device, std::string &problem) {
  auto [name, arch] = device.split(':');
  if (name != "sim") {
    problem = "--device is `" + device.str() + "`; counters are those of a simulated GPU: sim, or sim:80";
    return std::nullopt;
  }
  if (arch.empty())
    arch = "90";
  return driver::resolveTarget(std::string(artifact::kCuda.name), arch.str() + std::string(artifact::kSimulated),
                               problem);
}

/// "98" or "16,16,4".
static std::optional<runtime::Grid> parseGrid(StringRef text) {
  uint32_t extents[3] = {1, 1, 1};
  llvm::SmallVector<StringRef> parts;
  text.split(parts, ',');
  if (parts.size() > 3)
    return std::nullopt;
  for (size_t index = 0; index < parts.size(); ++index)
    if (parts[index].trim().getAsInteger(10, extents[index]) || extents[index] == 0)
      return std::nullopt;
  return runtime::Grid{extents[0], extents[1], extents[2]};
}

/// The artifact to load; nothing, with the exit status, after an error.
static std::optional<artifact::Artifact> readKernel(const ProfileArguments &arguments,
                                                    const support::TargetSpec &target, bool isPlain, int &status) {
  if (StringRef(arguments.source).ends_with(".artifact")) {
    auto artifact = jit::readArtifact(arguments.source);
    if (!artifact)
      return status = report(artifact.error().text, 1), std::nullopt;
    if (!sim::isSimulated(artifact->target))
      return status = report(arguments.source + " is for `" + artifact->target.backend + ":" + artifact->target.arch +
                             "`; a simulated GPU runs what --target cuda:90+sim compiles"),
             std::nullopt;
    return std::move(*artifact);
  }
  support::Options options = arguments.options;
  options.ownLauncher = !isPlain;
  support::DiagnosticEngine diagnostics;
  std::string problem;
  auto file = jit::readJob(sourceName(arguments.source, arguments.signature), options, target, diagnostics, problem);
  if (!problem.empty())
    return status = report(problem), std::nullopt;
  std::optional<jit::Compiled> compiled;
  if (file) {
    file->job.request.keep = {"ptx"};
    compiled = jit::Session().build(file->job, diagnostics);
  }
  llvm::errs() << diagnostics.render();
  status = 1;
  return compiled ? std::optional(*compiled->artifact) : std::nullopt;
}

/// The kernel as its device takes it with these arguments: with the launcher's own ABI where they fit it.
static std::shared_ptr<runtime::Kernel> loadKernel(const ProfileArguments &arguments, const support::TargetSpec &target,
                                                   runtime::Grid grid, std::optional<RandomArguments> &values,
                                                   int &status) {
  for (const bool isPlain : {false, true}) {
    const auto artifact = readKernel(arguments, target, isPlain, status);
    if (!artifact)
      return nullptr;
    std::string problem;
    values = makeArguments(*artifact, arguments.values, arguments.seed, problem);
    if (!values)
      return status = report(problem), nullptr;
    auto loaded = jit::load(*artifact, 0);
    if (!loaded)
      return status = report(loaded.error().text, 1), nullptr;
    if (isPlain || loaded->kernel->accepts(grid, values->packed))
      return loaded->kernel;
  }
  return nullptr;
}

int tools::runProfile(const ProfileArguments &arguments) {
  std::string problem;
  const auto target = simulatedTarget(arguments.device, problem);
  if (!target)
    return report(problem);
  const auto grid = parseGrid(arguments.grid);
  if (!grid)
    return report("--grid is `" + arguments.grid + "`; write the number of programs, 98 or 16,16,4");
  const artifact::NvidiaGpu *gpu = arguments.gpu.empty() ? nullptr : artifact::findNvidiaGpu(arguments.gpu);
  if (!gpu && !arguments.gpu.empty())
    return report("--gpu: " + sim::unknownGpu(arguments.gpu));
  sim::setSimSettings({.seed = arguments.seed, .wantsCounters = true});
  std::optional<RandomArguments> values;
  int status = 0;
  const std::shared_ptr<runtime::Kernel> kernel = loadKernel(arguments, *target, *grid, values, status);
  if (!kernel)
    return status;
  auto &device = sim::simDevice(kernel->artifact().target);
  if (auto done = device.launch(*kernel, *grid, nullptr, values->packed); !done)
    return report(done.error().text, 1);
  const std::shared_ptr<const sim::LaunchProfile> profile = sim::profileOf(*kernel);
  const artifact::NvidiaGpu &rates = gpu ? *gpu : artifact::nvidiaGpuOf(profile->capability);
  llvm::outs() << (arguments.json ? jsonOf(*profile, rates) : tableOf(*profile, rates));
  return 0;
}
