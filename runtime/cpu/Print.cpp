// Writes what a kernel prints, a line for each element: "pid (x, y, z) idx (i, j) prefix: (operand n) value".
// SPDX-License-Identifier: MIT
#include "runtime/cpu/Print.h"

#include "runtime/cpu/ElementFormat.h"

#include <cstdio>
#include <string>
#include <string_view>
#include <unistd.h>
#include <vector>

namespace nereid::runtime {

/// Formats as printf does with "%f", "%d" or "%u"; in hexadecimal floats with "%a", others with all digits of the type.
static void appendElement(std::string &out, const ElementFormat &format, uint64_t bits, bool isHex) {
  char text[352]; // the largest double has 309 digits before the point
  int size = 0;
  if (format.info.isFloat()) {
    size = std::snprintf(text, sizeof text, isHex ? "%a" : "%f", floatOf(format.info, bits));
  } else if (isHex || format.isPointer) {
    size = std::snprintf(text, sizeof text, "0x%0*llx", static_cast<int>((format.info.bits + 3) / 4),
                         static_cast<unsigned long long>(bits));
  } else if (format.isSigned()) {
    const unsigned unused = 64 - format.info.bits;
    size = std::snprintf(text, sizeof text, "%lld", static_cast<long long>(bits << unused) >> unused);
  } else {
    size = std::snprintf(text, sizeof text, "%llu", static_cast<unsigned long long>(bits));
  }
  out.append(text, static_cast<size_t>(size));
}

/// "(i, j)": each index as wide as the largest of its dimension.
static void appendIndices(std::string &out, const std::vector<int64_t> &indices, const std::vector<size_t> &widths) {
  out += '(';
  for (size_t dim = 0; dim < indices.size(); ++dim) {
    const std::string digits = std::to_string(indices[dim]);
    out.append(dim ? ", " : "");
    out.append(widths[dim] - digits.size(), ' ');
    out += digits;
  }
  out += ')';
}

static void appendValue(std::string &out, std::string_view head, std::string_view prefix, const PrintedType &type,
                        const void *data, bool isHex) {
  const ElementFormat format(type.name);
  std::vector<int64_t> indices(type.rank);
  std::vector<size_t> widths;
  int64_t count = 1;
  for (uint32_t dim = 0; dim < type.rank; ++dim) {
    count *= type.shape[dim];
    widths.push_back(std::to_string(type.shape[dim] - 1).size());
  }
  for (int64_t element = 0; element < count; ++element) {
    int64_t rest = element;
    for (uint32_t dim = type.rank; dim-- > 0; rest /= type.shape[dim])
      indices[dim] = rest % type.shape[dim];
    out.append(head).append(" idx ");
    appendIndices(out, indices, widths);
    out.append(prefix);
    appendElement(out, format, readBits(format.info, data, element), isHex);
    out += '\n';
  }
}

static void writeAll(std::string_view text) {
  while (!text.empty()) {
    const ssize_t done = write(STDOUT_FILENO, text.data(), text.size());
    if (done <= 0)
      return; // output errors are ignored
    text.remove_prefix(static_cast<size_t>(done));
  }
}

void printValues(const char *prefix, const uint32_t ids[3], uint32_t isHex, uint32_t count, const PrintedType *types,
                 const void *const *values) {
  const std::string head =
      "pid (" + std::to_string(ids[0]) + ", " + std::to_string(ids[1]) + ", " + std::to_string(ids[2]) + ")";
  std::string out = count ? "" : head + prefix + "\n";
  for (uint32_t index = 0; index < count; ++index) {
    const std::string operand = count > 1 ? "(operand " + std::to_string(index) + ") " : std::string();
    appendValue(out, head, prefix + operand, types[index], values[index], isHex != 0);
  }
  static std::mutex oneAtATime;
  const std::lock_guard lock(oneAtATime);
  std::fflush(stdout); // output that the host has buffered comes first
  writeAll(out);
}

} // namespace nereid::runtime
