#!/bin/sh
# Runs test/xla/torch, and programs, in PyTorch/XLA on a GPU: run.sh BUNDLE PACKAGE [PROGRAM...]
# SPDX-License-Identifier: MIT
#
# BUNDLE: folder with what test/scripts/torch_xla_bundle.py packed. PACKAGE: folder that has our `triton` (an unpacked wheel).
# Each program and the tests run twice: with our handler, then with jaxlib's.
set -u
here=$(cd "$(dirname "$0")" && pwd)
bundle=$1 package=$2
shift 2
site=$(python3 -c 'import jax_cuda13_plugin, os; print(os.path.dirname(os.path.dirname(jax_cuda13_plugin.__file__)))')
c++ -std=c++20 -O1 -shared -fPIC -o "$bundle/libpjrt_forwarder.so" "$here/PjrtForwarder.cpp" -ldl || exit 1
export PJRT_FORWARDER="$bundle/libpjrt_forwarder.so" PJRT_FORWARD_TO="$site/jax_plugins/xla_cuda13/xla_cuda_plugin.so"
nvidia=$site/nvidia
export LD_LIBRARY_PATH="$nvidia/cudnn/lib:$nvidia/cusparselt/lib:$nvidia/cu13/lib:$nvidia/nccl/lib:${LD_LIBRARY_PATH:-}"
export PYTHONPATH="$package:$bundle" PYTHONDONTWRITEBYTECODE=1 PYTHONUNBUFFERED=1
failed=0
for option in "" --jaxlib; do
  for program in "$@" "$here/tests.py"; do
    echo "== ${option:-ours} $program"
    # shellcheck disable=SC2086
    timeout 240 python3 -X faulthandler "$here/with_plugin.py" $option "$program" || failed=1
  done
done
exit $failed
