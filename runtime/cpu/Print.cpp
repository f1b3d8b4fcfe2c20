// Formats tiles and scalars of every type as text.
// SPDX-License-Identifier: MIT
#include "runtime/cpu/Print.h"

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

namespace {
/// A float format by the widths of its parts; the exponent fills the rest.
struct FloatFormat {
  unsigned bits, mantissa;
  int bias;
  bool isFnuz = false, isE4m3fn = false;
};

struct ElementFormat {
  explicit ElementFormat(std::string_view name);

  unsigned bits = 0;
  bool isFloat = false, isSigned = false, isBool = false, isPointer = false;
  FloatFormat format{};

  unsigned bytes() const { return isBool ? 1 : bits / 8; }
};
} // namespace

ElementFormat::ElementFormat(std::string_view name) {
  static constexpr std::pair<std::string_view, FloatFormat> floats[] = {
      {"fp64", {64, 52, 1023}},       {"fp32", {32, 23, 127}},
      {"fp16", {16, 10, 15}},         {"bf16", {16, 7, 127}},
      {"fp8e5", {8, 2, 15}},          {"fp8e5b16", {8, 2, 16, true}},
      {"fp8e4nv", {8, 3, 7, false, true}}, {"fp8e4b8", {8, 3, 8, true}}};
  for (const auto &[known, layout] : floats)
    if (known == name) {
      isFloat = true;
      format = layout;
      bits = layout.bits;
      return;
    }
  isPointer = name == "ptr";
  bits = 64;
  if (isPointer)
    return;
  isSigned = name.front() == 'i';
  bits = static_cast<unsigned>(std::atoi(name.data() + 1));
  isBool = bits == 1;
}

static uint64_t readBits(const ElementFormat &format, const char *data, int64_t index) {
  uint64_t value = 0;
  std::memcpy(&value, data + index * format.bytes(), format.bytes());
  return value;
}

static double floatOf(const FloatFormat &format, uint64_t bits) {
  const unsigned exponentBits = format.bits - 1 - format.mantissa;
  const uint64_t digits = bits & ((uint64_t{1} << format.mantissa) - 1);
  const auto exponent = static_cast<int>(bits >> format.mantissa & ((1u << exponentBits) - 1));
  const bool isNegative = bits >> (format.bits - 1) & 1;
  const int most = (1 << exponentBits) - 1;
  double size = std::ldexp(static_cast<double>(digits + (exponent ? uint64_t{1} << format.mantissa : 0)),
                           std::max(exponent, 1) - format.bias - static_cast<int>(format.mantissa));
  if (format.isFnuz) {
    if (isNegative && exponent == 0 && digits == 0)
      return std::nan("");
  } else if (format.isE4m3fn) {
    if (exponent == most && digits == 7)
      size = std::nan("");
  } else if (exponent == most) {
    size = digits ? std::nan("") : HUGE_VAL;
  }
  return isNegative ? -size : size;
}

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
