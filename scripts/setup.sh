# The steps of ./dev; each is run once and again only when its inputs have changed.
# SPDX-License-Identifier: MIT
# shellcheck shell=sh

VENV=$ROOT/.venv
LOGS=$ROOT/build/log
STAMPS=$ROOT/build/stamp
mkdir -p "$LOGS" "$STAMPS"

fail() {
  printf 'dev: %s\n' "$*" >&2
  exit 1
}

# Summarises a log in one line, for common causes.
explain() {
  if grep -qi 'no space left\|not enough free space\|disk quota' "$1"; then
    echo "the disk is full; setup and build need about 6 GB"
  elif grep -qi 'could not resolve\|temporary failure\|failed to establish\|connection \(refused\|timed out\|reset\)\|network is unreachable\|read timed out\|no matching distribution\|failed to fetch' "$1"; then
    echo "the network, or the package source that apt or pip is configured with, does not answer"
  elif grep -qi 'permission denied' "$1"; then
    echo "a file or folder may not be written"
  else
    echo "the last lines of the log tell more"
  fi
}

# step NAME LOG COMMAND...: prints one line for the step, its output in build/log/LOG.log.
step() {
  step_name=$1
  step_log=$LOGS/$2.log
  shift 2
  step_began=$(date +%s)
  printf '%s ... ' "$step_name"
  if "$@" >"$step_log" 2>&1 </dev/null; then
    printf 'done (%d s)\n' $(($(date +%s) - step_began))
  else
    printf 'failed\n' >&2
    tail -n 15 "$step_log" >&2
    fail "$step_name failed: $(explain "$step_log"). Log: build/log/${step_log##*/}"
  fi
}

# fresh STAMP FILES...: true if the stamp holds the hash of these files (and of the words in STAMP_EXTRA).
fresh() {
  stamp=$STAMPS/$1
  shift
  stamp_hash=$({ cat "$@"; echo "${STAMP_EXTRA:-}"; } | cksum)
  [ -f "$stamp" ] && [ "$(cat "$stamp")" = "$stamp_hash" ]
}
mark_fresh() { echo "$stamp_hash" >"$stamp"; }

need_disk() {
  free=$(df -Pk "$ROOT" | awk 'NR == 2 { print $4 }')
  [ "$free" -ge $(($1 * 1024 * 1024)) ] || fail "about $1 GB of disk are needed here for $2; $((free / 1024 / 1024)) GB are free in $ROOT"
}

# Only one ./dev at a time sets up and builds; a second one waits.
lock() {
  command -v flock >/dev/null || return 0
  exec 9>"$ROOT/build/lock"
  flock -n 9 || {
    echo "waiting for another ./dev in this tree"
    flock 9
  }
}
unlock() { exec 9>&-; }

# ---- system packages

missing_packages() {
  for package in $(grep -v '^#' scripts/packages-debian.txt); do
    dpkg-query -W -f '${db:Status-Abbrev}' "$package" 2>/dev/null | grep -q '^.i' || echo "$package"
  done
}

apt_install() {
  $AS_ROOT env DEBIAN_FRONTEND=noninteractive apt-get update &&
    $AS_ROOT env DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends "$@"
}

setup_system() {
  if ! command -v apt-get >/dev/null; then
    for tool in clang++-22 ld.lld-22 cmake ninja; do
      command -v $tool >/dev/null || fail "no $tool here, and no apt-get to bring it; scripts/packages-debian.txt lists what is needed"
    done
    return
  fi
  missing=$(missing_packages)
  [ -n "$missing" ] || return 0
  need_disk 6 "the packages and the build"
  AS_ROOT=
  if [ "$(id -u)" != 0 ]; then
    command -v sudo >/dev/null || fail "these packages are missing and need root to install; run as root: apt-get install $(echo $missing)"
    AS_ROOT=sudo
    sudo -v || fail "these packages are missing and sudo was refused; run as root: apt-get install $(echo $missing)"
  fi
  # shellcheck disable=SC2086 # one word a package
  step "system packages ($(echo "$missing" | wc -l) missing)" apt apt_install $missing
}

# ---- Python

