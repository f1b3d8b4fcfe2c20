// Builds the launch key from arguments: as fine as specialisation, without creating Python objects for common ones.
// SPDX-License-Identifier: MIT
#include "python/bindings/LaunchKey.h"

#include "jit/Classify.h"
#include "python/bindings/Descriptors.h"
#include "python/bindings/Elements.h"
#include "python/bindings/Numbers.h"
#include "python/bindings/PyHost.h"
#include "python/bindings/Storage.h"

namespace nereid::python {

static constexpr unsigned maxTupleDepth = 16;

/// Python reads the argument again and raises its error, except for one that another attempt would only repeat: an
/// argument that launches the kernel it is passed to would double the attempts at each level.
static void clearUnlessFinal() {
  const bool isFinal = PyErr_ExceptionMatches(PyExc_RecursionError) || PyErr_ExceptionMatches(PyExc_MemoryError) ||
                       !PyErr_ExceptionMatches(PyExc_Exception);
  if (!isFinal)
    PyErr_Clear();
}

bool LaunchKey::addIdentity(PyObject *object) {
  // An unhashable object may change in place; Python raises the error.
  if (Py_TYPE(object)->tp_hash == PyObject_HashNotImplemented)
    return false;
  identityObjects.push_back(object);
  return putTagged('P', object);
}

bool LaunchKey::addConstant(PyObject *object, unsigned depth) {
  if (object == Py_None)
    return put('N');
  if (object == Py_True || object == Py_False)
    return put(object == Py_True ? 'T' : 'F');
  if (PyLong_CheckExact(object)) {
    int overflow = 0;
    const long long number = PyLong_AsLongLongAndOverflow(object, &overflow);
    return overflow == 0 && putTagged('I', number);
  }
  if (PyFloat_CheckExact(object))
    return putTagged('D', PyFloat_AS_DOUBLE(object)); // by its bits: -0.0 differs from 0.0
  if (PyUnicode_CheckExact(object)) {
    Py_ssize_t length = 0;
    const char *text = PyUnicode_AsUTF8AndSize(object, &length);
    if (!text)
      PyErr_Clear(); // a lone surrogate
    return text && putTagged('S', static_cast<uint32_t>(length)) && put(text, length);
  }
  if (PyTuple_CheckExact(object) || PyList_CheckExact(object)) {
    if (depth >= maxTupleDepth || !putTagged('(', static_cast<uint32_t>(Py_SIZE(object))))
      return false;
    for (Py_ssize_t i = 0; i < Py_SIZE(object); ++i) {
      PyObject *element = PyTuple_CheckExact(object) ? PyTuple_GET_ITEM(object, i) : PyList_GET_ITEM(object, i);
      if (!addConstant(element, depth + 1))
        return false;
    }
    return true;
  }
  if (PyTuple_Check(object))
    return false; // a namedtuple: Python compares these
  if (isConstexpr(object)) {
    nb::object value = nb::steal(PyObject_GetAttrString(object, "value")); // a subclass may raise anything
    PyErr_Clear();
    if (depth >= maxTupleDepth || !value.is_valid() || !addConstant(value.ptr(), depth + 1))
      return false;
    owners.push_back(std::move(value));
    return true;
  }
  return addIdentity(object);
}

bool LaunchKey::addOption(PyObject *name, PyObject *value) {
  Py_ssize_t length = 0;
  const char *text = PyUnicode_AsUTF8AndSize(name, &length);
  if (!text)
    PyErr_Clear();
  return text && putTagged('K', static_cast<uint32_t>(length)) && put(text, length) && addConstant(value);
}

bool isTorchDtype(PyObject *object) { return std::strcmp(Py_TYPE(object)->tp_name, "torch.dtype") == 0; }

//--- Run-time arguments ------------------------------------------------------------------------

/// Whether the sizes of storages are in the key.
bool LaunchKey::keysStorages() const {
  return kind == DeviceKind::Rocm || keysStorageOfHost.load(std::memory_order_relaxed);
}

/// False where Python handles the arguments: arrays without a device, and devices of several kinds.
bool LaunchKey::addDevice(const Array &array) {
  if (array.device == DeviceKind::Unknown)
    return takesStandIns && put('U');
  const char where[] = {array.address ? '@' : '0', static_cast<char>(array.device)};
  if (!array.address) // no memory, so the array may be from any device; alone, it still tells one
    return put(where, sizeof where) && put(&array.deviceIndex, sizeof array.deviceIndex);
  if (array.device != kind || array.deviceIndex != deviceIndex) {
    if (array.device == DeviceKind::Other || (kind != DeviceKind::Unknown && kind != array.device))
      return false;
    kind = array.device;
    deviceIndex = array.deviceIndex;
    ++deviceChanges;
    if (!put(where, sizeof where) || !put(&deviceIndex, sizeof deviceIndex))
      return false;
  }
  if (placedCount == placedCapacity)
    return false;
  placed[placedCount++] = {array.address, array.deviceIndex};
  return true;
}

bool LaunchKey::addArray(PyObject *object, ArgumentLeaf &leaf, unsigned depth) {
  Array array;
  switch (readArray(object, array)) {
  case ArrayResult::Read:
    break;
  case ArrayResult::Failed:
    clearUnlessFinal();
    return false;
  case ArrayResult::NotAnArray:
    return isJitFunction(object) || isConstexpr(object) ? put('C') && addConstant(object) : addObject(object, depth);
  }
  if (!addDevice(array))
    return false;
  leaf.kind = ArgumentLeaf::Kind::Address;
  leaf.bits = array.address;
  leaf.isReadOnly = array.isReadOnly;
  if (!query)
    query = array.streamQuery;
  if (array.viewed)
    startRow(array);
  if (array.producer)
    producerStreams.push_back(array.producer);
  if (array.owner.is_valid())
    owners.push_back(std::move(array.owner));
  const bool keysStorage = keysStorages() || !array.address;
  return put(jit::classifyPointer(array.address, array.type, keysStorage && isWithin2GiB(object)));
}

void LaunchKey::startRow(const Array &array) {
  const bool isPlain = array.address && !keysStorages();
  row = {isPlain ? array.viewed->type : nullptr, array.viewed->view, array.viewedDevice, array.viewedElement,
         array.type};
}

/// Adds an array of the same class as one before. What differs in anything else is read as any other argument.
bool LaunchKey::addToRow(size_t position, PyObject *object) {
  dlpack::Tensor view;
  if (row.view(object, &view) != 0) {
    PyErr_Clear();
    return addOther(position, object);
  }
  const uint64_t address = reinterpret_cast<uint64_t>(view.data) + view.byteOffset;
  if (!address || view.deviceType != row.deviceType || view.deviceId != deviceIndex || placedCount == placedCapacity)
    return addOther(position, object);
  if (view.type != row.element) {
    const auto type = artifact::elementOfDlpack(view.type.code, view.type.bits);
    if (!type || view.type.lanes != 1)
      return addOther(position, object);
    row.element = view.type;
    row.elementType = *type;
  }
  placed[placedCount++] = {address, deviceIndex};
  auto &leaf = *new (&leaves[position]) ArgumentLeaf;
  leaf.kind = ArgumentLeaf::Kind::Address;
  leaf.bits = address;
  return put(jit::classifyPointer(address, row.elementType));
}

/// Adds the elements of a tuple; those that are not constants get leaves of their own.
bool LaunchKey::addElements(nb::handle parts, unsigned depth) {
  if (depth >= maxTupleDepth || !putTagged('(', static_cast<uint32_t>(PyTuple_GET_SIZE(parts.ptr()))))
    return false;
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(parts.ptr()); ++i) {
    ArgumentLeaf leaf;
    if (!addElement(PyTuple_GET_ITEM(parts.ptr(), i), leaf, depth + 1))
      return false;
    const bool isConstant =
        leaf.kind == ArgumentLeaf::Kind::None || (leaf.kind == ArgumentLeaf::Kind::Int && leaf.integer == 1);
    if (!isConstant)
      innerLeaves.push_back(leaf);
  }
  return true;
}

