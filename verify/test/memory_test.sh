#!/usr/bin/env bash
# What launches may ask for and what they cost, from the command line. Usage: memory_test.sh BITWELL
set -u
bitwell=$1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
failures=0
fail() { echo "FAILED: $*"; failures=$((failures + 1)); }

# expect STATUS 'part of the output' COMMAND...
expect() {
  local status=$1 part=$2
  shift 2
  local text got
  text=$("$@" 2>&1)
  got=$?
  if [ $got -ne "$status" ] || [[ "$text" != *"$part"* ]]; then
    fail "$* exits with $got (expected $status), says: $text"
  fi
}
# sparing COMMAND...: it succeeds with half a gigabyte of memory at most
sparing() {
  python3 - "$@" <<'P' || fail "$* does not succeed within 512 MiB"
import resource, subprocess, sys
status = subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL).returncode
assert status == 0, status
assert resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss < 512 << 10
P
}

# k writes the first and the last word of y, and touches both ends of a .global array of 4 GiB.
cat > k.ptx <<'P'
.version 9.0
.target sm_90a
.address_size 64
.global .align 4 .b8 big[4294967296];
.visible .entry k(.param .u64 py, .param .u64 pend)
{
  .reg .b32 %r<5>; .reg .b64 %rd<5>;
  .local .align 4 .b8 frame[64];
  .shared .align 4 .b8 tile[1024];
  ld.param.u64 %rd0, [py];
  ld.param.u64 %rd1, [pend];
  mov.u64 %rd2, big;
  ld.global.u32 %r0, [%rd2];
  st.global.u32 [%rd2+4294967292], %r0;
  st.global.u32 [%rd0], 1;
  add.u64 %rd1, %rd0, %rd1;
  st.global.u32 [%rd1+-4], 2;
  st.local.u32 [frame], 1;
  st.shared.u32 [tile], 1;
  ret;
}
P
launch() { # launch SOURCE BYTES: writes l.json, y of so many bytes
  echo '{"ptx": "k.ptx", "entry": "k", "block": [32], "arguments": [{"buffer": "y", '"$1"'}, {"type": "u64", "value": '"$2"'}]}' > l.json
}
sparing "$bitwell" check k.ptx
gib=$((1 << 30))
launch "\"unwritten\": $((8 * gib))" $((8 * gib))
sparing "$bitwell" run l.json
launch "\"zeros\": $((40 * gib))" $((40 * gib))
sparing "$bitwell" run l.json  # more than many a machine has

# What the device would not have, or the user does not want, is refused before the work, by parts.
launch "\"zeros\": $((150 * gib))" 4
parts="(variables 4294967296, buffers 161061273600, local memory 64 x 32 threads, shared memory 1024)"
expect 2 "needs 165356243968 bytes of memory $parts, sm_90a devices have 150754820096; bitwell run --memory-limit" "$bitwell" run l.json
sparing "$bitwell" run l.json --memory-limit 155G
launch '"unwritten": 1048576' 4
all=$((4 * gib + 1048576 + 64 * 32 + 1024))
expect 0 "all checks on" "$bitwell" run l.json --memory-limit $all
expect 2 "needs $all bytes of memory (variables 4294967296, buffers 1048576, local memory 64 x 32 threads, shared memory 1024), the limit is $((all - 1))" "$bitwell" run l.json --memory-limit $((all - 1))
expect 0 "all checks on" "$bitwell" run l.json --memory-limit 4098M
expect 2 "the limit is $((4097 << 20))" "$bitwell" run l.json --memory-limit $((4097 << 10))K
for limit in -1 1.5G 4X "" 99999999999999999999G; do
  expect 2 "--memory-limit" "$bitwell" run l.json --memory-limit "$limit"
done

# Contents that this machine cannot hold are refused before they are made.
if [ -r /proc/meminfo ]; then
  more=$(($(sed -n 's/^MemTotal: *\([0-9]*\) kB/\1/p' /proc/meminfo) * 1024))
  launch "\"generate\": {\"kind\": \"iota_u32\", \"bytes\": $more}" 4
  expect 2 "this machine has" "$bitwell" run l.json --memory-limit 10000G
  launch "\"unwritten\": $more, \"output\": \"y.bin\"" 4
  expect 2 "this machine has" "$bitwell" run l.json --memory-limit 10000G
  [ ! -e y.bin ] || fail "an output of a launch that was refused"
fi

# A blank buffer as an output is all there.
launch '"zeros": 64, "output": "y.bin"' 64
expect 0 "y.bin" "$bitwell" run l.json
[ "$(od -An -tu4 -v -w64 y.bin | tr -s ' ')" = " 1 0 0 0 0 0 0 0 0 0 0 0 0 0 0 2" ] || fail "y.bin has other contents"
launch '"unwritten": 64, "output": "y.bin"' 64
expect 1 "byte 4 of output 'y' was never written" "$bitwell" run l.json

