// The phases that the records of GPU targets share.
// SPDX-License-Identifier: MIT
#pragma once

#include "compiler/driver/Backend.h"
#include "compiler/lowering/gpu/GpuKernel.h"

namespace nereid::driver {

/// For a target whose state is a `Kernel`, derived from lowering::GpuKernel.
template <typename Kernel> struct GpuPhases {
  static Kernel &kernelOf(Compilation &work) { return *static_cast<KernelState<Kernel> &>(*work.state).kernel; }

  template <mlir::LogicalResult (*make)(Kernel &)> static mlir::LogicalResult made(Compilation &work) {
    return make(kernelOf(work));
  }
  template <void (*plan)(Kernel &)> static mlir::LogicalResult planned(Compilation &work) {
    plan(kernelOf(work));
    return mlir::success();
  }
  template <std::string (*print)(const lowering::GpuKernel &)>
  static mlir::FailureOr<std::string> printed(Compilation &work) {
    return print(kernelOf(work));
  }
  template <mlir::LogicalResult (*read)(Kernel &, const lowering::StageOverride &)>
  static mlir::LogicalResult readText(Compilation &work, const Request::Replacement &written) {
    return read(kernelOf(work), {written.text, written.path});
  }

  /// The user's module may be `tt` or `ttg`. A target may have a `useModule` of its own.
  template <mlir::LogicalResult (*lower)(Kernel &)>
  static mlir::LogicalResult parseTtgir(Compilation &work, const Request::Replacement &text) {
    if (mlir::failed(parseModule(work, text)) || mlir::failed(useModule(kernelOf(work), work.module)))
      return mlir::failure();
    work.result.artifact.sharedBytes = leastSharedBytes(work.module);
    describeWrites(work);
    return lower(kernelOf(work));
  }

  /// What became of each line, then the details by op.
  static mlir::FailureOr<std::string> printPlan(Compilation &work) {
    mlir::FailureOr<std::string> text = printExplanation(work);
    if (mlir::succeeded(text))
      *text += "\n" + lowering::printPlan(kernelOf(work));
    return text;
  }
};

} // namespace nereid::driver
