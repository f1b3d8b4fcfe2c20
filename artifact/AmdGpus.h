// AMD's GPU generations and GPUs: features, limits and clocks by name. No other file compares architectures.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace nereid::artifact {

/// The matrix instructions of a generation.
enum class MatrixUnit : uint8_t {
  None,
  Mfma,           ///< CDNA: a wave of 64 lanes multiplies 16x16 or 32x32 tiles
  WmmaReplicated, ///< RDNA3: both halves of a wave of 32 lanes hold the operands
  Wmma,           ///< RDNA4: each half of a wave holds half of k
};

/// The formats of fp8 that an architecture computes with.
enum class Fp8Format : uint8_t { None, Fnuz, Ocp };

struct AmdArch {
  const char *name; ///< LLVM's, "gfx942"
  unsigned waveSize;
  MatrixUnit matrixUnit;
  Fp8Format fp8;             ///< of matrix instructions and conversions
  bool hasXf32;              ///< mfma of f32 rounded to 10 bits of fraction
  bool hasF64Matrix;         ///< mfma of f64
  bool hasWideInt8;          ///< mfma of 8 bytes of int8 per lane, not 4
  bool hasDoubleDepth;       ///< mfma of 16 bytes per lane
  bool hasScaledMatrix;      ///< mfma of fp8, fp6 and fp4 in any pair, with a scale for 32 elements
  bool flushesDenormals;     ///< matrix instructions take denormals of 16-bit floats, also of results, for zero
  bool hasBf16Conversion;    ///< a conversion from f32 to bf16
  bool hasPermlane32Swap;    ///< an exchange of the halves of a wave of 64 lanes
  bool hasPermlane16;        ///< any permutation of 16 lanes, also from the other half of 32
  bool hasVectorFloatAtomic; ///< additions to pairs of f16 and bf16 in global memory
  unsigned numRegisters;     ///< vector registers of a lane, of 32 bits
  uint32_t maxSharedBytes;   ///< LDS per workgroup
  unsigned numBanks;         ///< of LDS, of four bytes each
  unsigned ldsLoadBytes;     ///< of a lane, of a load from global memory to LDS without registers; 0: none
  bool prefersLdsLoads;      ///< whether they are used where the user does not choose
  uint32_t bufferFlags;      ///< the last word of the descriptor of a buffer of bytes

  //--- of a SIMD, of which a multiprocessor has four -----------------------------------------
  uint32_t simdRegisters; ///< of a lane, for all waves
  uint32_t simdWaves;     ///< that it holds at most
  //--- of a multiprocessor, and per cycle ----------------------------------------------------
  uint32_t unitSharedBytes; ///< LDS
  unsigned fma;             ///< of f32; other simple instructions alike
  unsigned special;         ///< exponentials, logarithms, roots
  unsigned globalBytes;     ///< from L2
  unsigned matrixF16;       ///< of 16-bit floats; 0: no matrix instructions
  unsigned matrixF32 = 0, matrixF64 = 0;
};

std::span<const AmdArch> amdArchs();

/// Null for a name that is not in the table.
const AmdArch *findAmdArch(std::string_view name);

/// One GPU of an architecture. On RDNA a multiprocessor is a work-group processor of two compute units.
struct AmdGpu {
  std::string_view arch; ///< "gfx942"
  std::string_view name;
  uint32_t multiprocessors;
  uint32_t clockMhz, memoryMhz, memoryBits;
  uint32_t l2MiB;        ///< of one die
  double dramBytes;      ///< per second, that copies reach: some 0.85 of the data sheet's
  double latencySeconds; ///< of an access to DRAM
};

std::span<const AmdGpu> amdGpus();

/// Null where no GPU of that architecture is known.
const AmdGpu *findAmdGpu(std::string_view arch);

} // namespace nereid::artifact
