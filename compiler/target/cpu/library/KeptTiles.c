// Chooses where a thread keeps the tiles of a dot's operand, for the programs that follow.
// SPDX-License-Identifier: MIT
//
// The tiles of a program, one for each iteration of its loop, are a set. Programs that follow each other may multiply
// the same tiles, as those of a column of a matrix do: one set is enough, and is made anew for the next column. Or they
// come back to tiles after a few programs, as those of rows in a group do: that is seen by the keys of their first
// tiles, and from then on each makes a set of its own, as long as there is room.
//
// Where several programs in succession found nothing, they all use the last tile, since copies that are spread over
// many tiles take longer. It also serves iterations that have no tile of their own.
#include <stdbool.h>
#include <stdint.h>

// One short function, since each takes the compiler time; it is called once an iteration of a loop with a dot.
#define KEPT_PART static inline __attribute__((always_inline))
#define KEPT __attribute__((noinline, minsize))

// Keys are compared one by one.
enum { KEPT_MOST_SETS = 16 };

// What changes from program to program, as words of the arena: the next call of the launch goes on with it.
struct Kept {
  uint64_t tilesOfSet; // iterations with a tile of their own
  uint64_t sets;       // that hold tiles; 0 before the launch's first iteration in this thread
  uint64_t set;        // of the current program
  uint64_t misses;     // programs in succession that found nothing kept
  uint64_t seen;       // programs whose first key is noted
  uint64_t wasFound;   // whether a program has found its tiles in `set` since that was made
  uint64_t comesBack;  // whether a later program had a noted key
  uint64_t isOff;      // whether the misses were too many, or the launch has one program
};

// The keys of the tiles, then those that are noted: KEPT_MOST_SETS. The first word of a key is 1, or 0 where there is
// none.
struct KeptKeys {
  uint64_t *first;
  uint64_t words; // of each
  uint64_t tiles;
};

KEPT_PART uint64_t *keyAt(struct KeptKeys keys, uint64_t index) { return keys.first + index * keys.words; }

KEPT_PART bool hasKey(struct KeptKeys keys, uint64_t index, const uint64_t *key) {
  const uint64_t *own = keyAt(keys, index);
  for (uint64_t word = 0; word < keys.words; ++word)
    if (own[word] != key[word])
      return false;
  return true;
}

KEPT_PART void storeKey(struct KeptKeys keys, uint64_t index, const uint64_t *key) {
  uint64_t *own = keyAt(keys, index);
  for (uint64_t word = 0; word < keys.words; ++word)
    own[word] = key[word];
}

// The number of the key among `count`, so far apart; `count` where it is none of them.
KEPT_PART uint64_t findKey(struct KeptKeys keys, uint64_t first, uint64_t distance, uint64_t count,
                           const uint64_t *key) {
  for (uint64_t number = 0; number < count; ++number)
    if (hasKey(keys, first + number * distance, key))
      return number;
  return count;
}

// Compares the first key of a program with those noted, and notes it. After too many programs it is over.
KEPT_PART void noteKey(struct Kept *state, struct KeptKeys keys, const uint64_t *key) {
  if (state->comesBack || state->seen > KEPT_MOST_SETS)
    return;
  if (findKey(keys, keys.tiles, 1, state->seen, key) != state->seen) {
    state->comesBack = true;
    state->misses = 0;
  }
  if (state->seen < KEPT_MOST_SETS)
    storeKey(keys, keys.tiles + state->seen, key);
  ++state->seen;
}

// Takes a set for a program that found none: that of the program before, if it was found again, as its programs are
// over, else the next one of `most`.
KEPT_PART void makeSet(struct Kept *state, struct KeptKeys keys, uint64_t most, bool wasFound) {
  if (!wasFound)
    state->set = state->set + 1 == most ? 0 : state->set + 1;
  if (state->set != state->sets)
    return;
  ++state->sets;
  for (uint64_t tile = 0; tile < state->tilesOfSet; ++tile)
    *keyAt(keys, state->set * state->tilesOfSet + tile) = 0;
}

// In the first iteration of a program, with the key of its tile: the set that has it, or else one to make.
KEPT_PART void chooseSet(struct Kept *state, struct KeptKeys keys, const uint64_t *key) {
  const bool wasFound = state->wasFound;
  const uint64_t set = findKey(keys, 0, state->tilesOfSet, state->sets, key);
  state->wasFound = set != state->sets;
  state->isOff = false;
  if (state->wasFound) {
    state->set = set;
    state->misses = 0;
    return;
  }
  ++state->misses;
  noteKey(state, keys, key);
  const uint64_t room = keys.tiles / state->tilesOfSet;
  const uint64_t most = room < KEPT_MOST_SETS ? room : KEPT_MOST_SETS;
  state->isOff = state->misses > (state->comesBack ? most : 1) + 1;
  if (state->comesBack)
    makeSet(state, keys, most, wasFound);
}

KEPT_PART void begin(struct Kept *state, struct KeptKeys keys) {
  const struct Kept none = {0, /*sets=*/1, 0, 0, 0, 0, 0, state->isOff};
  *state = none;
  *keyAt(keys, keys.tiles - 1) = 0;
  *keyAt(keys, keys.tiles) = 0;
}

// The number of the tile of a program's iteration, which has the key.
KEPT_PART uint64_t chooseTile(struct Kept *state, struct KeptKeys keys, const uint64_t *key, uint64_t iteration) {
  const uint64_t last = keys.tiles - 1;
  if (iteration == 0 && state->tilesOfSet != 0)
    chooseSet(state, keys, key);
  // While there is one set, it grows with the iterations.
  if (!state->isOff && state->sets == 1 && iteration == state->tilesOfSet && iteration < last)
    *keyAt(keys, state->tilesOfSet++) = 0;
  return !state->isOff && iteration < state->tilesOfSet ? state->set * state->tilesOfSet + iteration : last;
}

// Twice the number of the tile of a program's iteration, and one more where it has been made with this key. It has the
// key from now on.
KEPT uint64_t nereid_kept_tile(struct Kept *state, uint64_t *firstKey, uint64_t words, uint64_t tiles,
                               const uint64_t *key, uint64_t iteration) {
  const struct KeptKeys keys = {firstKey, words, tiles};
  if (state->sets == 0)
    begin(state, keys);
  const uint64_t tile = chooseTile(state, keys, key, iteration);
  const bool isThere = hasKey(keys, tile, key);
  if (!isThere)
    storeKey(keys, tile, key);
  return 2 * tile + isThere;
}
