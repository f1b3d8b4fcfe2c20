// Runs lld inside the process, from one anonymous file to another.
// SPDX-License-Identifier: MIT
//
// A linker process costs 16-28 ms, the call 1-2 ms. lld reads and writes paths only, so the files are descriptors named
// through /proc/self/fd: the input is in memory, the output goes through a pipe (lld would put a temporary file next to
// a regular one). lld keeps global state: one link at a time.
#include "compiler/lowering/llvm/Link.h"

#include "compiler/support/FatalGuard.h"

#include "lld/Common/CommonLinkerContext.h"
#include "lld/Common/Driver.h"
#include "llvm/BinaryFormat/ELF.h"
#include "llvm/Object/ELFObjectFile.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <mutex>
#include <pthread.h>
#include <sys/mman.h>
#include <unistd.h>
#include <utility>

LLD_HAS_DRIVER(elf)

using namespace nereid;
using namespace nereid::lowering;

/// Whether a path can name a descriptor: not where /proc is not mounted.
static bool canNameDescriptors() { return access("/proc/self/fd", X_OK) == 0; }

static std::string pathOf(int fd) { return "/proc/self/fd/" + std::to_string(fd); }

namespace {

/// A file that is deleted with its owner: in memory, or without /proc in a folder for temporary files.
class ScratchFile {
public:
  explicit ScratchFile(const char *name) {
    if (canNameDescriptors())
      fd = memfd_create(name, MFD_CLOEXEC);
    for (const char *folder : {"/dev/shm", "/tmp", "/var/tmp"})
      if (fd < 0) {
        named = std::string(folder) + "/nereid-XXXXXX";
        fd = mkostemp(named.data(), O_CLOEXEC);
      }
    if (fd < 0)
      named.clear();
  }
  ScratchFile(const ScratchFile &) = delete;
  ScratchFile &operator=(const ScratchFile &) = delete;
  ~ScratchFile() {
    if (fd < 0)
      return;
    close(fd);
    if (!named.empty())
      unlink(named.c_str());
  }

  bool isOpen() const { return fd >= 0; }
  bool isNamed() const { return !named.empty(); }
  std::string path() const { return named.empty() ? pathOf(fd) : named; }

  bool write(llvm::ArrayRef<char> bytes) {
    while (!bytes.empty()) {
      const ssize_t done = ::write(fd, bytes.data(), bytes.size());
      if (done < 0 && errno == EINTR)
        continue;
      if (done <= 0)
        return false;
      bytes = bytes.drop_front(done);
    }
    return true;
  }

  /// The bytes of the file that is now at the path, which may be another one than was opened.
  std::vector<char> contents() const {
    auto read = llvm::MemoryBuffer::getFile(path(), /*IsText=*/false, /*RequiresNullTerminator=*/false);
    if (!read)
      return {};
    return {(*read)->getBufferStart(), (*read)->getBufferEnd()};
  }

private:
  int fd = -1;
  std::string named;
};

/// The file that the linker writes. A file in memory is written through a pipe, by a thread that allocates nothing:
/// where memory is short, an allocation that fails on it would end the process.
class Output {
public:
  Output() : file("nereid.so") {
    if (!file.isOpen() || file.isNamed() || pipe2(ends, O_CLOEXEC) != 0)
      return;
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, kReaderStackBytes);
    isReading = pthread_create(&reader, &attributes, drain, this) == 0;
    pthread_attr_destroy(&attributes);
  }
  Output(const Output &) = delete;
  Output &operator=(const Output &) = delete;
  ~Output() { finish(); }

  bool isOpen() const { return file.isOpen() && (file.isNamed() || isReading); }
  std::string path() const { return file.isNamed() ? file.path() : pathOf(ends[1]); }

  /// All bytes written; called after the writer is done.
  std::vector<char> finish() {
    if (ends[1] >= 0)
      close(std::exchange(ends[1], -1));
    if (std::exchange(isReading, false))
      pthread_join(reader, nullptr);
    if (ends[0] >= 0)
      close(std::exchange(ends[0], -1));
    return hasFailed || !file.isOpen() ? std::vector<char>() : file.contents();
  }

private:
  static constexpr size_t kReaderStackBytes = size_t{2} << 20; // with the thread-local variables of the program

  static void *drain(void *opaque) {
    auto &output = *static_cast<Output *>(opaque);
    const int end = output.ends[0];
    char chunk[65536];
    for (ssize_t got; (got = read(end, chunk, sizeof(chunk))) != 0;)
      if (got > 0)
        output.hasFailed |= !output.file.write({chunk, static_cast<size_t>(got)});
      else if (errno != EINTR)
        break;
    return nullptr;
  }

  ScratchFile file;
  int ends[2] = {-1, -1};
  pthread_t reader = {};
  bool isReading = false, hasFailed = false;
};

} // namespace

