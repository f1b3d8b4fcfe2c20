// The parts of DLPack's binary interface, version 1.3, that are used here.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

namespace nereid::python::dlpack {

enum DeviceCode : int32_t { Cpu = 1, Cuda = 2, CudaHost = 3, Rocm = 10, RocmHost = 11, CudaManaged = 13 };

inline constexpr uint8_t Float = 2; ///< the code of IEEE floats; others are in artifact/ElementTypes.def

struct DataType {
  uint8_t code;
  uint8_t bits;
  uint16_t lanes;

  bool operator==(const DataType &) const = default;
};

struct Tensor {
  void *data;
  int32_t deviceType;
  int32_t deviceId;
  int32_t rank;
  DataType type;
  int64_t *shape;
  int64_t *strides;
  uint64_t byteOffset;
};

/// The contents of a capsule "dltensor".
struct ManagedTensor {
  Tensor tensor;
  void *context;
  void (*deleter)(ManagedTensor *);
};

struct Version {
  uint32_t major;
  uint32_t minor;
};

/// The contents of a capsule "dltensor_versioned".
struct ManagedTensorVersioned {
  Version version;
  void *context;
  void (*deleter)(ManagedTensorVersioned *);
  uint64_t flags;
  Tensor tensor;
};
inline constexpr uint64_t readOnly = 1; ///< in `flags`

/// The table of a type's `__dlpack_c_exchange_api__`, a capsule "dlpack_exchange_api".
struct ExchangeApi {
  Version version;
  ExchangeApi *older;
  void *allocate;
  void *managedFromObject;
  void *objectFromManaged;
  /// Fills a view that is valid while the object lives; null where a library has none.
  int (*viewFromObject)(void *object, Tensor *view);
  /// The stream that the library uses on a device; null where a library has none.
  int (*currentStream)(int32_t deviceType, int32_t deviceId, void **stream);
};

} // namespace nereid::python::dlpack
