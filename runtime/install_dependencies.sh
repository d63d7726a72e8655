#!/usr/bin/env bash
# Installs the Debian 12 packages that a task needs, and says which and why. Does nothing when none is missing.
# usage: runtime/install_dependencies.sh build|tests|perf|ci|kernels      (tests includes build, perf and ci include tests)
# As root it calls apt-get, as any other user sudo apt-get. The table below is the only list of packages.
set -euo pipefail

# task    package             why
packages='
build     g++                 C++20 compiler (12)
build     cmake               configures the build
build     ninja-build         runs the build
build     pkg-config          finds libelf
build     ccache              faster rebuilds; installed later, it would rebuild everything
build     libasmjit-dev       jit: writes AVX2 code
build     libxbyak-dev        memory: writes the sampler code
build     libmimalloc-dev     the command-line program: its malloc
build     libfmt-dev          text formatting
build     libelf-dev          runtime: reads ELF containers
build     libyaml-cpp-dev     runtime: reads .ze_info
build     libtbb-dev          runtime: thread pool
build     libtomlplusplus-dev runtime: reads user MSR configurations
build     libpng-dev          command line: pictures as images
build     libcli11-dev        command line
build     nlohmann-json3-dev  command line: --json
tests     catch2              test framework (2)
tests     libbenchmark-dev    perf: micro-benchmarks
tests     ocl-icd-opencl-dev  OpenCL headers and loader, to drive PoCL
tests     pocl-opencl-icd     PoCL: oracle of kernel results, and what speed is compared with
tests     libigc-tools        iga64: oracle of decoding and text
tests     binutils            objdump: which vectors the compared code uses
tests     gdb                 steps through programs under the user MSR runner
tests     python3             perf/visa.py, and what makes data of the tests
perf      valgrind            callgrind: host instructions for a guest instruction
ci        clang               second compiler, libFuzzer
ci        libclang-rt-14-dev  sanitizer and libFuzzer runtimes of clang
ci        clang-format        checks formatting
ci        clang-tidy          checks names and more
kernels   intel-opencl-icd    ocloc: compiles tests/kernels/src
'

case "${1:-}" in
  build) tasks='build' ;;
  tests) tasks='build tests' ;;
  perf) tasks='build tests perf' ;;
  ci) tasks='build tests ci' ;;
  kernels) tasks='kernels' ;;
  *)
    echo "usage: $0 build|tests|perf|ci|kernels" >&2
    exit 2
    ;;
esac

installed=$(dpkg-query -W -f '${db:Status-Status} ${Package}\n' | sed -n 's/^installed //p')
missing=()
while read -r task package why; do
  [[ -n $task && " $tasks " == *" $task "* ]] || continue
  grep -qxF -- "$package" <<<"$installed" && continue
  missing+=("$package")
  echo "missing: $package ($why)"
done <<<"$packages"
[[ ${#missing[@]} -gt 0 ]] || exit 0

privilege=()
if [[ $(id -u) -ne 0 ]]; then
  command -v sudo >/dev/null || {
    echo "need root or sudo; as root run: apt-get install --no-install-recommends ${missing[*]}" >&2
    exit 1
  }
  privilege=(sudo)
fi
apt() { "${privilege[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -q "$@" </dev/null; }
install() { apt install -y --no-install-recommends "${missing[@]}"; }

echo "installing with ${privilege[*]:+${privilege[*]} }apt-get: ${missing[*]}"
# Package lists that are there are tried first: they may be fresh, and sources of other software may be down.
if ! apt install --dry-run "${missing[@]}" >/dev/null 2>&1 || ! install; then
  apt update || echo "apt-get update failed for some source; going on with the lists there are" >&2
  install
fi
