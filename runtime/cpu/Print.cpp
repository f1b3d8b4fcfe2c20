// Formats tiles and scalars of every type as text.
// SPDX-License-Identifier: MIT
#include "runtime/cpu/Print.h"

#include "runtime/cpu/ElementFormat.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <string_view>
#include <unistd.h>
#include <vector>

namespace nereid::runtime {

static constexpr int64_t kPerLine = 8;

//--- Elements ------------------------------------------------------------------------------------

template <typename... Args> static std::string formatted(const char *pattern, Args... args) {
  char text[64];
  const int size = std::snprintf(text, sizeof text, pattern, args...);
  return {text, static_cast<size_t>(std::min<int>(size, sizeof text - 1))};
}

static std::string integerText(const ElementFormat &format, uint64_t bits, bool isHex) {
  if (isHex || format.isPointer)
    return formatted("0x%0*llx", static_cast<int>((format.bits + 3) / 4),
                     static_cast<unsigned long long>(bits));
  if (format.isBool)
    return bits ? "True" : "False";
  const unsigned unused = 64 - format.bits;
  return format.isSigned ? std::to_string(static_cast<int64_t>(bits << unused) >> unused)
                         : std::to_string(bits);
}

//--- Floats --------------------------------------------------------------------------------------

namespace {
/// How all floats of a value are written: whole ones with a point, others with four digits, or with exponents where
/// their sizes are far apart.
struct FloatStyle {
  bool isWhole = true, isScientific = false;

  explicit FloatStyle(const std::vector<double> &values) {
    double least = HUGE_VAL, most = 0;
    for (double value : values) {
      if (!std::isfinite(value))
        continue;
      isWhole &= value == std::floor(value);
      if (value != 0) {
        least = std::min(least, std::abs(value));
        most = std::max(most, std::abs(value));
      }
    }
    isScientific = most > 0 && (most / least > 1000 || most > 1e8 || least < 1e-4);
    if (isWhole)
      isScientific = most > 1e8;
  }

  std::string text(double value) const {
    if (std::isnan(value))
      return "nan";
    if (std::isinf(value))
      return value < 0 ? "-inf" : "inf";
    if (isScientific)
      return formatted("%.4e", value);
    return isWhole ? formatted("%.0f.", value) : formatted("%.4f", value);
  }
};
} // namespace

/// The text of each element.
static std::vector<std::string> elementTexts(const ElementFormat &format, const char *data, int64_t count,
                                             bool isHex) {
  std::vector<std::string> texts;
  if (!format.isFloat || isHex) {
    for (int64_t index = 0; index < count; ++index)
      texts.push_back(integerText(format, readBits(format, data, index), isHex));
    return texts;
  }
  std::vector<double> values;
  for (int64_t index = 0; index < count; ++index)
    values.push_back(floatOf(format.format, readBits(format, data, index)));
  const FloatStyle style(values);
  for (double value : values)
    texts.push_back(style.text(value));
  return texts;
}

//--- Tiles ---------------------------------------------------------------------------------------

static void appendRow(std::string &out, const std::string *texts, int64_t count, size_t width, size_t column) {
  for (int64_t index = 0; index < count; ++index) {
    if (index)
      out += index % kPerLine ? ", " : ",\n" + std::string(column, ' ');
    out.append(width - texts[index].size(), ' ');
    out += texts[index];
  }
}

static void appendTile(std::string &out, const PrintedType &type, uint32_t dim, const std::string *&next,
                       size_t width, size_t column) {
  out += '[';
  if (dim + 1 == type.rank) {
    appendRow(out, next, type.shape[dim], width, column + 1);
    next += type.shape[dim];
  } else {
    for (int64_t index = 0; index < type.shape[dim]; ++index) {
      if (index)
        out += "," + std::string(type.rank - dim - 1, '\n') + std::string(column + 1, ' ');
      appendTile(out, type, dim + 1, next, width, column + 1);
    }
  }
  out += ']';
}

std::string valueText(const PrintedType &type, const void *data, bool isHex, size_t column) {
  int64_t count = 1;
  for (uint32_t dim = 0; dim < type.rank; ++dim)
    count *= type.shape[dim];
  const auto texts =
      elementTexts(ElementFormat(type.name), static_cast<const char *>(data), count, isHex);
  if (type.rank == 0)
    return texts.front();
  size_t width = 0;
  for (const std::string &text : texts)
    width = std::max(width, text.size());
  std::string out;
  const std::string *next = texts.data();
  appendTile(out, type, 0, next, width, column);
  return out;
}

static void writeAll(std::string_view text) {
  while (!text.empty()) {
    const ssize_t done = write(STDOUT_FILENO, text.data(), text.size());
    if (done <= 0)
      return; // nobody reads
    text.remove_prefix(static_cast<size_t>(done));
  }
}

void printValues(const char *prefix, const uint32_t ids[3], uint32_t isHex, uint32_t count,
                 const PrintedType *types, const void *const *values) {
  const std::string head = "(" + std::to_string(ids[0]) + ", " + std::to_string(ids[1]) + ", " +
                           std::to_string(ids[2]) + ")" + prefix;
  std::string out = count ? "" : head + "\n";
  for (uint32_t index = 0; index < count; ++index) {
    const std::string start =
        head + (count > 1 ? "(operand " + std::to_string(index) + ") " : std::string());
    out += start + valueText(types[index], values[index], isHex != 0, start.size()) + "\n";
  }
  static std::mutex oneAtATime;
  const std::lock_guard lock(oneAtATime);
  std::fflush(stdout); // what the host has written comes first
  writeAll(out);
}

} // namespace nereid::runtime
