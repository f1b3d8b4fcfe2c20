// Repeats integer arithmetic in more bits, and compares NaN results with the values they were computed from.
// SPDX-License-Identifier: MIT
#include "runtime/cpu/CheckedNumbers.h"

#include "runtime/cpu/ElementFormat.h"

#include <cmath>
#include <cstdio>
#include <string_view>

namespace nereid::runtime {

//--- Integers ------------------------------------------------------------------------------------

__extension__ using Wide = __int128;
__extension__ using WideUnsigned = unsigned __int128;

/// Holds every product of two elements, those of u64 included.
struct Integer {
  bool isNegative = false;
  WideUnsigned magnitude = 0;
};

static Integer integerOf(Wide value) {
  return value < 0 ? Integer{true, -static_cast<WideUnsigned>(value)}
                   : Integer{false, static_cast<WideUnsigned>(value)};
}

static Wide elementOf(const ElementFormat &format, const void *data, int64_t index) {
  const uint64_t bits = readBits(format.info, data, index);
  const unsigned unused = 64 - format.info.bits;
  return format.isSigned() ? Wide{static_cast<int64_t>(bits << unused) >> unused} : Wide{bits};
}

static Integer compute(char op, Wide a, Wide b) {
  if (op == '<') { // a distance that is too large has no meaning
    const bool isShift = b >= 0 && b < 64;
    return integerOf(isShift ? a * (Wide{1} << b) : 0);
  }
  if (op != '*')
    return integerOf(op == '+' ? a + b : a - b);
  const WideUnsigned magnitude = integerOf(a).magnitude * integerOf(b).magnitude;
  return {magnitude && (a < 0) != (b < 0), magnitude};
}

static bool fits(const ElementFormat &format, Integer value) {
  const WideUnsigned end = WideUnsigned{1} << (format.isSigned() ? format.info.bits - 1 : format.info.bits);
  return value.isNegative ? format.isSigned() && value.magnitude <= end : value.magnitude < end;
}

static std::string textOf(Integer value) {
  std::string digits;
  for (WideUnsigned rest = value.magnitude; rest || digits.empty(); rest /= 10)
    digits.insert(digits.begin(), static_cast<char>('0' + static_cast<int>(rest % 10)));
  return (value.isNegative ? "-" : "") + digits;
}

static Finding overflowFinding(int64_t element, const ElementFormat &format, const std::string &expression,
                               Integer exact) {
  return {element, expression + " is " + textOf(exact) + ", which " + (format.isSigned() ? "int" : "uint") +
                       std::to_string(format.info.bits) + " cannot hold, and becomes part of an address" +
                       (format.info.bits < 64 ? "; use `.to(tl.int64)`" : "")};
}

/// A sum of elements, and the same in 64 bits.
static std::optional<Finding> findOverflowOfSum(const CheckedValues &values, const ElementFormat &format) {
  const ElementFormat wide(values.site.types[1].name);
  for (int64_t element = 0; element < values.elements; ++element) {
    const Integer exact = integerOf(elementOf(wide, values.values[1], element));
    if (!fits(format, exact))
      return overflowFinding(element, format, "the sum", exact);
  }
  return std::nullopt;
}

std::optional<Finding> findOverflow(const CheckedValues &values) {
  const ElementFormat format(values.site.types[0].name);
  const char op = values.site.what[0];
  if (op == 's')
    return findOverflowOfSum(values, format);
  for (int64_t element = 0; element < values.elements; ++element) {
    const Wide a = elementOf(format, values.values[0], element), b = elementOf(format, values.values[1], element);
    const Integer exact = compute(op, a, b);
    if (!values.counts(element) || fits(format, exact))
      continue;
    return overflowFinding(element, format, textOf(integerOf(a)) + " " + values.site.what + " " + textOf(integerOf(b)),
                           exact);
  }
  return std::nullopt;
}

bool endsLaunch(const CheckedValues &values) { return ElementFormat(values.site.types[0].name).info.bits == 64; }

std::optional<Finding> findWrapped(const CheckedValues &values) {
  const auto *flags = static_cast<const uint8_t *>(values.values[0]);
  for (int64_t element = 0; element < values.elements; ++element)
    if (flags[element] && values.counts(element))
      return Finding{element, "integers that the address is made of have wrapped; use `.to(tl.int64)`"};
  return std::nullopt;
}

//--- Floats --------------------------------------------------------------------------------------

namespace {
/// One float value of a check.
struct Floats {
  Floats(const CheckedValues &values, uint32_t index)
      : type(values.site.types[index]), format(type.name), data(values.values[index]) {}

