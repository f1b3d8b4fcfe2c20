// Reads payloads, which are untrusted input: every length and every number is checked.
// SPDX-License-Identifier: MIT
#include "xla/PayloadFields.h"

namespace nereid::xla {

namespace {

/// Reads a message field by field. The first error is kept and ends the iteration.
class Reader {
public:
  Reader(std::string_view bytes, std::optional<Error> &error) : rest(bytes), error(error) {}

  /// Fills what `describe` lists. The last of several values counts, as in every protocol buffer.
  template <typename T> void read(T &message) {
    uint64_t seen = 0;
    while (next()) {
      seen |= number < 64 ? uint64_t{1} << number : 0;
      describe(*this, message);
      if constexpr (std::same_as<T, Parameter>)
        checkKind();
    }
    check(message, seen);
  }

  template <typename T> void field(uint32_t at, T &value, const char *what = "", uint32_t limit = kMaxInt) {
    if (number == at)
      readValue(value, what, limit);
  }
  template <typename T> void field(uint32_t at, std::vector<T> &values) {
    if (number == at)
      readValue(values.emplace_back());
  }
  template <typename T> void field(uint32_t at, std::optional<T> &value, const char *what = "") {
    if (number == at)
      readValue(value.emplace(), what);
  }
  template <typename T> void field(uint32_t at, std::optional<T> &group, uint64_t T::*member) {
    if (number == at)
      readValue((group ? *group : group.emplace()).*member);
  }
  using Extents = std::array<uint32_t, 3>;
  void field(uint32_t first, Extents &extents, const char *what, uint32_t limit = kMaxInt) {
    if (number >= first && number < first + extents.size())
      readValue(extents[number - first], what, limit);
  }
  void field(uint32_t first, std::optional<Extents> &extents, const char *what) {
    if (number >= first && number < first + std::tuple_size_v<Extents>)
      field(first, extents ? *extents : extents.emplace(), what);
  }
  template <typename T, typename... Others> void alternative(uint32_t at, std::variant<Others...> &value) {
    if (number == at)
      readValue(value.template emplace<T>());
  }
  void scalar(uint32_t at, artifact::ElementType type, Parameter &parameter) {
    if (number == at)
      parameter = ScalarParameter{type, scalarBits(artifact::infoOf(type))};
  }

private:
  static constexpr uint64_t kMaxField = (uint64_t{1} << 29) - 1;
  static constexpr uint32_t kMaxInt = std::numeric_limits<int32_t>::max();

  //--- what must be there ----------------------------------------------------------------------

  /// Of a parameter, such as a tensor map of jaxlib's: a launch without it would pass the wrong arguments.
  void checkKind() {
    if (number > std::rbegin(kScalars)->first)
      fail("payload-value", "a parameter is of kind " + std::to_string(number) +
                                ", which is not known here; it may come from a newer version");
  }
  template <typename T> void check(T &, uint64_t) {}
  void check(Parameter &, uint64_t seen) {
    if (!seen)
      fail("payload-value", "a parameter has no value");
  }
  void check(KernelCode &kernel, uint64_t) {
    if (kernel.cluster == Extents{}) // zeros and absent fields are the same in this protocol
      kernel.cluster.reset();
  }
  void check(KernelCall &, uint64_t seen) {
    if (!(seen & 1 << 1))
      fail("payload-empty", "a call has no kernel");
  }
  void check(AutotunedCall &call, uint64_t) {
    if (call.configs.empty())
      fail("payload-empty", "an autotuned call has no configuration");
  }
  void check(Payload &, uint64_t seen) {
    if (!(seen & (1 << 1 | 1 << 2)))
      fail("payload-empty", "it holds no kernel call");
  }

  //--- values ----------------------------------------------------------------------------------