find_python() {
  for candidate in ${PYTHON:-} python3 python3.14 python3.13 python3.12 python3.11 python3.10; do
    if command -v "$candidate" >/dev/null && "$candidate" -c 'import sys; sys.exit(sys.version_info < (3, 10))' 2>/dev/null; then
      command -v "$candidate"
      return
    fi
  done
  fail "no Python of 3.10 or later; name one with PYTHON=/path/to/python3"
}

make_venv() {
  rm -rf "$VENV"
  "$1" -m venv "$VENV"
}

setup_venv() {
  base=$(find_python) || exit 1
  STAMP_EXTRA=$("$base" -c 'import sys; print(sys.version, sys.base_prefix)')
  if ! fresh python /dev/null || ! "$VENV/bin/python" -c '' 2>/dev/null; then
    need_disk 3 "Python packages"
    step ".venv with $("$base" -V)" venv make_venv "$base"
    rm -f "$STAMPS/packages" "$STAMPS/torch" "$STAMPS/cuda" "$STAMPS/format" "$STAMPS/docs"
    mark_fresh
  fi
  if ! fresh packages scripts/requirements.txt; then
    step "Python packages" packages "$VENV/bin/python" -m pip install --only-binary :all: -r scripts/requirements.txt
    mark_fresh
  fi
}

# The generator of the site: ./dev docs and the test of the pages use it.
setup_docs() {
  STAMP_EXTRA=$(cat "$STAMPS/python")
  fresh docs scripts/requirements-docs.txt && return
  step "mkdocs" docs "$VENV/bin/python" -m pip install --only-binary :all: --no-deps -r scripts/requirements-docs.txt
  mark_fresh
}

