// Writes a payload as jaxlib's own library does.
// SPDX-License-Identifier: MIT
#include "xla/PayloadFields.h"

namespace nereid::xla {

namespace {
/// A message under construction. `field` omits what is zero or empty; `put` does not.
class Writer {
public:
  std::string bytes;

  template <typename T>
  void field(uint32_t number, const T &value, const char * /*what*/ = nullptr, uint32_t /*limit*/ = 0) {
    if constexpr (!std::integral<T> && !std::same_as<T, std::string>)
      put(number, value);
    else if (value != T{})
      put(number, value);
  }
  template <typename T> void field(uint32_t number, const std::vector<T> &values) {
    for (const T &value : values)
      put(number, value);
  }
  template <typename T> void field(uint32_t number, const std::optional<T> &value, const char * /*what*/ = nullptr) {
    if (value)
      put(number, *value);
  }
  template <typename T> void field(uint32_t number, const std::optional<T> &group, uint64_t T::*member) {
    if (group)
      put(number, (*group).*member);
  }
  template <typename T, typename... Others> void alternative(uint32_t number, const std::variant<Others...> &value) {
    if (const auto *held = std::get_if<T>(&value))
      put(number, *held);
  }
  void scalar(uint32_t number, artifact::ElementType type, const Parameter &parameter) {
    const auto *scalar = std::get_if<ScalarParameter>(&parameter);
    if (!scalar || scalar->type != type)
      return;
    if (type == artifact::ElementType::Int32) // a negative number is written in 64 bits
      put(number, static_cast<uint64_t>(int64_t{static_cast<int32_t>(scalar->bits)}));
    else if (artifact::infoOf(type).isFloat())
      putFixed(number, artifact::storageBytes(type), scalar->bits);
    else
      put(number, scalar->bits);
  }

private:
  template <typename T> void put(uint32_t number, const T &value) {
    if constexpr (std::integral<T>) {
      tag(number, WireType::Varint);
      varint(value);
    } else if constexpr (std::same_as<T, std::string>) {
      tag(number, WireType::Bytes);
      varint(value.size());
      bytes.append(value);
    } else {
      Writer message;
      describe(message, value);
      put(number, message.bytes);
    }
  }
  /// One field for each dimension, from `number` on.
  void put(uint32_t number, const std::array<uint32_t, 3> &extents) {
    for (uint32_t dim = 0; dim < extents.size(); ++dim)
      field(number + dim, extents[dim]);
  }
  void putFixed(uint32_t number, unsigned count, uint64_t value) {
    tag(number, count == 4 ? WireType::Fixed32 : WireType::Fixed64);
    for (unsigned i = 0; i < count; ++i)
      bytes.push_back(static_cast<char>(value >> (8 * i)));
  }
  void tag(uint32_t number, WireType wire) { varint(uint64_t{number} << 3 | static_cast<uint32_t>(wire)); }
  void varint(uint64_t value) {
    for (; value > 127; value >>= 7)
      bytes.push_back(static_cast<char>(value | 128));
    bytes.push_back(static_cast<char>(value));
  }
};
} // namespace

std::string writeMessage(const Payload &payload) {
  Writer message;
  describe(message, payload);
  return std::move(message.bytes);
}

} // namespace nereid::xla