  template <typename T> void readValue(T &value, const char *what = "", uint32_t limit = kMaxInt) {
    if constexpr (std::same_as<T, bool>)
      value = varintValue() != 0;
    else if constexpr (std::same_as<T, uint64_t>)
      value = varintValue();
    else if constexpr (std::same_as<T, uint32_t>)
      value = small(what, limit);
    else if constexpr (std::same_as<T, std::string>)
      value = text();
    else
      Reader(text(), error).read(value = T{});
  }
  uint64_t scalarBits(const artifact::ElementInfo &info) {
    if (info.isFloat())
      return valueOf(info.bits == 32 ? WireType::Fixed32 : WireType::Fixed64);
    if (info.kind == artifact::ElementKind::Bool)
      return small("a bool", 1);
    if (info.bits == 64)
      return varintValue();
    if (info.kind == artifact::ElementKind::Unsigned)
      return small("a u32", kAnyNumber);
    const auto value = static_cast<int64_t>(varintValue());
    if (value != static_cast<int32_t>(value))
      fail("payload-value", "an i32 is " + std::to_string(value));
    return static_cast<uint32_t>(value);
  }

  // The value of the current field; an error where it has another encoding.

  std::string_view text() {
    valueOf(WireType::Bytes);
    return bytes;
  }
  uint64_t varintValue() { return valueOf(WireType::Varint); }
  uint32_t small(const char *what, uint32_t limit) {
    const uint64_t number = varintValue();
    if (number > limit)
      fail("payload-value",
           std::string(what) + " is " + std::to_string(number) + "; at most " + std::to_string(limit) + " is possible");
    return static_cast<uint32_t>(number);
  }
  uint64_t valueOf(WireType expected) {
    if (wire != expected)
      fail("payload-wire", "field " + std::to_string(number) + " has the wire type " +
                               std::to_string(static_cast<uint32_t>(wire)) + "; expected " +
                               std::to_string(static_cast<uint32_t>(expected)));
    return value;
  }

  //--- bytes -----------------------------------------------------------------------------------

  /// Goes on to the next field.
  bool next() {
    if (rest.empty() || error)
      return false;
    const uint64_t tag = varint();
    if (error)
      return false;
    if (tag >> 3 == 0 || tag >> 3 > kMaxField)
      return fail("payload-wire", "a field has the number " + std::to_string(tag >> 3));
    number = static_cast<uint32_t>(tag >> 3);
    wire = static_cast<WireType>(tag & 7);
    bytes = {};
    switch (wire) {
    case WireType::Varint:
      value = varint();
      return !error;
    case WireType::Fixed64:
      return fixed(8);
    case WireType::Fixed32:
      return fixed(4);
    case WireType::Bytes:
      return take(varint());
    }
    return fail("payload-wire", "field " + std::to_string(number) + " has the wire type " + std::to_string(tag & 7) +
                                    ", which is not used here");
  }
  uint64_t varint() {
    uint64_t result = 0;
    for (size_t i = 0; i < 10; ++i) {
      if (i == rest.size()) {
        truncated();
        return 0;
      }
      const auto byte = static_cast<unsigned char>(rest[i]);
      result |= uint64_t{byte & 127u} << (7 * i);
      if (byte < 128) {
        rest.remove_prefix(i + 1);
        return result;
      }
    }
    fail("payload-wire", "a number has more than ten bytes");
    return 0;
  }
  bool take(uint64_t count) {
    if (error)
      return false;
    if (count > rest.size())
      return truncated();
    bytes = rest.substr(0, count);
    rest.remove_prefix(count);
    return true;
  }
  bool fixed(size_t count) {
    if (!take(count))
      return false;
    value = 0;
    for (size_t i = 0; i < count; ++i)
      value |= uint64_t{static_cast<unsigned char>(bytes[i])} << (8 * i);
    return true;
  }
  bool truncated() { return fail("payload-truncated", "it ends in the middle of a field"); }
  bool fail(const char *code, std::string text) {
    if (!error)
      error = Error{code, "the payload cannot be read: " + std::move(text)};
    return false;
  }

  std::string_view rest;
  std::optional<Error> &error;
  // The current field: a number, or bytes.
  uint32_t number = 0;
  WireType wire = WireType::Varint;
  uint64_t value = 0;
  std::string_view bytes;
};

} // namespace

Expected<Payload> readMessage(std::string_view bytes) {
  std::optional<Error> error;
  Payload payload;
  Reader(bytes, error).read(payload);
  if (error)
    return *std::move(error);
  return payload;
}

} // namespace nereid::xla