# Installs torch for its tests: a build for CPUs only, so that it brings neither CUDA's files nor another triton.
install_torch() {
  pip="$VENV/bin/python -m pip"
  torch=$(sed -n 's/^torch==/torch==/p' test/scripts/requirements-torch.txt)
  grep -v '^torch==' test/scripts/requirements-torch.txt >"$ROOT/build/torch-needs.txt"
  $pip install --only-binary :all: --no-deps -r "$ROOT/build/torch-needs.txt" &&
    { $pip install --only-binary :all: --no-deps ${NEREID_PIP_ARGS:-} "$torch" ||
      $pip install --only-binary :all: --no-deps --index-url https://download.pytorch.org/whl/cpu "$torch"; } &&
    "$VENV/bin/python" -c 'import torch'
}

setup_torch() {
  STAMP_EXTRA=$(cat "$STAMPS/python")
  if fresh torch test/scripts/requirements-torch.txt; then
    return
  fi
  began=$(date +%s)
  printf 'torch for its tests ... '
  if install_torch >"$LOGS/torch.log" 2>&1 </dev/null; then
    printf 'done (%d s)\n' $(($(date +%s) - began))
    rm -f "$ROOT/build/torch-missing"
  else
    printf 'not to be had; its tests are skipped (build/log/torch.log, again with ./dev setup)\n'
    echo "no torch: $(explain "$LOGS/torch.log")" >"$ROOT/build/torch-missing"
  fi
  mark_fresh
}

# Installs ptxas and the disassemblers: tests of the NVIDIA target need no GPU, but these.
install_cuda_tools() {
  "$VENV/bin/python" -m pip install --only-binary :all: --no-deps -r scripts/requirements-cuda.txt &&
    "$VENV/bin/python" -c 'import nvidia, subprocess
subprocess.run([list(nvidia.__path__)[0] + "/cu13/bin/ptxas", "--version"], check=True)'
}

setup_cuda_tools() {
  STAMP_EXTRA=$(cat "$STAMPS/python")
  if fresh cuda scripts/requirements-cuda.txt; then
    return
  fi
  began=$(date +%s)
  printf 'ptxas and nvdisasm for their tests ... '
  if install_cuda_tools >"$LOGS/cuda.log" 2>&1 </dev/null; then
    printf 'done (%d s)\n' $(($(date +%s) - began))
    rm -f "$ROOT/build/cuda-missing"
  else
    printf 'not to be had; their tests are skipped (build/log/cuda.log, again with ./dev setup)\n'
    echo "no ptxas: $(explain "$LOGS/cuda.log")" >"$ROOT/build/cuda-missing"
  fi
  mark_fresh
}

setup_format_tools() {
  STAMP_EXTRA=$(cat "$STAMPS/python")
  fresh format scripts/requirements-format.txt && return
  step "clang-format and ruff" format "$VENV/bin/python" -m pip install --only-binary :all: -r scripts/requirements-format.txt
  mark_fresh
}

# Makes .venv use the build folder, like an installation.
link_venv() { "$VENV/bin/python" scripts/link_venv.py "$ROOT/build/dev/python" || exit 1; }

# ---- build

jobs_for_memory() {
  cores=$(nproc)
  by_memory=$(awk '/MemAvailable/ { print int($2 / 1024 / 1536) }' /proc/meminfo)
  [ "$by_memory" -ge 1 ] || by_memory=1
  [ "$cores" -le "$by_memory" ] && echo "$cores" || echo "$by_memory"
}

configure_step() {
  STAMP_EXTRA="$(cat "$STAMPS/python") $ROOT"
  fresh "configure-$1" CMakePresets.json scripts/packages-debian.txt && [ -f "build/$1/build.ninja" ] && return
  step "configuring $1" "configure-$1" cmake --preset "$1" -D "Python_EXECUTABLE=$VENV/bin/python"
  mark_fresh
}

# compile_step PRESET [TARGET ...]: all but what only tests need, or these targets.
# compile_step PRESET TARGET...: builds these targets.
compile_step() {
  preset=$1
  shift
  step "building $preset" "build-$preset" ninja -C "build/$preset" -j "$(jobs_for_memory)" "$@"
}

# python_of VERSION: an interpreter of that version, from PATH or pyenv; empty if there is none.
python_of() {
  # 3.13t has no GIL.
  for candidate in "python$1" "${PYENV_ROOT:-$HOME/.pyenv}"/versions/"${1%t}".*/bin/python; do
    if command -v "$candidate" >/dev/null && "$candidate" -c "import sys; sys.exit('%d.%d%s' % (*sys.version_info[:2], 't' if 't' in sys.abiflags else '') != '$1')" 2>/dev/null; then
      echo "$candidate"
      return
    fi
  done
}

# The inputs of linking wheels: the symbols of WHEEL_GLIBC (build/glibc-VERSION) and oneTBB's source (build/tbb-source),
# from the Debian release of the headers.
WHEEL_GLIBC=2.28

glibc_stubs() {
  "$1" -m venv "$ROOT/build/venv-stubs" &&
    "$ROOT/build/venv-stubs/bin/python" -m pip install --only-binary :all: --no-deps -r scripts/requirements-stubs.txt &&
    "$ROOT/build/venv-stubs/bin/python" scripts/glibc_stubs.py "build/glibc-$WHEEL_GLIBC" "$WHEEL_GLIBC" &&
    rm -rf "$ROOT/build/venv-stubs"
}

tbb_source() {
  command -v dpkg-source >/dev/null || { echo "no dpkg-source here (apt-get install dpkg-dev)"; return 1; }
  rm -rf build/tbb-source build/tbb-apt
  mkdir -p build/tbb-apt/lists/partial build/tbb-apt/archives
  mirror=$(apt-cache policy | grep -o 'http[^ ]* bookworm/main' | head -n 1 | cut -d' ' -f1)
  security=$(apt-cache policy | grep -o 'http[^ ]* bookworm-security/main' | head -n 1 | cut -d' ' -f1)
  for source in "$mirror bookworm" "$security bookworm-security"; do
    echo "deb-src [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] $source main"
  done >build/tbb-apt/sources.list
  (
    cd build/tbb-apt
    set -- -o "Dir::Etc::sourcelist=$PWD/sources.list" -o Dir::Etc::sourceparts=- -o "Dir::State::lists=$PWD/lists" -o APT::Sandbox::User=root
    apt-get "$@" update && apt-get "$@" source "onetbb=$(dpkg-query -W -f '${source:Version}' libtbb-dev)"
  ) && mv build/tbb-apt/onetbb-*/ build/tbb-source && rm -rf build/tbb-apt
}

wheel_needs() {
  STAMP_EXTRA=
  if ! fresh wheel-glibc scripts/glibc_stubs.py scripts/requirements-stubs.txt || [ ! -d "build/glibc-$WHEEL_GLIBC" ]; then
    step "symbols of glibc $WHEEL_GLIBC" wheel-glibc glibc_stubs "$VENV/bin/python"
    mark_fresh
  fi
  STAMP_EXTRA=$(cat "$STAMPS/python")
  if ! fresh wheel-tools scripts/requirements-wheel.txt || [ ! -d build/wheel-tools ]; then
    rm -rf build/wheel-tools
    step "tools for wheels" wheel-tools wheel_tools "$VENV/bin/python"
    mark_fresh
  fi
  STAMP_EXTRA=$(dpkg-query -W libtbb-dev)
  if ! fresh wheel-tbb /dev/null || [ ! -d build/tbb-source ]; then
    step "source of oneTBB" wheel-tbb tbb_source
    mark_fresh
  fi
}

# The tools, for every Python from one folder: the build backend starts over if its path changes.
wheel_tools() { "$1" -m pip install --only-binary :all: --no-deps --target build/wheel-tools -r scripts/requirements-wheel.txt; }

with_tools() { PYTHONPATH=$ROOT/build/wheel-tools PATH="$ROOT/build/wheel-tools/bin:$PATH" "$@"; }

# pack_wheel VENV: builds for that Python, tags the oldest glibc that the wheel runs on, and checks the tag.
pack_wheel() {
  rm -rf build/wheel-raw build/wheel-named
  with_tools "$1/bin/python" -m pip wheel --no-deps --no-build-isolation -w build/wheel-raw \
    --config-settings="cmake.define.NEREID_GLIBC_STUBS=$ROOT/build/glibc-$WHEEL_GLIBC" --config-settings="cmake.define.NEREID_TBB_SOURCE=$ROOT/build/tbb-source" . &&
    with_tools "$1/bin/python" -m auditwheel repair --exclude libnereid.so --plat "manylinux_$(echo "$WHEEL_GLIBC" | tr . _)_x86_64" \
      -w build/wheel-named build/wheel-raw/nereid_triton-*.whl &&
    with_tools "$1/bin/python" scripts/check_wheel.py build/wheel-named/*.whl &&
    mv build/wheel-named/*.whl dist/
}

# Wheels for the Pythons of WHEEL_PYTHONS that are installed.
wheel_step() {
  need_disk 4 "the release build"
  mkdir -p dist
  wheel_needs
  for version in ${WHEEL_PYTHONS:-3.10 3.11 3.12 3.13 3.14 3.13t 3.14t}; do
    python=$(python_of "$version")
    if [ -z "$python" ]; then
      echo "no Python $version here: no wheel for it"
      continue
    fi
    [ -x "build/venv-$version/bin/python" ] || step "environment for Python $version" "venv-$version" "$python" -m venv "build/venv-$version"
    step "wheel for Python $version (LLVM linked in)" "wheel-$version" pack_wheel "$ROOT/build/venv-$version"
    sed -n '/^nereid_triton-.* MB$/,$p' "$LOGS/wheel-$version.log"
  done
}

# ---- doctor

doctor() {
  echo "root       $ROOT"
  echo "cpu        $(nproc) cores, $(awk -F: '/model name/ { print $2; exit }' /proc/cpuinfo)"
  echo "disk       $(df -Ph "$ROOT" | awk 'NR == 2 { print $4 }') free"
  echo "compiler   $(clang++-22 --version 2>/dev/null | head -n 1 || true)"
  if command -v apt-get >/dev/null; then
    missing=$(missing_packages)
    echo "packages   $([ -n "$missing" ] && echo missing: $missing || echo all present)"
  fi
  [ -x "$VENV/bin/python" ] || { echo "python     no .venv yet; ./dev setup makes it"; return; }
  echo "python     $("$VENV/bin/python" -V) in .venv"
  echo "torch      $(cat build/torch-missing 2>/dev/null || "$VENV/bin/python" -c 'import importlib.metadata as m; print(m.version("torch"))' 2>/dev/null || echo 'not set up')"
  echo "ptxas      $(cat build/cuda-missing 2>/dev/null || "$VENV/bin/python" -c 'import importlib.metadata as m; print(m.version("nvidia-cuda-nvcc"))' 2>/dev/null || echo 'not set up')"
  "$VENV/bin/python" scripts/link_venv.py --check "$ROOT/build/dev/python" || true
  [ -x "$VENV/bin/nereid" ] && "$VENV/bin/nereid" doctor
}
