// A libnvJitLink.so that links nothing: words in the PTX say what it answers.
// SPDX-License-Identifier: MIT
//
//   // says: TEXT      the link fails, and its error log is TEXT
// Otherwise the cubin is the options, one a line, and the information log tells of 40 registers.
#include <cstdint>
#include <cstring>
#include <string>

#define API extern "C" __attribute__((visibility("default")))

namespace {
struct Link {
  std::string options, cubin, errors, information;
};
} // namespace

static Link &linkOf(void *handle) { return *static_cast<Link *>(handle); }

static int sizeOf(const std::string &text, size_t *bytes) {
  *bytes = text.size();
  return 0;
}

static int copyOf(const std::string &text, void *to) {
  std::memcpy(to, text.data(), text.size());
  return 0;
}

API int nvJitLinkCreate(void **handle, uint32_t count, const char **options) {
  auto *link = new Link;
  *handle = link;
  for (uint32_t i = 0; i < count; ++i) {
    if (std::strcmp(options[i], "-Xptxas=--unknown") == 0)
      return 1;
    link->options += std::string(options[i]) + "\n";
  }
  return 0;
}

API int nvJitLinkDestroy(void **handle) {
  delete static_cast<Link *>(*handle);
  return 0;
}

API int nvJitLinkAddData(void *handle, int kind, const void *data, size_t bytes, const char *) {
  const std::string text(static_cast<const char *>(data), bytes);
  const std::string word = "// says: ";
  if (const size_t at = text.find(word); at != std::string::npos)
    linkOf(handle).errors = text.substr(at + word.size(), text.find('\n', at) - at - word.size());
  return kind == 2 ? 0 : 1;
}

API int nvJitLinkComplete(void *handle) {
  Link &link = linkOf(handle);
  link.cubin = link.options;
  link.information =
      "info    : 0 bytes stack frame, 8 bytes spill stores, 8 bytes spill loads\ninfo    : Used 40 registers\n";
  return link.errors.empty() ? 0 : 4;
}

API int nvJitLinkGetLinkedCubinSize(void *handle, size_t *bytes) { return sizeOf(linkOf(handle).cubin, bytes); }
API int nvJitLinkGetLinkedCubin(void *handle, void *to) { return copyOf(linkOf(handle).cubin, to); }
API int nvJitLinkGetErrorLogSize(void *handle, size_t *bytes) { return sizeOf(linkOf(handle).errors, bytes); }
API int nvJitLinkGetErrorLog(void *handle, char *to) { return copyOf(linkOf(handle).errors, to); }
API int nvJitLinkGetInfoLogSize(void *handle, size_t *bytes) { return sizeOf(linkOf(handle).information, bytes); }
API int nvJitLinkGetInfoLog(void *handle, char *to) { return copyOf(linkOf(handle).information, to); }

API int nvJitLinkVersion(unsigned *major, unsigned *minor) {
  *major = 98, *minor = 7;
  return 0;
}
