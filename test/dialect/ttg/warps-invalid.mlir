// RUN: nereid-opt %s --split-input-file --verify-diagnostics
// Violations of the rules of `warp_specialize`.

module attributes {"ttg.num-warps" = 4 : i32, "ttg.total-num-warps" = 12 : i32, "ttg.threads-per-warp" = 32 : i32} {
tt.func public @numbers() {
  // C1
  // expected-error @+1 {{has 2 numbers of warps for 1 partitions}}
  "ttg.warp_specialize"() <{partitionNumWarps = array<i32: 4, 4>}> ({
    ttg.warp_yield
  }, {
    ttg.warp_return
  }) : () -> ()
  tt.return
}
}

// -----

module attributes {"ttg.num-warps" = 4 : i32, "ttg.total-num-warps" = 12 : i32, "ttg.threads-per-warp" = 32 : i32} {
tt.func public @total() {
  // C1
  // expected-error @+1 {{has 8 warps in all, the module's `ttg.total-num-warps` is 12}}
  ttg.warp_specialize default {
    ttg.warp_yield
  } partition0 num_warps(4) {
    ttg.warp_return
  }
  tt.return
}
}

// -----

module attributes {"ttg.num-warps" = 4 : i32, "ttg.total-num-warps" = 7 : i32, "ttg.threads-per-warp" = 32 : i32} {
tt.func public @odd() {
  // C1
  // expected-error @+1 {{has a partition whose number of warps is not a power of two}}
  ttg.warp_specialize default {
    ttg.warp_yield
  } partition0 num_warps(3) {
    ttg.warp_return
  }
  tt.return
}
}

// -----

module attributes {"ttg.num-warps" = 4 : i32, "ttg.total-num-warps" = 36 : i32, "ttg.threads-per-warp" = 32 : i32} {
tt.func public @many() {
  // C1
  // expected-error @+1 {{has 36 warps in all, a program has 32 at most}}
  ttg.warp_specialize default {
    ttg.warp_yield
  } partition0 num_warps(32) {
    ttg.warp_return
  }
  tt.return
}
}

// -----

module attributes {"ttg.num-warps" = 4 : i32, "ttg.total-num-warps" = 8 : i32, "ttg.threads-per-warp" = 32 : i32} {
tt.func public @not_last(%p: !tt.ptr<i32>, %x: i32) {
  // C2
  // expected-error @+1 {{stands in the body of a kernel, before its `tt.return` alone}}
  ttg.warp_specialize default {
    ttg.warp_yield
  } partition0 num_warps(4) {
    ttg.warp_return
  }
  tt.store %p, %x : !tt.ptr<i32>
  tt.return
}
}

// -----

module attributes {"ttg.num-warps" = 4 : i32, "ttg.total-num-warps" = 8 : i32, "ttg.threads-per-warp" = 32 : i32} {
tt.func private @no_kernel() {
  // C2
  // expected-error @+1 {{stands in the body of a kernel, before its `tt.return` alone}}
  ttg.warp_specialize default {
    ttg.warp_yield
  } partition0 num_warps(4) {
    ttg.warp_return
  }
  tt.return
}
}

// -----

#tile = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
module attributes {"ttg.num-warps" = 4 : i32, "ttg.total-num-warps" = 8 : i32, "ttg.threads-per-warp" = 32 : i32} {
tt.func public @tile_before() {
  %x = tt.make_range {start = 0 : i32, end = 128 : i32} : tensor<128xi32, #tile>
  // C3
  // expected-error @+1 {{follows `tt.make_range`, which has a tile}}
  ttg.warp_specialize default {
    ttg.warp_yield
  } partition0 num_warps(4) {
    ttg.warp_return
  }
  tt.return
}
}

// -----

#tile = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
module attributes {"ttg.num-warps" = 4 : i32, "ttg.total-num-warps" = 8 : i32, "ttg.threads-per-warp" = 32 : i32} {
tt.func public @tile_from_outside(%x: tensor<128xi32, #tile>) {
  // C3
  // expected-error @+1 {{uses a tile from outside}}
  ttg.warp_specialize default {
    %y = arith.addi %x, %x : tensor<128xi32, #tile>
    ttg.warp_yield
  } partition0 num_warps(4) {
    ttg.warp_return
  }
  tt.return
}
}

// -----

module attributes {"ttg.num-warps" = 4 : i32, "ttg.total-num-warps" = 8 : i32, "ttg.threads-per-warp" = 32 : i32} {
tt.func public @few_registers() {
  // C4
  // expected-error @+1 {{has 1 numbers of registers for 2 regions}}
  ttg.warp_specialize attributes {actualRegisters = array<i32: 160>} default {
    ttg.warp_yield
  } partition0 num_warps(4) {
    ttg.warp_return
  }
  tt.return
}
}

// -----

module attributes {"ttg.num-warps" = 4 : i32, "ttg.total-num-warps" = 8 : i32, "ttg.threads-per-warp" = 32 : i32} {
tt.func public @step() {
  // C4
  // expected-error @+1 {{has 100 registers for a region; it is a multiple of 8 from 24 to 256}}
  ttg.warp_specialize attributes {actualRegisters = array<i32: 160, 100>} default {
    ttg.warp_yield
  } partition0 num_warps(4) {
    ttg.warp_return
  }
  tt.return
}
}

// -----

