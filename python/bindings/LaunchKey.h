// One pass over a launch's arguments: builds the key that identifies their kernel, and the values to pack.
// SPDX-License-Identifier: MIT
#pragma once

#include "python/bindings/JitBase.h"

#include <cstring>
#include <span>

namespace nereid::python {

/// Lives on the stack of one launch. Where `add...` returns false the launch goes through Python, which implements
/// every rule and raises every error.
class LaunchKey {
public:
  static constexpr size_t maxArguments = 256;

  LaunchKey() {}
  LaunchKey(const LaunchKey &) = delete;
  LaunchKey &operator=(const LaunchKey &) = delete;

  std::string_view text() const { return {bytes, size}; }
  /// The value for a parameter; null where this launch has no such value.
  const ArgumentLeaf *leafFor(const PackedParam &param) const {
    if (param.path.empty())
      return isCompound[param.position] ? nullptr : &leaves[param.position];
    const size_t at = isCompound[param.position] ? firstInner[param.position] + param.leaf : innerLeaves.size();
    return at < innerLeaves.size() ? &innerLeaves[at] : nullptr;
  }
  const std::vector<PyObject *> &identities() const { return identityObjects; }
  /// The kind of device that all arrays are on.
  DeviceKind device() const { return kind; }
  struct Placed {
    uint64_t address;
    int32_t ordinal;
  };
  /// The arrays of the call with their devices; those of GPUs may be on several.
  std::span<const Placed> arrays() const { return {placed, placedCount}; }
  /// The function that returns the current stream of the arrays' library; null where there is none.
  StreamQuery streamQuery() const { return query; }
  /// Streams that produce the contents of arrays.
  const std::vector<uint64_t> &producers() const { return producerStreams; }
  /// Adds an argument of a run-time parameter: its kind and specialisation go into the key, its value into a leaf.
  bool addArgument(size_t position, PyObject *object);
  /// Adds a compile-time value: all of it goes into the key.
  bool addConstant(PyObject *object, unsigned depth = 0);
  /// Adds a launch option: `num_warps=8`.
  bool addOption(PyObject *name, PyObject *value);

private:
  bool put(char tag) { return put(&tag, 1); }
  bool put(const void *data, size_t count) {
    if (size + count > sizeof bytes)
      return false;
    std::memcpy(bytes + size, data, count);
    size += count;
    return true;
  }
  template <typename T> bool putTagged(char tag, const T &value) { return put(tag) && put(&value, sizeof value); }
  bool addElement(PyObject *object, ArgumentLeaf &leaf, unsigned depth);
  bool addElements(nb::handle parts, unsigned depth);
  bool addObject(PyObject *object, unsigned depth);
  bool addInteger(PyObject *object, ArgumentLeaf &leaf);
  bool addArray(PyObject *object, ArgumentLeaf &leaf, unsigned depth);
  bool addDevice(const Array &array);
  bool addIdentity(PyObject *object);

  char bytes[4096];
  size_t size = 0;
  union {
    ArgumentLeaf leaves[maxArguments]; ///< created by addArgument: a call has few of them
  };
  std::vector<ArgumentLeaf> innerLeaves; ///< run-time values inside tuples and objects with fields
  uint32_t firstInner[maxArguments];     ///< index of an argument's first inner leaf
  bool isCompound[maxArguments] = {};
  DeviceKind kind = DeviceKind::Unknown;
  int32_t deviceIndex = 0; ///< of the array before
  Placed placed[maxArguments];
  size_t placedCount = 0;
  StreamQuery query = nullptr;
  std::vector<uint64_t> producerStreams;
  std::vector<PyObject *> identityObjects; ///< borrowed from the call
  std::vector<nb::object> owners;          ///< of memory behind views, and of objects' fields
};

} // namespace nereid::python
