// Built-ins about the target: tl.target_info, and names that exist on one vendor's devices only.
// SPDX-License-Identifier: MIT
#include "artifact/NvidiaGpus.h"
#include "artifact/TargetInfo.h"
#include "compiler/sema/Diagnostics.h"
#include "compiler/sema/builtins/Emission.h"

namespace nereid::sema {
namespace {

constexpr llvm::StringLiteral infoModule = "triton.language.target_info", cudaModule = "triton.language.extra.cuda",
                              hipModule = "triton.language.extra.hip";

const support::TargetSpec &targetOf(const CallSite &site) { return site.emitter.module.target; }

const artifact::TargetInfo &infoOf(const CallSite &site) { return artifact::targetInfo(targetOf(site).backend); }

template <const artifact::TargetInfo &info> Value emitIsTarget(const CallSite &site) {
  return targetOf(site).backend == info.name;
}

/// `is_hip_cdna3`, `is_hip_gfx1250` ...: the name contains the architecture.
Value emitIsHipArch(const CallSite &site) {
  const llvm::StringRef name = site.builtin.name;
  const llvm::StringRef wanted = name.ends_with("cdna3") ? "gfx942" : name.ends_with("cdna4") ? "gfx950" : "gfx1250";
  return targetOf(site).backend == artifact::kHip.name && targetOf(site).arch == wanted;
}

Value emitCudaCapabilityGeq(const CallSite &site) {
  auto major = intArgument(site, "major");
  auto minor = intArgument(site, "minor");
  if (!major || !minor)
    return Value::poison();
  unsigned capability = 0;
  const bool isCuda = targetOf(site).backend == artifact::kCuda.name &&
                      !llvm::StringRef(targetOf(site).arch).consumeInteger(10, capability);
  return isCuda && capability >= *major * 10 + *minor;
}

// --- Names of one vendor -------------------------------------------------------------------

Value emitNumWarps(const CallSite &site) { return Value::integer(site.emitter.module.options.numWarps); }
Value emitNumThreads(const CallSite &site) {
  return Value::integer(site.emitter.module.options.numWarps *
                        artifact::warpSizeOf(targetOf(site).backend, targetOf(site).arch));
}

Value elsewhere(const CallSite &site, llvm::StringRef reason) {
  const llvm::StringRef vendor = site.builtin.module.rsplit('.').second;
  return site.emitter.error(diag::TargetName, site.range, (vendor + "." + site.builtin.name).str(),
                            targetOf(site).backend, reason);
}

bool isPtx(const CallSite &site) { return infoOf(site).assembly == "ptx"; }

/// Whether grids are launched while others run: elsewhere each starts when those before it have ended.
bool hasDependentLaunches(const CallSite &site) {
  unsigned capability = 0;
  if (!isPtx(site) || llvm::StringRef(targetOf(site).arch).consumeInteger(10, capability))
    return false;
  const artifact::NvidiaArch *arch = artifact::findNvidiaArch(capability);
  return arch && arch->hasDependentLaunches;
}

/// Inline assembly with a scalar result; it is not pure.
template <Scalar result> Value emitAssembly(const CallSite &site, llvm::StringRef text, llvm::StringRef constraint) {
  auto op = tt::ElementwiseInlineAsmOp::create(builderOf(site), locationOf(site),
                                               Type(result).toMlir(builderOf(site).getContext()), text, constraint,
                                               /*pure=*/false, 1, mlir::ValueRange());
  return Value::tensor(op.getResult(0), result);
}

/// A CPU has no clock in nanoseconds that one instruction reads; its counter advances at a constant rate near that.
Value emitGlobalTimer(const CallSite &site) {
  if (isPtx(site))
    return emitAssembly<Scalar::Int64>(site, "mov.u64 $0, %globaltimer;", "=l");
  if (targetOf(site).backend == artifact::kCpu.name)
    return emitAssembly<Scalar::Int64>(site, "rdtsc\n\tshlq $$32, %rdx\n\torq %rdx, %rax", "={rax},~{rdx},~{flags}");
  return elsewhere(site, "it is an instruction of NVIDIA GPUs");
}
Value emitSmid(const CallSite &site) {
  if (isPtx(site))
    return emitAssembly<Scalar::Int32>(site, "mov.u32 $0, %smid;", "=r");
  if (targetOf(site).backend == artifact::kCpu.name)
    return Value::integer(0); // a CPU is one device without parts
  return elsewhere(site, "it is an instruction of NVIDIA GPUs");
}
Value emitGdcWait(const CallSite &site) {
  if (hasDependentLaunches(site))
    emitAssembly<Scalar::Int32>(site, "griddepcontrol.wait; // $0", "=r");
  return Value();
}
Value emitGdcLaunch(const CallSite &site) {
  if (hasDependentLaunches(site))
    emitAssembly<Scalar::Int32>(site, "griddepcontrol.launch_dependents; // $0", "=r");
  return Value();
}
Value emitHipOnly(const CallSite &site) { return elsewhere(site, "it is an instruction of AMD GPUs"); }

/// `tl.cast` between fp8e4b15 and other floats, on every target.
Value emitConvertFloat8(const CallSite &site) {
  TtFunctionEmitter &emitter = site.emitter;
  auto type = typeArgument(site, "dst_ty");
  std::optional<std::string> rounding = textOption(site, "fp_downcast_rounding");
  return type && rounding ? emitter.cast(site["arg"], type->element(), site.range, *rounding) : Value::poison();
}

} // namespace

llvm::ArrayRef<Builtin> targetBuiltins() {
  static const llvm::SmallVector<BuiltinParam, 4> cast = {{"arg"}, {"dst_ty"}, {"fp_downcast_rounding", "None"}};
  static const Builtin table[] = {
      {"is_cuda", infoModule, {}, "Whether the kernel is compiled for an NVIDIA GPU.", emitIsTarget<artifact::kCuda>},
      {"is_hip", infoModule, {}, "Whether the kernel is compiled for an AMD GPU.", emitIsTarget<artifact::kHip>},
      {"is_hip_cdna3", infoModule, {}, "Whether the kernel is compiled for CDNA3.", emitIsHipArch},
      {"is_hip_cdna4", infoModule, {}, "Whether the kernel is compiled for CDNA4.", emitIsHipArch},
      {"is_hip_gfx1250", infoModule, {}, "Whether the kernel is compiled for gfx1250.", emitIsHipArch},
      {"cuda_capability_geq",
       infoModule,
       {{"major"}, {"minor", "0"}},
       "Whether the kernel is compiled for an NVIDIA GPU of at least that compute capability.",
       emitCudaCapabilityGeq},
      {"num_warps", cudaModule, {}, "Warps of a program.", emitNumWarps},
      {"num_threads", cudaModule, {}, "Threads of a program.", emitNumThreads},
      {"globaltimer",
       cudaModule,
       {},
       "Nanoseconds of the GPU's clock; on CPUs ticks of the time stamp counter.",
       emitGlobalTimer},
      {"smid", cudaModule, {}, "Number of the multiprocessor that runs the program; 0 on CPUs.", emitSmid},
      {"gdc_wait",
       cudaModule,
       {},
       "Waits for the grids that this one depends on; without effect before sm_90 and elsewhere.",
       emitGdcWait},
      {"gdc_launch_dependents",
       cudaModule,
       {},
       "Lets grids that depend on this one begin; without effect before sm_90 and elsewhere.",
       emitGdcLaunch},
      {"convert_custom_float8_sm70", cudaModule, cast, "A conversion from or to fp8e4b15.", emitConvertFloat8},
      {"convert_custom_float8_sm80", cudaModule, cast, "A conversion from or to fp8e4b15.", emitConvertFloat8},
      {"num_warps", hipModule, {}, "Warps of a program.", emitNumWarps},
      {"num_threads", hipModule, {}, "Threads of a program.", emitNumThreads},
      {"memrealtime", hipModule, {}, "Ticks of the GPU's clock.", emitHipOnly},
      {"smid", hipModule, {}, "Number of the compute unit that runs the program.", emitHipOnly},
  };
  return table;
}

} // namespace nereid::sema