/// Elements and block shape are the class of a descriptor. The leaves are its parameters, in the order of the plain
/// launch ABI: base, extents, strides, two flags, extents and strides again.
bool LaunchKey::addDescriptorValues(PyObject *object) {
  auto values = valuesOf(object);
  if (!values || !putTagged('d', static_cast<uint32_t>(values->block.size())) ||
      !put(values->block.data(), values->block.size_in_bytes()))
    return false;
  ArgumentLeaf base;
  if (!addArray(values->base.ptr(), base, maxTupleDepth) || base.kind != ArgumentLeaf::Kind::Address)
    return false;
  owners.push_back(std::move(values->base));
  const auto addIntegers = [&](const auto &list) {
    for (const int64_t value : list) {
      ArgumentLeaf &leaf = innerLeaves.emplace_back();
      leaf.kind = ArgumentLeaf::Kind::Int;
      leaf.integer = value;
    }
  };
  innerLeaves.push_back(base);
  addIntegers(values->extents);
  addIntegers(values->strides);
  for (const bool flag : {values->padsWithNan, values->roundsToTf32}) {
    ArgumentLeaf &leaf = innerLeaves.emplace_back();
    leaf.kind = ArgumentLeaf::Kind::Bool;
    leaf.integer = flag;
  }
  addIntegers(values->extents);
  addIntegers(values->strides);
  return true;
}

