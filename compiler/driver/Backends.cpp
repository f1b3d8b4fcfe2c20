// Lists the targets.
// SPDX-License-Identifier: MIT
#include "compiler/driver/Backend.h"

#include "compiler/dialect/tt/Dialect.h"
#include "compiler/support/NearestName.h"

#include "llvm/ADT/StringExtras.h"

using namespace nereid;
using namespace nereid::driver;

static const Backend *const backends[] = {&cpuBackend, &cudaBackend, &hipBackend};

const Backend *driver::findBackend(llvm::StringRef name) {
  for (const Backend *backend : backends)
    if (std::string_view(name) == backend->info.name)
      return backend;
  return nullptr;
}

uint32_t driver::leastSharedBytes(mlir::ModuleOp module) {
  return module.walk([](tt::ReduceOp) { return mlir::WalkResult::interrupt(); }).wasInterrupted() ? 1 : 0;
}

std::vector<std::string> driver::replaceableStages(const std::string &backend) {
  const Backend *record = findBackend(backend);
  return record ? record->replaceable() : std::vector<std::string>();
}

std::vector<std::string> driver::stageNames(const std::string &backend) {
  const Backend *record = findBackend(backend);
  return record ? record->stages() : std::vector<std::string>();
}

std::vector<std::string> driver::stepStageNames(const std::string &backend) {
  const Backend *record = findBackend(backend);
  return record ? record->stepStages() : std::vector<std::string>();
}

support::Options driver::effectiveOptions(support::Options options, const support::TargetSpec &target) {
  const Backend *backend = findBackend(target.backend);
  options.ownLauncher &= backend && backend->allowsOwnLauncher && backend->allowsOwnLauncher(options, target);
  return options;
}

std::vector<std::string> driver::targetNames() {
  std::vector<std::string> names;
  for (const Backend *known : backends)
    names.emplace_back(known->info.name);
  return names;
}

std::optional<support::TargetSpec> driver::resolveTarget(const std::string &backend, const std::string &arch,
                                                         std::string &reason) {
  if (const Backend *record = findBackend(backend))
    return record->resolve(arch, reason);
  const std::vector<std::string> names = targetNames();
  support::NearestName nearest(backend);
  nearest.addAll(names);
  reason = "target `" + backend + "` is unknown" + nearest.hint() + "; this build compiles for `" +
           llvm::join(names, "` and `") + "`";
  return std::nullopt;
}
