// Finds element types by XLA's numbers.
// SPDX-License-Identifier: MIT
#include "xla/ElementType.h"

#include <array>

namespace nereid::xla {

using artifact::ElementInfo;
using artifact::kElementTypes;

static constexpr auto kByCode = [] {
  std::array<const ElementInfo *, 64> infos{};
  for (const ElementInfo &info : kElementTypes)
    if (info.xlaCode != 0)
      infos[static_cast<size_t>(info.xlaCode)] = &info;
  return infos;
}();

const ElementInfo *findXlaType(int32_t xlaCode) {
  const auto number = static_cast<uint32_t>(xlaCode);
  return number < kByCode.size() ? kByCode[number] : nullptr;
}

ElementTypes ElementTypes::takenBy(std::string_view pointee) {
  ElementTypes taken;
  taken.takesAll = pointee.empty();
  const auto type = artifact::elementOfSignature(pointee);
  const bool isKnown = type && artifact::infoOf(*type).xlaCode != 0;
  for (const ElementInfo &info : kElementTypes)
    if (info.xlaCode != 0 && (isKnown ? info.type == *type : info.storageBits() == 8))
      taken.bits |= uint64_t{1} << info.xlaCode;
  return taken;
}

std::string xlaName(int32_t xlaCode) {
  const ElementInfo *info = findXlaType(xlaCode);
  return info ? std::string(info->xlaName) : "XLA's type " + std::to_string(xlaCode);
}

} // namespace nereid::xla
