#!/usr/bin/env bash
# bitwell capture: unmodified host programs, what they see of the device and what is said of their kernels.
# Usage: capture_test.sh BITWELL NVCC PROGRAM.cu
set -u
bitwell=$1 nvcc=$2 source=$3
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
failures=0
fail() { echo "FAILED: $*"; failures=$((failures + 1)); }
# expect STATUS PROGRAM...: of `bitwell capture`, with its output in `said`.
expect() {
  local want=$1
  shift
  "$bitwell" capture "$@" > said 2>&1
  local got=$?
  [ $got -eq "$want" ] || { fail "capture $*: exit status $got, not $want"; cat said; }
}
has() { grep -qF -- "$1" said || { fail "nothing says '$1'"; cat said; }; }
lacks() { if grep -qF -- "$1" said; then fail "something says '$1'"; cat said; fi; }
build() { "$nvcc" -std=c++17 "${@:2}" -o "$1" "$source" || fail "nvcc ${*:2}"; }
ptx=(-cudart shared -gencode arch=compute_90a,code=compute_90a)

build program "${ptx[@]}" --compress-mode=none
expect 0 --out kept ./program
has 'device: NVIDIA H200 (bitwell), 9.0, 132 SMs, 232448 bytes of shared memory'
has 'all held'
has 'together(int*, int*)'
lacks 'not supported'  # what is looked up and not there is no matter
has 'the program ended with 0'
has 'is to have clusters of 16 CTAs, it may have 8 without cudaFuncAttributeNonPortableClusterSizeAllowed'
has 'is to have clusters of 17 CTAs, it may have 16'
[ "$(grep -c '  held$' said)" -eq 16 ] || { fail "not every launch held"; cat said; }
# A launch that was kept runs by itself.
"$bitwell" run kept/0001/launch.json > said 2>&1 || { fail "a kept launch"; cat said; }
has 'add'
# The options of `bitwell run` are those of each launch; kernels that are not meant run unjudged.
expect 0 --races --only together ./program
has ', not judged'
expect 2 --races --schedules 0 ./program short
has '--schedules'
expect 0 --schedules 3 ./program short

# The kernel at fault, the line, and the program's own view of it.
expect 1 --json ./program overrun
has 'out-of-bounds write of 4 bytes'
has "400 bytes into 'device1' of 400 bytes"
has 'after the overrun: cudaErrorLaunchFailure'
has '"program": 3'
expect 1 ./program overrun
has '  fault'
has 'the program ended with 3'

# A program that is wrong of itself; what its kernels print.
expect 1 ./program wrong
has 'WRONG: as it was asked to be'
has 'thread 1 says so'
[ "$(grep -c 'thread 0 says so' said)" -eq 1 ] || fail "printed more than once"

# What bitwell has not is named, once.
expect 3 ./program graph
has 'a graph: cudaErrorNotSupported'
[ "$(grep -c '^bitwell: not supported: cudaGraphCreate$' said)" -eq 1 ] || { fail "named more than once"; cat said; }

# What the program touches of its device memory is counted, the limit on resident memory standing for a small machine.
(ulimit -m 500000; expect 0 ./program touch 100; exit $failures) || failures=$((failures + 1))
(ulimit -m 500000; expect 2 ./program touch 4000
 grep -qE '^bitwell: the program has touched [0-9]+ MiB, this machine had 4[0-9]+ MiB left: it is stopped before the machine runs out of memory$' said ||
   { fail "a program that touches more than there is"; cat said; }
 has 'the program ended with 2'
 expect 2 --json ./program touch 4000
 has '"stopped": "the program has touched'
 exit $failures) || failures=$((failures + 1))

# Another device.
expect 0 --arch sm_90a ./program short
expect 3 --arch sm_100 ./program short
has "none of the program's PTX (sm_90a) is for a device of sm_100"
has 'compute_100a'
expect 2 --arch sm_77 ./program
has 'there is no device of sm_77'

# PTX as nvcc compresses it, machine code with its PTX and without.
for mode in default speed; do  # zstd, LZ4
  build packed "${ptx[@]}" --compress-mode=$mode
  expect 0 ./packed short
done
build lines -cudart shared -gencode arch=compute_90a,code=sm_90a -lineinfo
expect 0 ./lines short
build bare -cudart shared -gencode arch=compute_90a,code=sm_90a
expect 3 ./bare short
has 'the program has machine code only (sm_90)'
has '-lineinfo'
# The runtime linked in, and no CUDA at all.
build static -gencode arch=compute_90a,code=compute_90a
expect 3 ./static short
has 'nvcc -cudart shared'
expect 2 /bin/true
has 'nvcc -cudart shared'
# What stands behind the program is the program's.
expect 2 /bin/echo --m=256 -x --only=a --json b
has '--m=256 -x --only=a --json b'
expect 2 --json
has 'capture needs a PROGRAM'
expect 2 ./absent
has "cannot run './absent'"

[ $failures -eq 0 ] && echo "all held"
exit $((failures != 0))
