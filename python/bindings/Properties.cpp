// Turns a device's properties into a dict.
// SPDX-License-Identifier: MIT
#include "python/bindings/Properties.h"

using namespace nereid;
using namespace nereid::python;

nb::dict nereid::python::propertiesDict(const runtime::DeviceProperties &known) {
  nb::dict dict;
  dict["name"] = textOf(known.name);
  dict["multiprocessor_count"] = known.multiprocessorCount;
  dict["max_num_regs"] = known.maxNumRegs;
  dict["max_shared_mem"] = known.maxSharedMem;
  dict["warpSize"] = known.warpSize;
  dict["max_threads_per_sm"] = known.maxThreadsPerSm;
  dict["max_threads_per_block"] = known.maxThreadsPerBlock;
  dict["sm_clock_rate"] = known.smClockRateKhz;
  dict["mem_clock_rate"] = known.memClockRateKhz;
  dict["mem_bus_width"] = known.memBusWidthBits;
  dict["last_level_cache_bytes"] = known.lastLevelCacheBytes;
  return dict;
}