bool LaunchKey::addDescriptor(PyObject *object) {
  try {
    return addDescriptorValues(object);
  } catch (nb::python_error &error) {
    error.restore();
    clearUnlessFinal();
    return false;
  }
}

/// Adds a namedtuple or an object with fields: its class is part of the key.
bool LaunchKey::addObject(PyObject *object, unsigned depth) {
  if (isDescriptor(object))
    return depth == 0 && addDescriptor(object); // Python takes tuples of descriptors apart
  nb::object parts;
  try {
    parts = elementsOf(object);
  } catch (nb::python_error &) {
  }
  PyErr_Clear();
  if (!parts.is_valid() || !addIdentity(reinterpret_cast<PyObject *>(Py_TYPE(object))) || !addElements(parts, depth))
    return false;
  owners.push_back(std::move(parts));
  return true;
}

bool LaunchKey::addElement(PyObject *object, ArgumentLeaf &leaf, unsigned depth) {
  const NumberResult number = readNumber(object, leaf, /*takesSubclasses=*/false);
  if (number == NumberResult::NotANumber)
    return PyTuple_CheckExact(object) ? addElements(object, depth) : addArray(object, leaf, depth);
  if (number == NumberResult::Read)
    return leaf.kind == ArgumentLeaf::Kind::None ? put('N') : put(jit::classifyNumber(leaf));
  PyErr_Clear();
  return false;
}

void LaunchKey::reserve(size_t count) {
  if (count <= fewArguments)
    return;
  large = std::make_unique<LargeRoom>();
  bytes = large->bytes;
  capacity = sizeof large->bytes;
  leaves = large->leaves;
  firstInner = large->firstInner;
  placed = large->placed;
  placedCapacity = maxArguments;
}

bool LaunchKey::addOther(size_t position, PyObject *object) {
  const size_t first = innerLeaves.size();
  if (!addElement(object, *new (&leaves[position]) ArgumentLeaf, 0))
    return false;
  if (PyTuple_CheckExact(object) || innerLeaves.size() > first) {
    isCompound[position] = true;
    isDescribed[position] = !PyTuple_Check(object) && isDescriptor(object);
    firstInner[position] = static_cast<uint32_t>(first);
  }
  return true;
}

const ArgumentLeaf *LaunchKey::innerLeafFor(const PackedParam &param) const {
  const size_t at = firstInner[param.position] + (isDescribed[param.position] ? param.part : param.leaf);
  return at < innerLeaves.size() ? &innerLeaves[at] : nullptr;
}

} // namespace nereid::python
