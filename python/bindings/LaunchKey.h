// One pass over a launch's arguments: builds the key that identifies their kernel, and the values to pack.
// SPDX-License-Identifier: MIT
#pragma once

#include "jit/Classify.h"
#include "python/bindings/Arrays.h"
#include "python/bindings/JitBase.h"

#include <bitset>
#include <cstring>
#include <memory>
#include <span>

namespace nereid::python {

/// Lives on the stack of one launch, which arguments that launch themselves may nest: what many parameters need is on
/// the heap. Where `add...` returns false the launch goes through Python, which implements every rule and raises every
/// error.
class LaunchKey {
public:
  static constexpr size_t maxArguments = 256, fewArguments = 64;

  LaunchKey() {}
  LaunchKey(const LaunchKey &) = delete;
  LaunchKey &operator=(const LaunchKey &) = delete;

  /// Makes room for the arguments of a kernel of so many parameters, before any is added.
  void reserve(size_t count);
  std::string_view text() const { return {bytes, size}; }
  /// The value for a parameter; null where this launch has no such value.
  /// Whether no argument has values inside of it.
  bool isFlat() const { return isCompound.none(); }
  /// Of a flat key and a parameter that is a whole argument.
  const ArgumentLeaf &flatLeafFor(const PackedParam &param) const { return leaves[param.position]; }
  const ArgumentLeaf *leafFor(const PackedParam &param) const {
    const bool isInner = !param.path.empty() || isDescribed[param.position];
    if (isCompound[param.position] != isInner)
      return nullptr;
    return isInner ? innerLeafFor(param) : &leaves[param.position];
  }
  const std::vector<PyObject *> &identities() const { return identityObjects; }
  /// The kind of device that all arrays are on.
  DeviceKind device() const { return kind; }
  struct Placed {
    uint64_t address;
    int32_t ordinal;
  };
  /// The arrays of the call that have memory, with their devices; those of GPUs may be on several.
  std::span<const Placed> arrays() const { return {placed, placedCount}; }
  /// Whether all of them are on this device.
  bool areOn(int32_t ordinal) const { return placedCount == 0 || (deviceChanges == 1 && deviceIndex == ordinal); }
  /// The function that returns the current stream of the arrays' library; null where there is none.
  StreamQuery streamQuery() const { return query; }
  /// Streams that produce the contents of arrays.
  const std::vector<uint64_t> &producers() const { return producerStreams; }
  /// Adds an argument of a run-time parameter: its kind and specialisation go into the key, its value into a leaf.
  [[gnu::always_inline]] bool addArgument(size_t position, PyObject *object) {
    if (PyLong_CheckExact(object)) {
      int overflow = 0;
      const int64_t value = PyLong_AsLongLongAndOverflow(object, &overflow);
      return overflow ? addOther(position, object) : addInteger(position, value);
    }
    return Py_TYPE(object) == row.type ? addToRow(position, object) : addOther(position, object);
  }
  /// Adds a compile-time value: all of it goes into the key.
  bool addConstant(PyObject *object, unsigned depth = 0);
  /// Adds a launch option: `num_warps=8`.
  bool addOption(PyObject *name, PyObject *value);
  /// From now on arrays need have no device: those that only tell a type.
  void takeStandIns() { takesStandIns = true; }
  /// Adds a dtype of torch, which stands for an array.
  bool addStandIn(PyObject *dtype) { return put('M') && addIdentity(dtype); }
  /// Adds the class of an argument, which the owner of the key has to keep.
  bool addTypeOf(PyObject *object) { return putTagged('t', Py_TYPE(object)); }
  /// Marks the key as one of another kind than a launch's: no parameter's part starts with this tag.
  bool addSuffix(char tag) { return put(tag); }

private:
  bool put(char tag) { return put(&tag, 1); }
  bool put(const void *data, size_t count) {
    if (size + count > capacity)
      return false;
    std::memcpy(bytes + size, data, count);
    size += count;
    return true;
  }
  bool put(jit::ArgumentClass argument) {
    const auto key = argument.key();
    return put(key.data(), key.size());
  }
  template <typename T> bool putTagged(char tag, const T &value) { return put(tag) && put(&value, sizeof value); }
  [[gnu::always_inline]] bool addInteger(size_t position, int64_t value) {
    auto &leaf = *new (&leaves[position]) ArgumentLeaf;
    leaf.kind = ArgumentLeaf::Kind::Int;
    leaf.integer = value;
    return put(jit::classifyInteger(value));
  }
  bool addToRow(size_t position, PyObject *object);
  [[gnu::noinline]] bool addOther(size_t position, PyObject *object);
  void startRow(const Array &array);
  const ArgumentLeaf *innerLeafFor(const PackedParam &param) const;
  bool addElement(PyObject *object, ArgumentLeaf &leaf, unsigned depth);
  bool addElements(nb::handle parts, unsigned depth);
  bool addObject(PyObject *object, unsigned depth);
  bool addDescriptor(PyObject *object);
  bool addDescriptorValues(PyObject *object);
  bool addArray(PyObject *object, ArgumentLeaf &leaf, unsigned depth);
  bool addDevice(const Array &array);
  bool keysStorages() const;
  bool addIdentity(PyObject *object);

  template <size_t Arguments, size_t Bytes> struct Room {
    Room() {}
    char bytes[Bytes];
    union {
      ArgumentLeaf leaves[Arguments]; ///< created by addArgument: a call has few of them
    };
    uint32_t firstInner[Arguments]; ///< of those that are compound
    Placed placed[Arguments];
  };
  using LargeRoom = Room<maxArguments, 4096>;

  Room<fewArguments, 1536> small;
  std::unique_ptr<LargeRoom> large;
  char *bytes = small.bytes;
  size_t size = 0, capacity = sizeof small.bytes;
  ArgumentLeaf *leaves = small.leaves;
  std::vector<ArgumentLeaf> innerLeaves;             ///< run-time values inside tuples and objects with fields
  uint32_t *firstInner = small.firstInner;           ///< index of an argument's first inner leaf
  std::bitset<maxArguments> isCompound, isDescribed; ///< tensor descriptors are both
  DeviceKind kind = DeviceKind::Unknown;
  bool takesStandIns = false;
  int32_t deviceIndex = 0;    ///< of the array before
  uint32_t deviceChanges = 0; ///< how often it was set
  /// What most arrays of a launch have in common: class and device, and often the elements.
  struct Row {
    PyTypeObject *type = nullptr; ///< null where there is none
    int (*view)(void *, dlpack::Tensor *) = nullptr;
    int32_t deviceType = 0;
    dlpack::DataType element = {};
    jit::ScalarType elementType = {};
  } row;
  Placed *placed = small.placed;
  size_t placedCount = 0, placedCapacity = fewArguments;
  StreamQuery query = nullptr;
  std::vector<uint64_t> producerStreams;
  std::vector<PyObject *> identityObjects; ///< borrowed from the call
  std::vector<nb::object> owners;          ///< of memory behind views, and of objects' fields
};

/// Whether the object is a dtype of torch.
bool isTorchDtype(PyObject *object);

} // namespace nereid::python
