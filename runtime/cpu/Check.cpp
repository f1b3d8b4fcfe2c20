// Runs a check of a sanitizer: one function per kind of check finds the first wrong element and describes it.
// SPDX-License-Identifier: MIT
#include "runtime/cpu/Check.h"

#include "runtime/cpu/CheckedMemory.h"
#include "runtime/cpu/CheckedNumbers.h"

#include <algorithm>
#include <utility>

namespace nereid::runtime {

//--- Reports -------------------------------------------------------------------------------------

static std::string list(const int64_t *numbers, uint32_t count) {
  std::string text;
  for (uint32_t index = 0; index < count; ++index)
    text += (index ? ", " : "") + std::to_string(numbers[index]);
  return text;
}

/// ", at (3, 5) of a tile [8, 16]"; empty for a scalar.
static std::string tileText(const PrintedType &type, int64_t element) {
  if (type.rank == 0)
    return "";
  std::vector<int64_t> index(type.rank);
  for (uint32_t dim = type.rank; dim-- > 0; element /= type.shape[dim])
    index[dim] = element % type.shape[dim];
  return ", at (" + list(index.data(), type.rank) + ") of a tile [" + list(type.shape, type.rank) + "]";
}

static std::string reportText(const CheckSite &site, const Finding &finding, const uint32_t ids[3],
                              const artifact::Artifact &artifact) {
  std::string text = site.text;
  if (const size_t at = text.find(kCheckMessage); at != std::string::npos)
    text.replace(at, sizeof kCheckMessage - 1, finding.message);
  while (!text.empty() && text.back() == '\n')
    text.pop_back();
  return text + "\nnote: in program (" + std::to_string(ids[0]) + ", " + std::to_string(ids[1]) + ", " +
         std::to_string(ids[2]) + ") of `" + artifact.name + "`" + tileText(site.types[0], finding.element);
}

//--- Wrapped offsets -----------------------------------------------------------------------------

namespace {
/// The first arithmetic that wrapped in the program that this thread runs, reported where the result is used.
struct WrapNote {
  uint64_t launch = 0;
  uint32_t ids[3] = {};
  const CheckSite *site = nullptr; ///< null: none
  Finding finding;

  bool isOf(uint64_t other, const uint32_t otherIds[3]) const {
    return site && launch == other && std::equal(ids, ids + 3, otherIds);
  }
};
} // namespace

static thread_local WrapNote firstWrap;

static void noteWrap(uint64_t launch, const CheckSite &site, const uint32_t ids[3], Finding finding) {
  if (!firstWrap.isOf(launch, ids))
    firstWrap = {launch, {ids[0], ids[1], ids[2]}, &site, std::move(finding)};
}

//--- The call ------------------------------------------------------------------------------------

static std::optional<Finding> find(const CheckedValues &values, const LaunchMemory &memory) {
  switch (values.site.kind) {
  case CheckKind::Bounds:
    return findOutside(values, memory);
  case CheckKind::Unwritten:
    return findUnwritten(values, memory);
  case CheckKind::Written:
    noteWritten(values, memory);
    return std::nullopt;
  case CheckKind::Undefined:
    return findUndefined(values);
  case CheckKind::Overflow:
    return findOverflow(values);
  case CheckKind::Wrapped:
    return findWrapped(values);
  case CheckKind::Nan:
    return findNan(values);
  }
  return std::nullopt;
}

bool checkValues(const CheckSite *site, const uint32_t ids[3], const void *const *values) {
  LaunchFailure *failure = currentFailure();
  if (!failure || !failure->memory.artifact)
    return true;
  const CheckedValues checked(*site, values);
  auto finding = find(checked, failure->memory);
  if (!finding)
    return true;
  if (site->kind == CheckKind::Overflow && !endsLaunch(checked)) {
    noteWrap(failure->launch, *site, ids, std::move(*finding));
    return true;
  }
  if (site->kind == CheckKind::Wrapped && firstWrap.isOf(failure->launch, ids)) {
    site = firstWrap.site;
    finding = firstWrap.finding;
  }
  failure->report(ids, reportText(*site, *finding, ids, *failure->memory.artifact), "sanitize");
  return false;
}

} // namespace nereid::runtime
