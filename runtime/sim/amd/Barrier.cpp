// s_barrier and the meeting of a wave's lanes.
// SPDX-License-Identifier: MIT
#include "runtime/sim/units/Barrier.h"
#include "runtime/sim/amd/Instructions.h"
#include "runtime/sim/machine/Decode.h"
#include "runtime/sim/machine/Wave.h"

using namespace nereid::sim;

/// What lanes of the wave have done before comes before what they do now. Within a warp that is a barrier of a warp.
static bool joinWave(Wave &wave, const Instruction &instruction) {
  const void *object = &wave.warp(0);
  uint32_t count = 0;
  for (unsigned index = 0; index < wave.size(); ++index)
    count += unsigned(std::popcount(wave.mask(index)));
  SyncEvent event{SyncKind::BarrierArrive, &instruction, 0, object, count};
  const auto tellAll = [&](SyncKind kind) {
    for (unsigned index = 0; index < wave.size(); ++index)
      if ((event.lanes = wave.mask(index))) {
        event.kind = kind;
        tell(wave.warp(index), event);
      }
  };
  tellAll(SyncKind::BarrierArrive);
  event.kind = SyncKind::BarrierComplete;
  tell(wave.running(), event);
  tellAll(SyncKind::BarrierLeave);
  return true;
}

/// A barrier counts waves: one whose lanes have diverged arrives with those that are there.
static uint32_t arrivalsOf(const Wave &wave, const Warp &warp) {
  uint32_t arrivals = unsigned(std::popcount(~warp.exited));
  for (unsigned index = 0; index < wave.size(); ++index)
    if (&wave.warp(index) != &warp && !wave.mask(index))
      arrivals += unsigned(std::popcount(~wave.warp(index).exited));
  return arrivals;
}

static Step atWaveBarrier(Warp &warp, const Instruction &instruction) {
  NamedBarrier &barrier = warp.cta->barriers[0];
  uint32_t arrivals = 0;
  if (!warp.split().hasArrived) {
    Wave wave(warp);
    const Wave::Meeting meeting = wave.meet();
    if (meeting == Wave::Meeting::Wait)
      return Step::Wait;
    arrivals = meeting == Wave::Meeting::Perform ? arrivalsOf(wave, warp) : unsigned(std::popcount(~warp.exited));
  }
  const SyncEvent event{SyncKind::BarrierArrive, &instruction, warp.mask, &barrier, liveThreads(*warp.cta)};
  return meetAtBarrier(warp, barrier, event, /*waits=*/true, arrivals) ? Step::Next : Step::Wait;
}

void nereid::sim::decodeWaveBarrier(Decoder &decoder) {
  Instruction instruction;
  instruction.execute = decoder.take("s_barrier") ? &atWaveBarrier : &together<&joinWave>;
  decoder.take("wave_barrier");
  decoder.setFlow(ValueFlow::Defined);
  decoder.addOfWave(std::move(instruction));
}