  bool isNan(int64_t element) const {
    const uint64_t bits = readBits(format.info, data, type.rank ? element : 0);
    if (format.info.bits == 8)
      return std::isnan(floatOf(format.info, bits));
    const uint64_t size = bits & ((uint64_t{1} << (format.info.bits - 1)) - 1);
    return size > ((uint64_t{1} << format.info.exponentBits) - 1) << format.info.mantissaBits;
  }
  std::string text(int64_t element) const {
    char text[40];
    std::snprintf(text, sizeof text, "%.9g",
                  floatOf(format.info, readBits(format.info, data, type.rank ? element : 0)));
    return text;
  }
  /// Whether any of `count` elements, from `first` on at distance `step`, is NaN.
  bool anyNan(int64_t first, int64_t step, int64_t count) const {
    for (int64_t index = 0; index < count; ++index)
      if (isNan(first + index * step))
        return true;
    return false;
  }

  const PrintedType &type;
  const ElementFormat format;
  const void *data;
};

/// The inputs of an element of the result, for each kind of op.
class Inputs {
public:
  explicit Inputs(const CheckedValues &values) : site(values.site), what(site.what) {
    for (uint32_t index = 1; index < values.count(); ++index)
      if (ElementFormat(site.types[index].name).info.isFloat())
        floats.emplace_back(values, index);
  }
  bool anyNan(int64_t element) const;
  std::string text(int64_t element) const;

private:
  bool anyNanInProduct(int64_t element) const;
  bool anyNanAlongAxis(int64_t element) const;

  const CheckSite &site;
  const std::string_view what;
  std::vector<Floats> floats;
};
} // namespace

/// c[.., i, j], a[.., i, :], b[.., :, j]. Operands that are not floats are not among the values.
bool Inputs::anyNanInProduct(int64_t element) const {
  const PrintedType &type = site.types[0];
  const int64_t columns = type.shape[type.rank - 1], rows = type.shape[type.rank - 2];
  const int64_t batch = element / (rows * columns), row = element / columns % rows, column = element % columns;
  if (floats.size() != 3)
    return true;
  const Floats &a = floats[0], &b = floats[1], &c = floats[2];
  const int64_t depth = a.type.shape[a.type.rank - 1];
  return a.anyNan((batch * rows + row) * depth, 1, depth) ||
         b.anyNan(batch * depth * columns + column, columns, depth) || c.isNan(element);
}

bool Inputs::anyNanAlongAxis(int64_t element) const {
  for (const Floats &input : floats) {
    int64_t inner = 1;
    for (auto dim = static_cast<uint32_t>(site.axis) + 1; dim < input.type.rank; ++dim)
      inner *= input.type.shape[dim];
    const int64_t extent = input.type.shape[site.axis];
    const bool isScan = site.types[0].rank == input.type.rank; // a scan's results have the axis, too
    const int64_t outer = element / (isScan ? inner * extent : inner);
    if (input.anyNan(outer * inner * extent + element % inner, inner, extent))
      return true;
  }
  return false;
}

bool Inputs::anyNan(int64_t element) const {
  if (site.axis >= 0)
    return anyNanAlongAxis(element);
  if (what == "dot")
    return anyNanInProduct(element);
  for (const Floats &input : floats)
    if (input.isNan(element))
      return true;
  return false;
}

/// "0 / 0", "log(-1)", "`dot`".
std::string Inputs::text(int64_t element) const {
  if (site.axis >= 0 || what == "dot")
    return "`" + std::string(what) + "` of numbers";
  const bool isOperator = what.size() == 1 && floats.size() == 2;
  if (isOperator)
    return floats[0].text(element) + " " + site.what + " " + floats[1].text(element);
  std::string list;
  for (const Floats &input : floats)
    list += (list.empty() ? "" : ", ") + input.text(element);
  return std::string(what) + "(" + list + ")";
}

std::optional<Finding> findNan(const CheckedValues &values) {
  const Floats result(values, 0);
  std::optional<Inputs> inputs; // built only when a NaN is found
  for (int64_t element = 0; element < values.elements; ++element) {
    if (!values.counts(element) || !result.isNan(element))
      continue;
    if (values.count() == 1)
      return Finding{element, "NaN is loaded"};
    if (!inputs)
      inputs.emplace(values);
    if (!inputs->anyNan(element))
      return Finding{element, inputs->text(element) + " is NaN"};
  }
  return std::nullopt;
}

} // namespace nereid::runtime
