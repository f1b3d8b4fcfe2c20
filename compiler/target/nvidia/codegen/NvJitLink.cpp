// Calls nvJitLink from its shared library, which saves a process and 10 ms compared with ptxas.
// SPDX-License-Identifier: MIT
#include "compiler/target/nvidia/codegen/PtxAssemblerTools.h"

#include "compiler/support/FatalGuard.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringMap.h"

#include <dlfcn.h>
#include <mutex>
#include <unistd.h>
#include <vector>

using namespace nereid;
using namespace nereid::nvidia;

namespace {

// nvJitLink.h, CUDA 13.0: the declarations used here.
using Handle = struct HandleTag *;
using Status = int;
constexpr Status success = 0;
constexpr int inputPtx = 2;

/// The library's functions; null where it could not be opened.
struct Library {
  Status (*create)(Handle *, uint32_t, const char **) = nullptr;
  Status (*destroy)(Handle *) = nullptr;
  Status (*addData)(Handle, int, const void *, size_t, const char *) = nullptr;
  Status (*complete)(Handle) = nullptr;
  Status (*cubinSize)(Handle, size_t *) = nullptr;
  Status (*cubin)(Handle, void *) = nullptr;
  Status (*errorSize)(Handle, size_t *) = nullptr;
  Status (*error)(Handle, char *) = nullptr;
  Status (*infoSize)(Handle, size_t *) = nullptr;
  Status (*info)(Handle, char *) = nullptr;
  Status (*version)(unsigned *, unsigned *) = nullptr;

  bool isOpen() const { return version != nullptr; }
};

/// Finds the first name that exists: libraries of CUDA 12 only export names with a version.
template <typename Function> bool find(void *library, const char *name, Function &function) {
  function = reinterpret_cast<Function>(dlsym(library, name));
  for (int minor = 9; !function && minor >= 0; --minor)
    function =
        reinterpret_cast<Function>(dlsym(library, ("__" + std::string(name) + "_12_" + std::to_string(minor)).c_str()));
  return function != nullptr;
}

Library open(const std::string &path) {
  Library library;
  void *opened = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!opened)
    return library;
  const bool hasAll =
      find(opened, "nvJitLinkCreate", library.create) && find(opened, "nvJitLinkDestroy", library.destroy) &&
      find(opened, "nvJitLinkAddData", library.addData) && find(opened, "nvJitLinkComplete", library.complete) &&
      find(opened, "nvJitLinkGetLinkedCubinSize", library.cubinSize) &&
      find(opened, "nvJitLinkGetLinkedCubin", library.cubin) &&
      find(opened, "nvJitLinkGetErrorLogSize", library.errorSize) &&
      find(opened, "nvJitLinkGetErrorLog", library.error) &&
      find(opened, "nvJitLinkGetInfoLogSize", library.infoSize) && find(opened, "nvJitLinkGetInfoLog", library.info) &&
      find(opened, "nvJitLinkVersion", library.version);
  return hasAll ? library : Library();
}

/// Libraries are never closed: opening one again costs tens of milliseconds.
Library libraryAt(const std::string &path) {
  static std::mutex guard;
  static llvm::StringMap<Library> known;
  const std::lock_guard lock(guard);
  auto [entry, isNew] = known.try_emplace(path);
  if (isNew)
    entry->second = open(path);
  return entry->second;
}

/// A process that has failed to initialise CUDA in nvJitLink must not try again in a forked child: libcuda crashes
/// there.
bool isChildOfUser() {
  static const pid_t firstUser = getpid();
  return getpid() != firstUser;
}

/// One link; owns the handle.
class Link {
public:
  explicit Link(const Library &library) : library(library) {}
  Link(const Link &) = delete;
  Link &operator=(const Link &) = delete;
  ~Link() {
    if (handle)
      library.destroy(&handle);
  }

  bool create(const Arch &arch, llvm::ArrayRef<std::string> ptxasOptions) {
    std::vector<std::string> texts = {std::string("-arch=") + arch.cpu, "-lineinfo", "-verbose"};
    if (llvm::none_of(ptxasOptions, [](llvm::StringRef word) { return word.starts_with("-O"); }))
      texts.push_back("-O3");
    for (const std::string &word : ptxasOptions)
      texts.push_back("-Xptxas=" + word);
    std::vector<const char *> options;
    for (const std::string &text : texts)
      options.push_back(text.c_str());
    return library.create(&handle, options.size(), options.data()) == success;
  }
  bool run(llvm::StringRef ptx) {
    return library.addData(handle, inputPtx, ptx.data(), ptx.size(), "kernel.ptx") == success &&
           library.complete(handle) == success;
  }
  std::string text(Status (*size)(Handle, size_t *), Status (*read)(Handle, char *)) const {
    size_t bytes = 0;
    if (size(handle, &bytes) != success || bytes == 0)
      return {};
    std::string log(bytes, '\0');
    read(handle, log.data());
    return llvm::StringRef(log).rtrim('\0').str();
  }
  std::string cubin() const {
    size_t bytes = 0;
    library.cubinSize(handle, &bytes);
    std::string image(bytes, '\0');
    return library.cubin(handle, image.data()) == success ? image : std::string();
  }

private:
  const Library &library;
  Handle handle = nullptr;
};

} // namespace

bool nvidia::nvJitLinkInitialisesCuda() {
  using Count = Status (*)(int *);
  static const auto count = [] { // a library that is loaded is not yet initialised
    void *driver = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_LOCAL);
    return driver ? reinterpret_cast<Count>(dlsym(driver, "cuDeviceGetCount")) : nullptr;
  }();
  int devices = 0;
  return count && count(&devices) != success;
}

ToolOutcome nvidia::runNvJitLink(llvm::StringRef ptx, const Arch &arch, llvm::ArrayRef<std::string> options,
                                 const Tools &tools, Assembled &result, std::string &log) {
  const Library library = libraryAt(tools.nvJitLink);
  if (!library.isOpen() || (isChildOfUser() && nvJitLinkInitialisesCuda()))
    return ToolOutcome::Absent;
  Link link(library);
  if (!link.create(arch, options)) // the library is older than the GPU, or than an option
    return ToolOutcome::Absent;
  bool isDone = false;
  {
    const support::TimeLimit limit(std::chrono::seconds(tools.secondsLimit));
    isDone = link.run(ptx);
  }
  log = link.text(library.infoSize, library.info) + "\n" + link.text(library.errorSize, library.error);
  if (!isDone)
    return isTooOld(log) ? ToolOutcome::Absent : ToolOutcome::Refused;
  result.cubin = link.cubin();
  unsigned major = 0, minor = 0;
  library.version(&major, &minor);
  result.tool = "nvjitlink";
  result.toolVersion = std::to_string(major) + "." + std::to_string(minor);
  return result.cubin.empty() ? ToolOutcome::Absent : ToolOutcome::Done;
}
