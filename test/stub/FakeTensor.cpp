// A DLPack exchange table for stub tensors "on a GPU", as torch has one for its own.
// SPDX-License-Identifier: MIT
//
// Python's functions are those of the process that loads this library; nothing of Python is needed to build it.
#include "test/stub/Stub.h"

#include <dlfcn.h>

static void *currentStream = nullptr;

void stub_set_current_stream(uint64_t stream) { currentStream = reinterpret_cast<void *>(stream); }

namespace {
/// DLTensor and DLPackExchangeAPI of DLPack 1.3.
struct View {
  void *data;
  int32_t deviceType;
  int32_t deviceId;
  int32_t rank;
  uint8_t typeCode;
  uint8_t typeBits;
  uint16_t lanes;
  int64_t *shape;
  int64_t *strides;
  uint64_t byteOffset;
};
struct ExchangeTable {
  uint32_t major, minor;
  ExchangeTable *older;
  void *allocate, *managedFromObject, *objectFromManaged;
  int (*viewFromObject)(void *, View *);
  int (*currentStream)(int32_t, int32_t, void **);
};

/// The few functions of Python's interface that reading an attribute takes.
struct Python {
  void *(*intern)(const char *);
  void *(*getAttr)(void *, void *);
  unsigned long long (*asNumber)(void *);
  void (*release)(void *);
};
} // namespace

template <typename Function> static Function find(const char *name) {
  return reinterpret_cast<Function>(dlsym(RTLD_DEFAULT, name));
}

static const Python &python() {
  static const Python functions = {
      find<decltype(Python::intern)>("PyUnicode_InternFromString"), find<decltype(Python::getAttr)>("PyObject_GetAttr"),
      find<decltype(Python::asNumber)>("PyLong_AsUnsignedLongLong"), find<decltype(Python::release)>("Py_DecRef")};
  return functions;
}

static bool read(void *object, void *name, uint64_t &value) {
  void *attribute = python().getAttr(object, name);
  if (!attribute)
    return false;
  value = python().asNumber(attribute);
  python().release(attribute);
  return true;
}

static int view(void *object, View *out) {
  static void *const addressName = python().intern("address"), *const propertiesName = python().intern("properties");
  static int64_t extent = 1 << 20;
  uint64_t address = 0, properties = 0;
  if (!read(object, addressName, address) || !read(object, propertiesName, properties))
    return -1;
  *out = {.data = reinterpret_cast<void *>(address),
          .deviceType = stub::kDlpackDevice,
          .deviceId = static_cast<int32_t>(properties >> 16),
          .rank = 1,
          .typeCode = static_cast<uint8_t>(properties >> 8),
          .typeBits = static_cast<uint8_t>(properties),
          .lanes = 1,
          .shape = &extent,
          .strides = nullptr,
          .byteOffset = 0};
  return 0;
}

static int stream(int32_t, int32_t, void **out) {
  *out = currentStream;
  return 0;
}

void *stub_exchange_table() {
  static ExchangeTable table = {1, 3, nullptr, nullptr, nullptr, nullptr, view, stream};
  return &table;
}
