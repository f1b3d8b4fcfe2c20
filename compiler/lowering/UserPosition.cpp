// Descends locations to the user's lines.
// SPDX-License-Identifier: MIT
#include "compiler/lowering/UserPosition.h"

#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace nereid;

explain::Position lowering::userPosition(Location location) {
  using Result = explain::Position;
  return llvm::TypeSwitch<LocationAttr, Result>(location)
      .Case([](FileLineColRange range) {
        const StringRef file = range.getFilename().strref();
        return file.starts_with("<nereid>/") ? Result() : Result{file.str(), range.getStartLine()};
      })
      .Case([](NameLoc named) { return userPosition(named.getChildLoc()); })
      .Case([](CallSiteLoc site) {
        Result callee = userPosition(site.getCallee());
        return callee.line ? callee : userPosition(site.getCaller());
      })
      .Case([](FusedLoc fused) {
        for (Location inner : fused.getLocations())
          if (Result found = userPosition(inner); found.line)
            return found;
        return Result();
      })
      .Default([](LocationAttr) { return Result(); });
}
