// Tests which candidate a misspelt name was meant to be.
// SPDX-License-Identifier: MIT
#include "compiler/support/NearestName.h"
#include "gtest/gtest.h"

using nereid::support::NearestName;

static std::string nearest(llvm::StringRef misspelt, std::initializer_list<const char *> candidates) {
  NearestName found(misspelt);
  found.addAll(candidates);
  return found.name();
}

TEST(NearestName, at_most_a_third_of_the_letters_change) {
  EXPECT_EQ(nearest("block_strat", {"block_end", "block_start"}), "block_start");
  EXPECT_EQ(nearest("num_warp", {"num_ctas", "num_warps", "num_stages"}), "num_warps");
  EXPECT_EQ(nearest("colour", {"shape", "dtype"}), "");
}

TEST(NearestName, neighbours_in_the_wrong_order_are_one_change) {
  EXPECT_EQ(nearest("laod", {"load", "land"}), "load");
  EXPECT_EQ(nearest("i23", {"i16", "i32"}), "i32");
  EXPECT_EQ(nearest("daol", {"load"}), "");
}

TEST(NearestName, the_first_of_equally_near_names_is_kept) { EXPECT_EQ(nearest("sun", {"sum", "sub"}), "sum"); }

TEST(NearestName, names_of_two_letters_have_no_neighbours) {
  EXPECT_EQ(nearest("x", {"y", "x_ptr"}), "");
  EXPECT_EQ(nearest("", {"y", ""}), "");
}

TEST(NearestName, the_hint_ends_a_message) {
  NearestName found("lod");
  EXPECT_EQ(found.hint(), "");
  found.add("load");
  EXPECT_EQ(found.hint(), "; did you mean `load`?");
}