/// Whether the object refers to a symbol that it does not define and needs: weak references may stay null.
static bool hasUndefined(llvm::ArrayRef<char> object) {
  auto file = llvm::object::ObjectFile::createObjectFile(
      llvm::MemoryBufferRef(llvm::StringRef(object.data(), object.size()), "kernel.o"));
  if (!file) {
    llvm::consumeError(file.takeError());
    return true;
  }
  for (const llvm::object::SymbolRef &symbol : (*file)->symbols()) {
    auto flags = symbol.getFlags();
    if (!flags) {
      llvm::consumeError(flags.takeError());
      return true;
    }
    // The null symbol of an ELF table counts as undefined too; it is format-specific.
    constexpr uint32_t other = llvm::object::SymbolRef::SF_FormatSpecific | llvm::object::SymbolRef::SF_Weak;
    if ((*flags & llvm::object::SymbolRef::SF_Undefined) && !(*flags & other))
      return true;
  }
  return false;
}

static bool runLld(llvm::ArrayRef<const char *> args, llvm::raw_ostream &errors) {
  const bool isLinked = lld::elf::link(args, errors, errors, /*exitEarly=*/false, /*disableOutput=*/false);
  lld::CommonLinkerContext::destroy();
  return isLinked;
}

/// Runs the linker alone under the crash guard, so that the lock and the files around it are released after a fatal
/// error.
static llvm::Expected<bool> runGuarded(Linker linker, llvm::ArrayRef<const char *> args, llvm::raw_ostream &errors) {
  bool isLinked = false;
  if (const auto fatal = support::runGuarded([&] { isLinked = linker(args, errors); }))
    return llvm::createStringError("the linker crashed: " + *fatal);
  return isLinked;
}

char NoScratchFile::ID;

void NoScratchFile::log(llvm::raw_ostream &stream) const {
  stream << (number ? std::strerror(number) : "no reason given");
}

static llvm::Error noFile() { return llvm::make_error<NoScratchFile>(errno); }

static llvm::Expected<std::vector<char>> linkOnce(Linker linker, llvm::ArrayRef<char> object, llvm::StringRef soname,
                                                  const char *needed) {
  static std::mutex oneAtATime;
  const std::lock_guard lock(oneAtATime);
  errno = 0;
  ScratchFile input("nereid.o");
  Output output;
  if (!input.isOpen() || !output.isOpen() || !input.write(object))
    return noFile();
  const std::string in = input.path(), out = output.path(), name = soname.str();
  llvm::SmallVector<const char *> args{"ld.lld",
                                       "-shared",
                                       "-o",
                                       out.c_str(),
                                       "-soname",
                                       name.c_str(),
                                       "--no-mmap-output-file",
                                       "--threads=1",
                                       "--build-id=none",
                                       "-z",
                                       "now",
                                       "-z",
                                       "noexecstack",
                                       "--hash-style=gnu",
                                       "--no-dependent-libraries",
                                       "-O0",
                                       in.c_str()};
  if (needed) {
    args.push_back("--no-as-needed");
    args.push_back(needed);
  }
  std::string text;
  llvm::raw_string_ostream errors(text);
  llvm::Expected<bool> isLinked = runGuarded(linker, args, errors);
  std::vector<char> bytes = output.finish();
  if (!isLinked)
    return isLinked.takeError();
  if (!*isLinked)
    return llvm::createStringError("the linker failed: " + llvm::StringRef(text).trim());
  if (bytes.empty())
    return llvm::createStringError("the linker's output could not be read");
  return bytes;
}

/// The bytes of an empty shared object with the soname `libm.so.6`: linking against it records the dependency without
/// reading the system's files.
static llvm::Expected<std::vector<char>> libmStub(Linker linker) {
  // Only an ELF64 header: no section, no symbol.
  llvm::ELF::Elf64_Ehdr header = {};
  std::memcpy(header.e_ident, llvm::ELF::ElfMagic, 4);
  header.e_ident[llvm::ELF::EI_CLASS] = llvm::ELF::ELFCLASS64;
  header.e_ident[llvm::ELF::EI_DATA] = llvm::ELF::ELFDATA2LSB;
  header.e_ident[llvm::ELF::EI_VERSION] = llvm::ELF::EV_CURRENT;
  header.e_type = llvm::ELF::ET_REL;
  header.e_machine = llvm::ELF::EM_X86_64;
  header.e_version = llvm::ELF::EV_CURRENT;
  header.e_ehsize = sizeof(header);
  header.e_shentsize = sizeof(llvm::ELF::Elf64_Shdr);
  const char *begin = reinterpret_cast<const char *>(&header);
  return linkOnce(linker, {begin, sizeof(header)}, "libm.so.6", nullptr);
}

llvm::Expected<std::vector<char>> lowering::linkShared(llvm::ArrayRef<char> object, llvm::StringRef soname,
                                                       Linker linker) {
  if (!hasUndefined(object))
    return linkOnce(linker, object, soname, nullptr);
  auto stub = libmStub(linker);
  if (!stub)
    return stub.takeError();
  ScratchFile needed("libm.so.6");
  if (!needed.isOpen() || !needed.write(*stub))
    return noFile();
  return linkOnce(linker, object, soname, needed.path().c_str());
}

llvm::Expected<std::vector<char>> lowering::linkShared(llvm::ArrayRef<char> object, llvm::StringRef soname) {
  return linkShared(object, soname, runLld);
}
