// The rules for which GPUs and drivers accept machine code and PTX.
// SPDX-License-Identifier: MIT
#include "runtime/cuda/CodeRequirements.h"

#include <charconv>
#include <utility>

namespace nereid::runtime {

bool isPtx(std::string_view binary) {
  return !binary.starts_with("\x7f"
                             "ELF");
}

/// The number at the start of the text, which is removed; -1 where there is none.
static int takeNumber(std::string_view &text) {
  int number = -1;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  text.remove_prefix(static_cast<size_t>(end - text.data()));
  return error == std::errc() ? number : -1;
}

// Machine code runs on its own major version from its minor version on; PTX also on every later one. A suffix ties
// either to its generation: `a` to the exact number, `f` to its major version.
bool runsOn(std::string_view arch, bool isPtx, int capability) {
  if (arch.starts_with("sm_"))
    arch.remove_prefix(3);
  const int codeArch = takeNumber(arch);
  if (codeArch < 0 || arch == "a")
    return codeArch < 0 || codeArch == capability;
  const bool sameMajor = codeArch / 10 == capability / 10;
  return codeArch <= capability && (sameMajor || (isPtx && arch.empty()));
}

/// "12.8" or "12.8.93" as 12080.
static int versionOf(std::string_view text) {
  const int major = takeNumber(text);
  if (major < 0 || !text.starts_with("."))
    return 0;
  text.remove_prefix(1);
  return major * 1000 + std::max(takeNumber(text), 0) * 10;
}

/// The CUDA version that introduced a version of PTX.
static int cudaOfPtx(int version) {
  static constexpr std::pair<int, int> kReleases[] = {
      {7080, 11080}, {8000, 12000}, {8010, 12010}, {8020, 12020}, {8030, 12030}, {8040, 12040},
      {8050, 12050}, {8060, 12070}, {8070, 12080}, {8080, 12090}, {9000, 13000}, {9010, 13010},
  };
  for (const auto [language, cuda] : kReleases)
    if (version <= language)
      return cuda;
  return kReleases[std::size(kReleases) - 1].second;
}

int neededCuda(const artifact::Artifact &artifact) {
  if (!isPtx(artifact.binary)) {
    // A driver accepts machine code of every release of its own major version.
    const int toolVersion = versionOf(artifact.toolVersion);
    return toolVersion / 1000 * 1000;
  }
  constexpr std::string_view kDirective = ".version ";
  const size_t at = artifact.binary.find(kDirective);
  if (at == std::string::npos)
    return 0;
  const int language = versionOf(std::string_view(artifact.binary).substr(at + kDirective.size()));
  return language ? cudaOfPtx(language) : 0;
}

} // namespace nereid::runtime
