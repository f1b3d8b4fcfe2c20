// A shared object loaded from bytes in memory.
// SPDX-License-Identifier: MIT
#pragma once

#include "artifact/Expected.h"

#include <string>
#include <string_view>

namespace nereid::runtime {

/// Owns one loaded object and unloads it at the end.
class SharedObject {
public:
  /// The file that holds the bytes while the system's loader reads them.
  enum class Via {
    Memory, ///< an anonymous file; where the system refuses one, `File`
    File,   ///< an unlinked file in a folder for temporary files
  };

  /// `name` appears in debuggers and profilers.
  static artifact::Expected<SharedObject> load(std::string_view name, std::string_view bytes, Via via = Via::Memory);

  SharedObject(SharedObject &&other) noexcept;
  SharedObject &operator=(SharedObject &&other) noexcept;
  ~SharedObject();

  /// The address of a symbol that the object defines; null where it defines none of that name.
  void *symbol(const std::string &name) const;

private:
  explicit SharedObject(void *handle) : handle(handle) {}
  void *handle;
};

} // namespace nereid::runtime
