// Finds a function that a module of this process does not export, in the symbol table of the module's file.
// SPDX-License-Identifier: MIT
//
// PyTorch/XLA contains XLA and exports none of it. Its wheels are not stripped, so the file's symbol table still has
// the address of XLA's function that returns the table of functions of the typed interface.
#include "xla/handlers/Handlers.h"

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

namespace {
/// A file's bytes; reads outside them fail.
class File {
public:
  explicit File(const char *path) {
    const int descriptor = open(path, O_RDONLY | O_CLOEXEC);
    struct stat status{};
    if (descriptor < 0)
      return;
    if (fstat(descriptor, &status) == 0 && status.st_size > 0) {
      void *mapped = mmap(nullptr, static_cast<size_t>(status.st_size), PROT_READ, MAP_PRIVATE, descriptor, 0);
      if (mapped != MAP_FAILED)
        bytes = {static_cast<const char *>(mapped), static_cast<size_t>(status.st_size)};
    }
    close(descriptor);
  }
  ~File() {
    if (!bytes.empty())
      munmap(const_cast<char *>(bytes.data()), bytes.size());
  }
  File(const File &) = delete;
  File &operator=(const File &) = delete;

  template <typename T> std::span<const T> array(uint64_t offset, uint64_t count) const {
    if (offset > bytes.size() || offset % alignof(T) != 0 || count > (bytes.size() - offset) / sizeof(T))
      return {};
    return {reinterpret_cast<const T *>(bytes.data() + offset), static_cast<size_t>(count)};
  }

private:
  std::span<const char> bytes;
};
} // namespace

static std::string realPath(const char *path) {
  const std::unique_ptr<char, decltype(&std::free)> resolved(realpath(path, nullptr), &std::free);
  return resolved ? resolved.get() : "";
}

/// The difference between an address in this process and in the file; nullopt if the file is not loaded.
static std::optional<uintptr_t> loadBias(const std::string &path) {
  struct Search {
    const std::string &path;
    std::optional<uintptr_t> bias = std::nullopt;
  } search{path};
  dl_iterate_phdr(
      [](dl_phdr_info *info, size_t, void *data) {
        auto &search = *static_cast<Search *>(data);
        if (!info->dlpi_name || realPath(info->dlpi_name) != search.path)
          return 0;
        search.bias = info->dlpi_addr;
        return 1;
      },
      &search);
  return search.bias;
}

/// The sections of a library for this machine; none if the file is not one.
static std::span<const Elf64_Shdr> sections(const File &file) {
  const auto header = file.array<Elf64_Ehdr>(0, 1);
  if (header.empty() || std::memcmp(header[0].e_ident, ELFMAG, SELFMAG) != 0 ||
      header[0].e_ident[EI_CLASS] != ELFCLASS64 || header[0].e_ident[EI_DATA] != ELFDATA2LSB ||
      header[0].e_shentsize != sizeof(Elf64_Shdr))
    return {};
  return file.array<Elf64_Shdr>(header[0].e_shoff, header[0].e_shnum);
}

static bool isCalled(const Elf64_Sym &symbol, std::string_view name, std::span<const char> texts) {
  if (symbol.st_name >= texts.size() || texts.size() - symbol.st_name <= name.size())
    return false;
  const char *text = texts.data() + symbol.st_name;
  return text[name.size()] == '\0' && std::memcmp(text, name.data(), name.size()) == 0;
}

/// The function's address in the file; nullopt, with `problem` set, if there is none.
static std::optional<uint64_t> addressInFile(const File &file, std::string_view name, std::string &problem) {
  const auto all = sections(file);
  problem = "is no library for this machine";
  for (const Elf64_Shdr &section : all) {
    problem = "has no symbol table: it is stripped";
    if (section.sh_type != SHT_SYMTAB)
      continue;
    problem = "has no function " + std::string(name);
    if (section.sh_link >= all.size())
      return std::nullopt;
    const Elf64_Shdr &texts = all[section.sh_link];
    for (const Elf64_Sym &symbol : file.array<Elf64_Sym>(section.sh_offset, section.sh_size / sizeof(Elf64_Sym)))
      if (ELF64_ST_TYPE(symbol.st_info) == STT_FUNC && symbol.st_value != 0 &&
          isCalled(symbol, name, file.array<char>(texts.sh_offset, texts.sh_size)))
        return symbol.st_value;
    return std::nullopt;
  }
  return std::nullopt;
}

void *nereid_xla_find_function(const char *path, const char *name, const char **problem) {
  static thread_local std::string text;
  const std::string real = realPath(path);
  const std::optional<uintptr_t> bias = loadBias(real);
  if (!bias) {
    text = "is not loaded in this process";
  } else if (const auto address = addressInFile(File(real.c_str()), name, text)) {
    return reinterpret_cast<void *>(*bias + *address);
  }
  *problem = text.c_str();
  return nullptr;
}
