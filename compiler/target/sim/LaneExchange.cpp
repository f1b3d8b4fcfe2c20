// Cross-lane intrinsics: an instruction of the simulator for each word of the value.
// SPDX-License-Identifier: MIT
#include "compiler/target/sim/InlineAssembly.h"
#include "compiler/target/sim/Intrinsics.h"

#include "llvm/IR/IntrinsicsAMDGPU.h"

using namespace nereid;
using namespace nereid::sim;
using namespace llvm;

/// `make(word, index)` gives the instruction for one word of the operand.
template <typename F> static Value *eachWord(Site &site, unsigned operand, F make) {
  Words results;
  for (auto [index, word] : enumerate(wordsOf(site.ir, site.operand(operand))))
    results.push_back(make(word, unsigned(index)));
  return fromWords(site.ir, results, site.operand(operand)->getType());
}

static InlineAssembly assembly(Site &site, const char *name, unsigned numResults = 1) {
  InlineAssembly result(site.ir, std::string("amd.") + name + ".b32");
  for (unsigned index = 0; index < numResults; ++index)
    result.results(site.ir.getInt32Ty(), 1);
  return result;
}

/// d, address, value.
static Value *permuteByAddress(Site &site, const char *name) {
  return assembly(site, name).source(site.operand(0)).source(site.operand(1)).call(Effects::Lanes)[0];
}

/// d, old, value, control, masks of rows and banks, bound control.
static Value *dpp(Site &site, bool hasOld) {
  const unsigned value = hasOld ? 1 : 0, control = value + 1;
  const Words old = wordsOf(site.ir, site.operand(0));
  return eachWord(site, value, [&](Value *word, unsigned index) {
    Value *otherwise = hasOld ? old[index] : PoisonValue::get(word->getType());
    InlineAssembly call = assembly(site, "dpp");
    call.source(hasOld ? otherwise : word).source(word);
    for (unsigned immediate = 0; immediate < 4; ++immediate)
      call.immediate(site.number(control + immediate));
    return call.call(Effects::Lanes)[0];
  });
}

/// d, old, value, low and high selectors, flags.
static Value *permuteRows(Site &site, const char *name) {
  const Words old = wordsOf(site.ir, site.operand(0));
  const uint64_t flags = site.number(4) | site.number(5) << 1;
  return eachWord(site, 1, [&](Value *word, unsigned index) {
    return assembly(site, name)
        .source(old[index])
        .source(word)
        .source(site.operand(2))
        .source(site.operand(3))
        .immediate(flags)
        .call(Effects::Lanes)[0];
  });
}

/// d1, d2, value, value.
static Value *swapRows(Site &site, const char *name) {
  const Words words = assembly(site, name, 2).source(site.operand(0)).source(site.operand(1)).call(Effects::Lanes);
  Value *pair = PoisonValue::get(site.call.getType());
  pair = site.ir.CreateInsertValue(pair, words[0], 0);
  return site.ir.CreateInsertValue(pair, words[1], 1);
}

static Value *ballot(Site &site) {
  Type *type = site.call.getType();
  InlineAssembly call(site.ir, type->isIntegerTy(64) ? "amd.ballot.b64" : "amd.ballot.b32");
  return call.results(type, 1)
      .source(site.ir.CreateZExt(site.operand(0), site.ir.getInt32Ty()))
      .call(Effects::Lanes)[0];
}

Value *sim::replaceLaneExchange(Site &site) {
  switch (site.call.getIntrinsicID()) {
  case Intrinsic::amdgcn_ds_bpermute:
    return permuteByAddress(site, "ds_bpermute");
  case Intrinsic::amdgcn_ds_permute:
    return permuteByAddress(site, "ds_permute");
  case Intrinsic::amdgcn_ds_swizzle:
    return assembly(site, "ds_swizzle").source(site.operand(0)).immediate(site.number(1)).call(Effects::Lanes)[0];
  case Intrinsic::amdgcn_update_dpp:
    return dpp(site, /*hasOld=*/true);
  case Intrinsic::amdgcn_mov_dpp:
    return dpp(site, /*hasOld=*/false);
  case Intrinsic::amdgcn_readfirstlane:
    return eachWord(site, 0, [&](Value *word, unsigned) {
      return assembly(site, "readfirstlane").source(word).call(Effects::Lanes)[0];
    });
  case Intrinsic::amdgcn_readlane:
    return eachWord(site, 0, [&](Value *word, unsigned) {
      return assembly(site, "readlane").source(word).source(site.operand(1)).call(Effects::Lanes)[0];
    });
  case Intrinsic::amdgcn_writelane: {
    const Words old = wordsOf(site.ir, site.operand(2));
    return eachWord(site, 0, [&](Value *word, unsigned index) {
      return assembly(site, "writelane")
          .source(word)
          .source(site.operand(1))
          .source(old[index])
          .call(Effects::Lanes)[0];
    });
  }
  case Intrinsic::amdgcn_permlane16:
    return permuteRows(site, "permlane16");
  case Intrinsic::amdgcn_permlanex16:
    return permuteRows(site, "permlanex16");
  case Intrinsic::amdgcn_permlane64:
    return eachWord(site, 0, [&](Value *word, unsigned) {
      return assembly(site, "permlane64").source(word).call(Effects::Lanes)[0];
    });
  case Intrinsic::amdgcn_permlane16_swap:
    return swapRows(site, "permlane16_swap");
  case Intrinsic::amdgcn_permlane32_swap:
    return swapRows(site, "permlane32_swap");
  case Intrinsic::amdgcn_ballot:
    return ballot(site);
  default:
    return nullptr;
  }
}
