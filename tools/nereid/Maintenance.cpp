// Implements `nereid doctor` and `nereid cache`: reports the machine's devices and tools, the cache's size, and
// problems.
// SPDX-License-Identifier: MIT
#include "tools/nereid/Commands.h"

#include "artifact/TargetInfo.h"
#include "compiler/driver/Compiler.h"
#include "jit/DiskCache.h"
#include "runtime/cpu/CpuDevice.h"
#include "runtime/cuda/CudaDevice.h"
#include "runtime/hip/HipDevice.h"

#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Process.h"
#include "llvm/Support/raw_ostream.h"

#include "tools/nereid/Version.inc"

using namespace nereid;
using namespace nereid::tools;

std::string tools::defaultCacheDir() {
  if (auto dir = llvm::sys::Process::GetEnv("TRITON_CACHE_DIR"); dir && !dir->empty())
    return *dir;
  llvm::SmallString<128> path;
  if (auto home = llvm::sys::Process::GetEnv("TRITON_HOME"); home && !home->empty())
    path = *home;
  else if (!llvm::sys::path::home_directory(path))
    return "";
  llvm::sys::path::append(path, ".triton", "cache");
  return path.str().str();
}

static void line(const char *what, const std::string &value) {
  llvm::outs() << llvm::formatv("{0,-12} {1}\n", what, value);
}

static std::string orNone(const std::string &path) { return path.empty() ? "none found" : path; }

static void describeAssemblers() {
  std::string problem;
  const std::optional<CudaTools> tools = findCudaTools({}, problem);
  if (!tools)
    return line("ptxas", "no: " + problem);
  const std::string version = tools->ptxas.empty() ? "" : ptxasVersion(tools->ptxas);
  line("ptxas", orNone(tools->ptxas) + (version.empty() ? "" : " (" + version + ")"));
  line("nvJitLink", orNone(tools->nvJitLink));
}

static std::string targetOf(const runtime::CudaDevice &device) { return "cuda:" + std::to_string(device.capability()); }
static std::string targetOf(const runtime::HipDevice &device) { return "hip:" + device.arch(); }

/// One vendor's driver library and its devices; `variable` is the user's path of the library.
template <typename Driver>
static void describeDriver(const char *library, const char *variable, std::string (*versionText)(int)) {
  Driver::process().setLibrary(llvm::sys::Process::GetEnv(variable).value_or(""));
  auto driver = Driver::process().get();
  if (!driver)
    return line(library, "no: " + driver.error().text + " in " + variable);
  line(library, versionText((*driver)->version()));
  for (int ordinal = 0; ordinal < (*driver)->deviceCount(); ++ordinal) {
    const auto &device = **(*driver)->device(ordinal);
    line(device.name().c_str(), device.properties().name + " (" + targetOf(device) + ", " +
                                    std::to_string(device.properties().multiprocessorCount) + " multiprocessors)");
  }
}

int tools::runDoctor(const std::string &cacheDir) {
  line("nereid", NEREID_VERSION ", build " + driver::buildId());
  line("LLVM", LLVM_VERSION_STRING);
  // The command of an environment has said it by now.
  if (!llvm::sys::Process::GetEnv("NEREID_SITE_PACKAGES"))
    line("packages", "`python -m nereid doctor` tells which triton that Python imports, and why");
  std::string reason;
  auto host = driver::resolveTarget(std::string(artifact::kCpu.name), "", reason);
  if (!host) {
    line("cpu", "no: " + reason);
    return 1;
  }
  const runtime::DeviceProperties &properties = runtime::cpuDevice().properties();
  line("cpu", properties.name + " (" + host->arch + ")");
  runtime::setCpuThreadRequest([] {
    const auto text = llvm::sys::Process::GetEnv("OMP_NUM_THREADS");
    return text ? runtime::cpuThreadsOfVariable(*text) : 0;
  });
  line("threads", std::to_string(runtime::cpuThreads()));
  std::string vectors;
  for (const char *feature : {"avx2", "fma", "f16c", "avx512f", "avx512bf16", "amx-tile"})
    if (llvm::StringRef(host->features).contains(std::string("+") + feature))
      vectors += (vectors.empty() ? "" : " ") + std::string(feature);
  line("vectors", vectors.empty() ? "baseline only" : vectors);
  line("last cache", llvm::formatv("{0} KiB", host->lastLevelCacheBytes / 1024).str());
  describeDriver<runtime::CudaDriver>("libcuda", "TRITON_LIBCUDA_PATH",
                                      [](int version) { return "CUDA " + runtime::cudaVersionText(version); });
  describeAssemblers();
  describeDriver<runtime::HipDriver>("libamdhip64", "TRITON_LIBHIP_PATH",
                                     [](int version) { return "HIP " + runtime::hipVersionText(version); });
  if (cacheDir.empty()) {
    line("disk cache", "off: no home folder and TRITON_CACHE_DIR is not set");
    return 0;
  }
  const std::error_code code = llvm::sys::fs::create_directories(cacheDir);
  const bool writable = !code && !llvm::sys::fs::access(cacheDir, llvm::sys::fs::AccessMode::Write);
  line("disk cache",
       cacheDir + (writable ? "" : "  (cannot be written: kernels that it lacks are compiled by each process)"));
  return 0;
}

int tools::runCacheInfo(const std::string &dir) {
  const jit::CacheInfo info = jit::DiskCache().info(dir);
  line("folder", dir);
  line("kernels", std::to_string(info.files));
  line("size", llvm::formatv("{0:F1} MiB", info.bytes / 1048576.0).str());
  return 0;
}

int tools::runCacheClear(const std::string &dir) {
  const jit::CacheInfo removed = jit::DiskCache().clear(dir);
  llvm::outs() << "removed " << removed.files << " files, " << removed.bytes << " bytes\n";
  return 0;
}
