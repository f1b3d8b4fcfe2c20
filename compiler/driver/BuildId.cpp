// Identifies this build by the build id that the linker gave to the object with this code.
// SPDX-License-Identifier: MIT
#include "compiler/driver/Compiler.h"

#include "llvm/ADT/StringExtras.h"

#include <elf.h>
#include <link.h>

using namespace nereid;

namespace {
struct Search {
  uintptr_t inside; ///< an address inside of the object
  std::string id;
};
} // namespace

static std::string findNote(const char *data, size_t size) {
  // Notes consist of words: name size, descriptor size, type, then both texts padded to 4 bytes.
  while (size >= sizeof(ElfW(Nhdr))) {
    const auto *note = reinterpret_cast<const ElfW(Nhdr) *>(data);
    const size_t nameBytes = (note->n_namesz + 3) & ~size_t{3}, descBytes = (note->n_descsz + 3) & ~size_t{3};
    const char *name = data + sizeof(ElfW(Nhdr)), *desc = name + nameBytes;
    const size_t total = sizeof(ElfW(Nhdr)) + nameBytes + descBytes;
    if (total > size)
      break;
    if (note->n_type == NT_GNU_BUILD_ID && llvm::StringRef(name, note->n_namesz) == llvm::StringRef("GNU\0", 4))
      return llvm::toHex(llvm::StringRef(desc, note->n_descsz), /*LowerCase=*/true);
    data += total;
    size -= total;
  }
  return "";
}

static int visit(dl_phdr_info *info, size_t, void *opaque) {
  auto &search = *static_cast<Search *>(opaque);
  bool holds = false;
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    const auto &segment = info->dlpi_phdr[i];
    const uintptr_t begin = info->dlpi_addr + segment.p_vaddr;
    holds |= segment.p_type == PT_LOAD && search.inside >= begin && search.inside < begin + segment.p_memsz;
  }
  if (!holds)
    return 0;
  for (int i = 0; i < info->dlpi_phnum && search.id.empty(); ++i)
    if (info->dlpi_phdr[i].p_type == PT_NOTE)
      search.id = findNote(reinterpret_cast<const char *>(info->dlpi_addr + info->dlpi_phdr[i].p_vaddr),
                           info->dlpi_phdr[i].p_memsz);
  return 1;
}

std::string driver::buildId() {
  static const std::string id = [] {
    Search search{reinterpret_cast<uintptr_t>(&driver::buildId), {}};
    dl_iterate_phdr(visit, &search);
    assert(!search.id.empty() && "linked without --build-id");
    return search.id;
  }();
  return id;
}