module attributes {"ttg.num-warps" = 4 : i32, "ttg.total-num-warps" = 5 : i32, "ttg.threads-per-warp" = 32 : i32} {
tt.func public @single_warp() {
  // C4
  // expected-error @+1 {{changes the registers of 1 warps; they are whole warp groups}}
  ttg.warp_specialize attributes {actualRegisters = array<i32: 160, 24>} default {
    ttg.warp_yield
  } partition0 num_warps(1) {
    ttg.warp_return
  }
  tt.return
}
}

// -----

module attributes {"ttg.num-warps" = 8 : i32, "ttg.total-num-warps" = 12 : i32, "ttg.threads-per-warp" = 32 : i32} {
tt.func public @pool() {
  // C5
  // expected-error @+1 {{gives a lane of each warp 2080 registers in all, they start with 2016}}
  ttg.warp_specialize attributes {actualRegisters = array<i32: 240, 40>} default {
    ttg.warp_yield
  } partition0 num_warps(4) {
    ttg.warp_return
  }
  tt.return
}
}

// -----

module attributes {"ttg.num-warps" = 4 : i32, "ttg.total-num-warps" = 8 : i32, "ttg.threads-per-warp" = 32 : i32} {
tt.func public @call() {
  tt.call @other() : () -> ()
  // C6
  // expected-error @+1 {{is in a kernel that calls functions}}
  ttg.warp_specialize default {
    ttg.warp_yield
  } partition0 num_warps(4) {
    ttg.warp_return
  }
  tt.return
}
tt.func private @other() {
  tt.return
}
}

// -----

module attributes {"ttg.num-warps" = 4 : i32, "ttg.total-num-warps" = 17 : i32, "ttg.threads-per-warp" = 32 : i32} {
tt.func public @partitions() {
  // C7
  // expected-error @+1 {{has 13 partitions; the most are 12}}
  ttg.warp_specialize default {
    ttg.warp_yield
  } partition0 num_warps(1) {
    ttg.warp_return
  } partition1 num_warps(1) {
    ttg.warp_return
  } partition2 num_warps(1) {
    ttg.warp_return
  } partition3 num_warps(1) {
    ttg.warp_return
  } partition4 num_warps(1) {
    ttg.warp_return
  } partition5 num_warps(1) {
    ttg.warp_return
  } partition6 num_warps(1) {
    ttg.warp_return
  } partition7 num_warps(1) {
    ttg.warp_return
  } partition8 num_warps(1) {
    ttg.warp_return
  } partition9 num_warps(1) {
    ttg.warp_return
  } partition10 num_warps(1) {
    ttg.warp_return
  } partition11 num_warps(1) {
    ttg.warp_return
  } partition12 num_warps(1) {
    ttg.warp_return
  }
  tt.return
}
}

// -----

module attributes {"ttg.num-warps" = 4 : i32, "ttg.total-num-warps" = 9 : i32, "ttg.threads-per-warp" = 32 : i32} {
tt.func public @half_group() {
  // C8
  // expected-error @+1 {{has a region of 4 warps that begins at warp 5; warp groups begin at multiples of four}}
  ttg.warp_specialize default {
    ttg.warp_yield
  } partition0 num_warps(1) {
    ttg.warp_return
  } partition1 num_warps(4) {
    ttg.warp_return
  }
  tt.return
}
}

// -----

// expected-error @+1 {{ttg.total-num-warps is given, but no `ttg.warp_specialize` starts warps of its own}}
module attributes {"ttg.num-warps" = 4 : i32, "ttg.total-num-warps" = 8 : i32, "ttg.threads-per-warp" = 32 : i32} {
}

// -----

// expected-error @+1 {{ttg.total-num-warps is not a number}}
module attributes {"ttg.num-warps" = 4 : i32, "ttg.total-num-warps" = "all", "ttg.threads-per-warp" = 32 : i32} {
}

// -----

// expected-error @+1 {{ttg.num-warps is 0 : i32; it is between 1 and 1024}}
module attributes {"ttg.num-warps" = 0 : i32, "ttg.threads-per-warp" = 32 : i32} {
}

// -----

// expected-error @+1 {{ttg.threads-per-warp is false; it is between 1 and 1024}}
module attributes {"ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = false} {
}

// -----

// expected-error @+1 {{ttg.num-ctas is -1 : i32; it is between 1 and 1024}}
module attributes {"ttg.num-ctas" = -1 : i32, "ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 32 : i32} {
}

// -----

// expected-error @+1 {{ttg.threads-per-warp is 48, which is no power of two}}
module attributes {"ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 48 : i32} {
}

// -----

// expected-error @+1 {{ttg.num-warps is 4294967300 : i64; it is between 1 and 1024}}
module attributes {"ttg.num-warps" = 4294967300 : i64, "ttg.threads-per-warp" = 32 : i32} {
}

// -----

// expected-error @+1 {{ttg.num-ctas is not a number}}
module attributes {"ttg.num-ctas" = 1.5 : f32, "ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 32 : i32} {
}

// -----

// expected-error @+1 {{ttg.total-num-warps is 0 : i32; it is between 1 and 1024}}
module attributes {"ttg.num-warps" = 4 : i32, "ttg.total-num-warps" = 0 : i32, "ttg.threads-per-warp" = 32 : i32} {
}

// -----

module attributes {"ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 32 : i32} {
tt.func public @captures(%n: i32) {
  // C9
  // expected-error @+1 {{has a partition of 0 arguments for 1 captures}}
  ttg.warp_specialize(%n) default {
    ttg.warp_yield
  } partition0 num_warps(4) {
    ttg.warp_return
  } : (i32) -> ()
  tt.return
}
}
