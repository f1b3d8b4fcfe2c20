// RUN: nereid-opt %s --split-input-file --verify-diagnostics
// Violations of the rules of turns.

module attributes {"ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 32 : i32} {
tt.func public @one_group() {
  // C1
  // expected-error @+1 {{is run by 4 warps; two groups of four take turns}}
  ttng.turn_init
  tt.return
}
}

// -----

module attributes {"ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 32 : i32} {
tt.func public @begin() {
  // C1
  // expected-error @+1 {{is run by 4 warps; two groups of four take turns}}
  ttng.turn_begin
  tt.return
}
}

// -----

module attributes {"ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 32 : i32} {
tt.func public @end() {
  // C1
  // expected-error @+1 {{is run by 4 warps; two groups of four take turns}}
  ttng.turn_end
  tt.return
}
}

// -----

module attributes {"ttg.num-warps" = 8 : i32, "ttg.total-num-warps" = 16 : i32, "ttg.threads-per-warp" = 32 : i32} {
tt.func public @two_regions() {
  ttg.warp_specialize default {
    // C2
    // expected-error @+1 {{stands in two regions; one region of a program has turns}}
    ttng.turn_init
    ttg.warp_yield
  } partition0 num_warps(8) {
    ttng.turn_init
    ttg.warp_return
  }
  tt.return
}
}
