// RUN: not nereid-opt %s --ttg-assign-layouts 2>&1 | FileCheck %s --check-prefix=NONE
// RUN: sed 's/^module/module attributes {ttg.target = "cuda:80"}/' %s | nereid-opt --ttg-assign-layouts | FileCheck %s
// RUN: sed 's/^module/module attributes {ttg.target = "cuda:80"}/' %s | nereid-opt --ttg-assign-layouts=target=cuda:90 | FileCheck %s --check-prefix=OPTION
// The target of the layouts is that of the option, else that of the module.

// NONE: error: has no target; name it by the pass's option `target` or the attribute `ttg.target`
// CHECK: module attributes {{.*}}ttg.target = "cuda:80"
// OPTION: module attributes {{.*}}ttg.target = "cuda:90"
module {
  tt.func public @kernel() {
    tt.return
  }
}
