// NVIDIA's GPU generations and GPUs: features, limits, occupancy and rates. No other file compares compute
// capabilities.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace nereid::artifact {

struct NvidiaArch {
  unsigned capability;    ///< 90 is compute capability 9.0
  const char *cpu;        ///< LLVM's and ptxas's name, with generation-specific features
  const char *portable;   ///< the same without them: its PTX runs on later GPUs
  unsigned ptxVersion;    ///< the lowest that supports the emitted code; 80 is 8.0
  bool hasToolchain;      ///< ptxas 13 supports it; otherwise the driver compiles the PTX
  bool hasWarpReduce;     ///< redux.sync
  bool hasBf16Conversion; ///< cvt to bf16, and packed to f16x2 and bf16x2
  bool hasFp8Conversion;  ///< cvt from and to e4m3 and e5m2
  bool hasXorSign;        ///< min and max of magnitudes, with the sign of the product
  bool hasBf16Atomics;    ///< atom.add of bf16 and pairs of it
  bool hasVectorAtomics;  ///< atom.add of up to 16 bytes of f32, f16 and bf16
  bool hasWarpMma;        ///< mma.sync of 16-bit floats, tf32, int8 and f64
  bool hasAsyncCopy;      ///< cp.async
  bool hasTma;
  bool makesTensorMaps; ///< tensormap.replace
  bool hasStmatrix;     ///< stmatrix
  bool hasWgmma;
  bool hasClusters;
  bool hasDependentLaunches; ///< griddepcontrol: a grid may begin before the one that it depends on ends
  bool hasOwnPtxas;          ///< settings may name a ptxas for Blackwell alone
  uint32_t maxSharedBytes;   ///< per CTA
  uint32_t residentThreads;  ///< per multiprocessor

  //--- per cycle of a multiprocessor ---------------------------------------------------------
  unsigned fma;             ///< of f32; other simple instructions alike
  unsigned packedFma;       ///< of pairs of f16; 0: not recorded
  unsigned special;         ///< exponentials, logarithms, roots
  unsigned warpMmaProducts; ///< of 16-bit floats by mma.sync; 8-bit elements are twice as fast, tf32 half
  unsigned tensorProducts;  ///< the same by the fastest instruction; 0: not recorded
  unsigned globalBytes;     ///< its part of L2's bandwidth, for estimates
};

std::span<const NvidiaArch> nvidiaArchs();

/// The row of the compute capability, or of the highest below it; null below the lowest row.
const NvidiaArch *findNvidiaArch(unsigned capability);

//--- occupancy -------------------------------------------------------------------------------

inline constexpr uint32_t kRegisterFile = 65536;       ///< 32-bit registers of a multiprocessor
inline constexpr uint32_t kRegisterGranule = 8;        ///< per thread
inline constexpr uint32_t kReservedSharedBytes = 1024; ///< of each CTA, for the system
inline constexpr uint32_t kMaxResidentCtas = 32;       ///< whatever they need

struct CtaFootprint {
  uint32_t registers = 0; ///< per thread; 0: unknown
  uint64_t threads = 0;
  uint64_t sharedBytes = 0;
};

/// CTAs that fit a multiprocessor by each of its resources; 0 where not even one fits.
struct ResidentCtas {
  uint32_t byThreads, byRegisters, bySharedBytes;
  uint32_t count() const; ///< the least of these
};

/// What a multiprocessor has.
struct MultiprocessorLimits {
  uint32_t residentThreads;
  uint64_t maxSharedBytes; ///< per CTA
};

ResidentCtas residentCtas(const MultiprocessorLimits &limits, const CtaFootprint &block);
inline ResidentCtas residentCtas(const NvidiaArch &arch, const CtaFootprint &block) {
  return residentCtas(MultiprocessorLimits{arch.residentThreads, arch.maxSharedBytes}, block);
}

//--- GPUs ------------------------------------------------------------------------------------

/// The kinds of tensor cores' operands.
enum class TensorType : uint8_t { None, F64, TF32, F16, F8, Int8, Int4 };
inline constexpr size_t kNumTensorTypes = size_t(TensorType::Int4) + 1;

struct NvidiaGpu {
  std::string_view name; ///< as users write it
  uint32_t capability;
  uint32_t multiprocessors;
  uint32_t clockMhz, tensorClockMhz; ///< boost; sustained while the tensor cores are busy
  uint32_t memoryMhz, memoryBits;

  //--- per second and GPU --------------------------------------------------------------------
  double dramBytes;                  ///< that copies reach, not the data sheet's
  double l2LineBytes, l2SectorBytes; ///< of whole lines, of single sectors
  double atomicSectors;              ///< sectors of atomics
  uint64_t l2Capacity;

  //--- per clock and SM ----------------------------------------------------------------------
  double warpIssues;
  double float64Lanes, integerLanes, convertLanes; ///< others are the architecture's
  double l1Bytes;                                  ///< of L1 and shared memory
  double tensorFlops[kNumTensorTypes];             ///< dense; 0: the GPU lacks the type
  double mmaShare;                                 ///< what `mma` reaches of them; wgmma reaches all

  //--- per launch ----------------------------------------------------------------------------
  double launchSeconds;  ///< from one launch to the next, of an empty kernel
  double latencySeconds; ///< of an access to DRAM
};

std::span<const NvidiaGpu> nvidiaGpus();

/// Null where there is no such GPU; case does not matter.
const NvidiaGpu *findNvidiaGpu(std::string_view name);

/// The GPU that a compute capability stands for.
const NvidiaGpu &nvidiaGpuOf(uint32_t capability);
const NvidiaArch &archOf(const NvidiaGpu &gpu);

} // namespace nereid::artifact