# What a launch touches is counted while it runs, against what the machine has: the limit on resident memory stands for a
# small machine. Each thread writes a page.
cat > touch.ptx <<'P'
.version 9.0
.target sm_90a
.address_size 64
.visible .entry touch(.param .u64 py)
{
  .reg .b32 %r<5>; .reg .b64 %rd<5>;
  ld.param.u64 %rd0, [py];
  mov.u32 %r0, %tid.x;
  mov.u32 %r1, %ctaid.x;
  mad.lo.u32 %r2, %r1, 256, %r0;
  mul.wide.u32 %rd1, %r2, 4096;
  add.u64 %rd2, %rd0, %rd1;
  st.global.u32 [%rd2], 1;
  ret;
}
P
touching() { # touching PAGES: writes touch.json
  echo '{"ptx": "touch.ptx", "entry": "touch", "grid": ['$(($1 / 256))'], "block": [256],
    "arguments": [{"buffer": "y", "unwritten": '$(($1 * 4096))'}]}' > touch.json
}
if [ -r /proc/self/statm ]; then
  touching $((1 << 14))  # 128 MiB, with what says which bytes are written
  expect 0 "all checks on" bash -c "ulimit -m 500000; exec \"$bitwell\" run touch.json"
  touching $((1 << 20))  # 8 GiB
  for options in "" "--races" "--schedules 2"; do
    [ "$options" != "--schedules 2" ] || sed -i 's/"unwritten": [0-9]*/"zeros": 4294967296, "output": "touched.bin"/' touch.json
    # shellcheck disable=SC2086
    expect 2 "" bash -c "ulimit -m 500000; exec \"$bitwell\" run touch.json $options"
  done
  # A suite's cases likewise.
  expect 0 "gemv holds" bash -c "ulimit -m 2000000; exec \"$bitwell\" verify gemv --kernel naive"
  text=$(bash -c "ulimit -m 40000; exec \"$bitwell\" verify gemv --kernel naive" 2>&1)
  got=$?
  [[ $got -eq 2 && "$text" =~ ^bitwell:\ verify\ gemv\ has\ touched\ [0-9]+\ MiB,\ this\ machine\ had\ [0-9]+\ MiB\ left:\ it\ is\ stopped ]] ||
    fail "a suite that touches more than there is ends with $got and says: $text"
  touching $((1 << 20))
  text=$(bash -c "ulimit -m 500000; exec \"$bitwell\" run touch.json" 2>&1)
  [[ "$text" =~ ^bitwell:\ the\ launch\ has\ touched\ [0-9]+\ MiB,\ this\ machine\ had\ 4[0-9]+\ MiB\ left:\ it\ is\ stopped\ before\ the\ machine\ runs\ out\ of\ memory$ ]] ||
    fail "a launch that touches more than there is says: $text"
fi

# Many branches cost what they are, and of a file with many kernels the one that runs.
python3 - <<'P'
def write(name, functions):
    open(name, "w").write(".version 9.0\n.target sm_90a\n.address_size 64\n" + "\n".join(functions))
def kernel(name, branches):
    out = [f".visible .entry {name}(.param .u64 py)", "{", f".reg .pred %p<{branches}>; .reg .b32 %r<{branches + 3}>; .reg .b64 %rd<4>;",
           "ld.param.u64 %rd0, [py];", "mov.u32 %r0, %tid.x;", "mov.u32 %r1, 0;"]
    for i in range(branches):
        out += [f"setp.eq.u32 %p{i}, %r0, {i % 64};", f"@%p{i} bra $L{i};", f"xor.b32 %r{i + 2}, %r1, {i};",
                f"add.u32 %r1, %r1, %r{i + 2};", f"$L{i}:"]
    return "\n".join(out + ["mul.wide.u32 %rd1, %r0, 4;", "add.u64 %rd2, %rd0, %rd1;", "st.global.u32 [%rd2], %r1;", "ret;", "}"])
write("branches.ptx", [kernel("branches", 60000)])
write("fewer.ptx", [kernel("fewer", 15000)])
write("many.ptx", [kernel(f"k{i}", 400) for i in range(600)])
assert 20 << 20 < len(open("many.ptx").read())
lanes = []
for lane in range(32):
    r = 0
    for i in range(60000):
        if lane != i % 64: r = (r + (r ^ i)) % 2**32
    lanes.append(r)
open("branches.want", "w").write(" ".join(map(str, lanes)))
P
for entry in branches fewer k77; do
  ptx=$([ $entry = k77 ] && echo many.ptx || echo $entry.ptx)
  echo '{"ptx": "'$ptx'", "entry": "'$entry'", "block": [32], "arguments": [{"buffer": "y", "unwritten": 128, "output": "'$entry'.bin"}]}' > $entry.json
  for options in "" "--races"; do
    # shellcheck disable=SC2086
    if [ $entry = branches ]; then expect 0 "all checks on" timeout 100 "$bitwell" run $entry.json $options
    else sparing "$bitwell" run $entry.json $options; fi
  done
done
[ "$(od -An -v -tu4 -w128 branches.bin | tr -s ' ')" = " $(cat branches.want)" ] || fail "60,000 branches lead elsewhere"
sparing "$bitwell" check fewer.ptx

echo "$failures failures"
[ $failures -eq 0 ]
