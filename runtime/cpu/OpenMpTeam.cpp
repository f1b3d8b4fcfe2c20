// Finds an OpenMP library in the process by its entry point for parallel regions, and starts regions through it.
// SPDX-License-Identifier: MIT
//
// GOMP_parallel is the entry point that GCC's code calls; GNU's and LLVM's libraries both have it. Nothing is linked or
// loaded: without a library in the process there is no team.
#include "runtime/cpu/OpenMpTeam.h"

#include "runtime/cpu/LoaderGate.h"

#include <atomic>
#include <cstddef>
#include <cstring>

#include <dlfcn.h>
#include <link.h>
#include <pthread.h>
#include <sys/stat.h>

namespace nereid::runtime {

namespace {

using Body = void (*)(void *);

struct OpenMp {
  void (*parallel)(Body body, void *data, unsigned threads, unsigned flags) = nullptr;
  int (*maxThreads)() = nullptr;
  int (*isParallel)() = nullptr;
  int (*threadIndex)() = nullptr;
  int (*threadCount)() = nullptr;
};

/// The target of a walk over the loaded libraries, and its result.
struct Search {
  const unsigned long long searchedBefore; ///< count of loads at the last walk
  unsigned long long loads = 0;
  const char *path = nullptr;
};

} // namespace

static std::atomic<const OpenMp *> team{nullptr};
static std::atomic<unsigned long long> loadsSearched{0};
static std::atomic<bool> hasRun{false};
static std::atomic<bool> isTeamLost{false};
static thread_local bool hadTeamAtFork = false;

static bool isOpenMpLibrary(const char *path) {
  for (const char *name : {"libgomp", "libiomp5", "libomp"})
    if (std::strstr(path, name))
      return true;
  return false;
}

static int visitLibrary(dl_phdr_info *info, size_t, void *data) {
  auto &search = *static_cast<Search *>(data);
  search.loads = info->dlpi_adds;
  if (search.loads == search.searchedBefore)
    return 1;
  if (!info->dlpi_name || !isOpenMpLibrary(info->dlpi_name))
    return 0;
  search.path = info->dlpi_name;
  return 1;
}

template <typename Function> static bool find(void *library, const char *name, Function &function) {
  function = reinterpret_cast<Function>(dlsym(library, name));
  return function != nullptr;
}

static const OpenMp *openTeam(const char *path) {
  void *library = dlopen(path, RTLD_LAZY | RTLD_NOLOAD);
  if (!library)
    return nullptr;
  static OpenMp functions;
  const bool isWhole = find(library, "GOMP_parallel", functions.parallel) &&
                       find(library, "omp_get_max_threads", functions.maxThreads) &&
                       find(library, "omp_in_parallel", functions.isParallel) &&
                       find(library, "omp_get_thread_num", functions.threadIndex) &&
                       find(library, "omp_get_num_threads", functions.threadCount);
  return isWhole ? &functions : nullptr;
}

/// Walks again only after a library was loaded, one thread at a time: launches of other threads run without a team
/// meanwhile.
static const OpenMp *loadedTeam() {
  if (const OpenMp *known = team.load(std::memory_order_acquire))
    return known;
  const LoaderGate gate(std::try_to_lock);
  if (!gate.isHeld())
    return nullptr;
  Search search{loadsSearched.load(std::memory_order_relaxed)};
  dl_iterate_phdr(visitLibrary, &search);
  if (search.loads == search.searchedBefore)
    return nullptr;
  if (!team.load(std::memory_order_relaxed) && search.path)
    team.store(openTeam(search.path), std::memory_order_release);
  loadsSearched.store(search.loads, std::memory_order_relaxed);
  return team.load(std::memory_order_relaxed);
}

uint32_t openMpLimit() {
  const OpenMp *openMp = LoaderGate::loaderIsLost() ? team.load(std::memory_order_acquire) : loadedTeam();
  const int threads = openMp ? openMp->maxThreads() : 0;
  return threads > 0 ? static_cast<uint32_t>(threads) : 0;
}

uint32_t openMpThreads() {
  if (isTeamLost.load(std::memory_order_relaxed) || LoaderGate::loaderIsLost())
    return 0;
  const OpenMp *openMp = loadedTeam();
  // Inside another parallel region the library would start only one thread.
  if (!openMp || openMp->isParallel())
    return 0;
  const int threads = openMp->maxThreads();
  return threads > 0 ? static_cast<uint32_t>(threads) : 0;
}

void runOnOpenMpTeam(uint32_t threads, TeamBody body, void *data) {
  hasRun.store(true, std::memory_order_relaxed);
  struct Region {
    const OpenMp &openMp;
    TeamBody body;
    void *data;
  } region{*team.load(std::memory_order_relaxed), body, data};
  region.openMp.parallel(
      [](void *data) {
        const auto &region = *static_cast<const Region *>(data);
        region.body(region.data, static_cast<uint32_t>(region.openMp.threadIndex()),
                    static_cast<uint32_t>(region.openMp.threadCount()));
      },
      &region, threads, 0);
}

/// Whether this process has one thread, so that no library has others. The count of links of that folder is two more
/// than the number of threads.
static bool isSingleThreaded() {
  struct stat tasks;
  return stat("/proc/self/task", &tasks) == 0 && tasks.st_nlink == 3;
}

/// Whether an OpenMP library may have threads, which PyTorch's own operations start as well as launches do. Unlike
/// loadedTeam() it opens nothing, as the fork may come from a library that is being loaded.
static bool mayHaveTeam() {
  if (hasRun.load())
    return true;
  if (isSingleThreaded())
    return false;
  Search search{~0ull};
  if (!team.load())
    dl_iterate_phdr(visitLibrary, &search);
  return team.load() || search.path;
}

// Registered at load time: a registration at first use could itself be interrupted by a fork.
[[maybe_unused]] static const int teamForkHandlers = pthread_atfork([] { hadTeamAtFork = mayHaveTeam(); }, nullptr,
                                                                    [] {
                                                                      if (hadTeamAtFork)
                                                                        isTeamLost.store(true);
                                                                    });

} // namespace nereid::runtime
