#!/usr/bin/env bash
# The command line: exit statuses, one error that names the input, no partial outputs. Usage: cli_test.sh BITWELL
set -u
bitwell=$1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
failures=0

# expect STATUS 'part of the output' COMMAND...: the command exits with STATUS and says that, on stdout or stderr.
expect() {
  local status=$1 part=$2
  shift 2
  local text
  text=$("$@" 2>&1)
  local got=$?
  if [ $got -ne "$status" ] || [[ "$text" != *"$part"* ]]; then
    echo "FAILED: $* exits with $got (expected $status), says: $text"
    failures=$((failures + 1))
  fi
}

cat > add.ptx <<'P'
.version 9.0
.target sm_90a
.address_size 64
.visible .entry addone(.param .u64 px, .param .u64 py, .param .u32 pn)
{
  .reg .pred %p<2>; .reg .b32 %r<5>; .reg .b64 %rd<5>;
  ld.param.u64 %rd0, [px];
  ld.param.u64 %rd1, [py];
  ld.param.u32 %r0, [pn];
  mov.u32 %r1, %tid.x;
  setp.ge.u32 %p1, %r1, %r0;
  @%p1 bra done;
  mul.wide.u32 %rd2, %r1, 4;
  add.u64 %rd3, %rd0, %rd2;
  add.u64 %rd4, %rd1, %rd2;
  ld.global.u32 %r2, [%rd3];
  add.u32 %r3, %r2, 1;
  st.global.u32 [%rd4], %r3;
done:
  ret;
}
P
launch() { # launch N BYTES_X: writes l.json
  cat > l.json <<J
{"ptx": "add.ptx", "entry": "addone", "grid": [1], "block": [32],
 "arguments": [{"buffer": "x", "generate": {"kind": "iota_u32", "bytes": $2}, "read_only": true},
               {"buffer": "y", "unwritten": 128, "output": "y.npy", "dtype": "u4"},
               {"type": "u32", "value": $1}]}
J
}

launch 32 128
expect 0 "all checks on" "$bitwell" run l.json
[ "$(tail -c 128 y.npy | od -An -tu4 -w128 | tr -s ' ')" = "$(for i in $(seq 1 32); do printf ' %d' "$i"; done)" ] || { echo "FAILED: y.npy has other contents"; failures=$((failures + 1)); }
expect 0 '"outputs"' "$bitwell" run l.json --json

expect 0 "schedule random, seed 7" "$bitwell" run l.json --schedule random --seed 7
expect 2 "--schedule" "$bitwell" run l.json --schedule sometimes
cat > race.ptx <<'P'
.version 9.0
.target sm_90a
.address_size 64
.visible .entry race(.param .u64 py)
{
  .reg .b16 %h; .reg .b32 %r<4>; .reg .b64 %rd<3>;
  ld.param.u64 %rd0, [py];
  mov.u32 %r0, %tid.x; and.b32 %r1, %r0, 31; shr.u32 %r2, %r0, 5; cvt.u16.u32 %h, %r2;
  mul.wide.u32 %rd1, %r1, 2; add.u64 %rd0, %rd0, %rd1;
  st.global.u16 [%rd0], %h;  // two warps, one place
  ret;
}
P
echo '{"ptx": "race.ptx", "entry": "race", "grid": [1], "block": [64], "arguments": [{"buffer": "y", "unwritten": 64, "output": "race.npy", "dtype": "u2", "shape": [4, 8]}]}' > race.json
expect 0 "addone: same under 16 schedules" "$bitwell" run l.json --schedules 16
expect 0 '"same": true' "$bitwell" run l.json --schedules 2 --json
expect 1 "'y' differs at byte 0, element [0, 0]: 0x01 under lazy, 0x00 under " "$bitwell" run race.json --schedules 16
expect 1 "  replay: bitwell run race.json --schedule " "$bitwell" run race.json --schedules 16
expect 1 '"element": "[0, 0]"' "$bitwell" run race.json --schedules 16 --json
[ ! -e race.npy ] || { echo "FAILED: an output that hangs on the schedule was written"; failures=$((failures + 1)); }
expect 0 "same under 1 schedule" "$bitwell" run race.json --schedules 1
[ -e race.npy ] || { echo "FAILED: race.npy was not written"; failures=$((failures + 1)); }
sed 's/"unwritten": 64, .*/"unwritten": 64}]}/' race.json > silent.json
expect 2 'no buffer has an "output"' "$bitwell" run silent.json --schedules 2
for other in "--schedule eager" "--seed 3" "--trace t.json"; do
  expect 2 "excludes" "$bitwell" run l.json --schedules 4 $other
done
expect 2 "--schedules" "$bitwell" run l.json --schedules 0
hang=$(dirname "$bitwell")/../share/bitwell/kernels/hang
cp "$hang"/wrong_initial_phase.{json,ptx} .
expect 1 "wrong initial phase" "$bitwell" run wrong_initial_phase.json
expect 1 "replay: --schedule random --seed 3" "$bitwell" run wrong_initial_phase.json --schedule random --seed 3
expect 1 "under schedule lazy: " "$bitwell" run wrong_initial_phase.json --schedules 4
sed 's/wrong_initial_phase/correct/' wrong_initial_phase.json > correct.json
cp "$hang"/correct.ptx .
expect 0 "events -> t.json" "$bitwell" run correct.json --trace t.json
python3 - t.json <<'P' || { echo "FAILED: the trace has not the 8 copies, 16 phases and two warps of the run"; failures=$((failures + 1)); }
import json, sys
events = json.load(open(sys.argv[1]))["traceEvents"]
begun = {e["id"] for e in events if e["ph"] == "b"}
ended = {e["id"] for e in events if e["ph"] == "e"}
phases = [e for e in events if e["ph"] == "i"]
turns = [e for e in events if e["ph"] == "X"]
names = {e["args"]["name"] for e in events if e["ph"] == "M"}
assert len(begun) == 8 and begun == ended, (begun, ended)
assert len(phases) == 16 and sum("pipeline::full" in e["name"] for e in phases) == 8, phases
assert names == {"CTA (0,0,0)", "warp 0", "warp 1", "mbarriers"}, names
assert all(e["dur"] > 0 for e in turns) and {e["tid"] for e in turns} == {1, 2}
P
rm -f sums.npy
expect 1 "wrong initial phase" "$bitwell" run wrong_initial_phase.json --trace t.json
[ -s t.json ] || { echo "FAILED: a hang leaves no trace"; failures=$((failures + 1)); }
[ ! -e sums.npy ] || { echo "FAILED: a hang leaves an output"; failures=$((failures + 1)); }

# A tensor map: eight rows of 64 bytes through shared memory.
cat > map.ptx <<'P'
.version 9.0
.target sm_90a
.address_size 64
.visible .entry box(.param .align 128 .b8 map[128], .param .u64 pout)
{
  .reg .pred %p<2>; .reg .b32 %r<8>; .reg .b64 %rd<5>;
  .shared .align 128 .b8 tile[512];
  .shared .align 8 .b64 bar;
  mov.u32 %r0, %tid.x;
  setp.ne.u32 %p1, %r0, 0;
  @%p1 bra go;
  mbarrier.init.shared.b64 [bar], 1;
go:
  bar.sync 0;
  @%p1 bra wait;
  mbarrier.arrive.expect_tx.shared.b64 _, [bar], 512;
  mov.b64 %rd0, map;
  cvta.param.u64 %rd0, %rd0;
  mov.u32 %r1, 0;
  cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [tile], [%rd0, {%r1, %r1}], [bar];
wait:
  mbarrier.try_wait.parity.shared.b64 %p0, [bar], 0;
  @!%p0 bra wait;
  mov.u32 %r2, tile;
  shl.b32 %r3, %r0, 4;
  add.u32 %r2, %r2, %r3;
  ld.shared.v4.b32 {%r4, %r5, %r6, %r7}, [%r2];
  ld.param.u64 %rd1, [pout];
  cvt.u64.u32 %rd2, %r3;
  add.u64 %rd1, %rd1, %rd2;
  st.global.v4.b32 [%rd1], {%r4, %r5, %r6, %r7};
  ret;
}
P
map() { # map FIELDS: writes m.json with the tensor map's fields
  cat > m.json <<J
{"ptx": "map.ptx", "entry": "box", "block": 32,
 "buffers": [{"buffer": "x", "generate": {"kind": "iota_u32", "bytes": 1024}}],
 "arguments": [{"tensor_map": "x", $1}, {"buffer": "out", "unwritten": 512, "output": "out.bin"}]}
J
}
map '"type": "u8", "dims": [64, 16], "strides": [64], "box": [64, 8]'
expect 0 "all checks on" "$bitwell" run m.json
[ "$(od -An -tu4 -w512 out.bin | tr -s ' ')" = "$(for i in $(seq 0 127); do printf ' %d' "$i"; done)" ] || { echo "FAILED: out.bin has other contents"; failures=$((failures + 1)); }
cp map.ptx aligned.ptx
for start in 1 2 16; do # elements of 4 bits; the last is whole bytes, but no multiple of 16
  sed "s/mov.u32 %r1, 0;/mov.u32 %r1, $start;/" aligned.ptx > map.ptx
  map '"type": "u4x16_align8b", "dims": [128, 16], "strides": [64], "box": [128, 8]'
  expect 1 "starts at element $start of the innermost dimension" "$bitwell" run m.json
done
cp aligned.ptx map.ptx
map '"type": "u8", "dims": [64, 16], "strides": [60], "box": [64, 8]'
expect 2 "globalStrides[0] is 60" "$bitwell" run m.json
map '"type": "u8", "dims": [64, 16], "strides": [64], "box": [257, 8]'
expect 2 "boxDim[0] is 257, it must be 1 to 256" "$bitwell" run m.json
map '"type": "u8", "dims": [64, 16], "strides": [64], "box": [64, 8], "swizzle": "32b"'
expect 2 "boxDim[0] in bytes is 64, it must be at most 32 with this swizzle" "$bitwell" run m.json
map '"type": "u8", "dims": [64, 16], "strides": [64], "box": [64, 8], "swizzle": "48b"'
expect 2 "'48b' is not one of none, 32b" "$bitwell" run m.json
map '"type": "u8", "dims": [64, 16], "box": [64, 8]'
expect 2 "has no 'strides'" "$bitwell" run m.json
map '"type": "u8", "dims": [64], "box": [64]'
expect 1 "a .2d instruction with a tensor map of rank 1" "$bitwell" run m.json
map '"type": "u8", "dims": [64, 32], "strides": [64], "box": [64, 8], "offset": 768'
expect 1 "which are in no buffer" "$bitwell" run m.json

rm -f y.npy
launch 32 64
expect 1 "out-of-bounds read" "$bitwell" run l.json
launch 16 128
expect 1 "of output 'y' was never written" "$bitwell" run l.json
! ls y.npy* > /dev/null 2>&1 || { echo "FAILED: a failed run left outputs"; failures=$((failures + 1)); }

# What a kernel printed before its fault is not lost.
cat > tells.ptx <<'P'
.version 9.0
.target sm_90a
.address_size 64
.extern .func (.param .b32 result) vprintf(.param .b64 format, .param .b64 values);
.global .align 1 .b8 text[8] = {98, 101, 102, 111, 114, 101, 10, 0};
.visible .entry tells()
{
  .reg .b32 %r<1>; .reg .b64 %rd<2>;
  mov.u64 %rd0, text;
  cvta.global.u64 %rd0, %rd0;
  mov.u64 %rd1, 0;
  {
    .param .b64 format; .param .b64 values; .param .b32 result;
    st.param.b64 [format], %rd0;
    st.param.b64 [values], %rd1;
    call.uni (result), vprintf, (format, values);
    ld.param.b32 %r0, [result];
  }
  trap;
}
P
echo '{"ptx": "tells.ptx", "entry": "tells", "arguments": []}' > tells.json
expect 1 "before" "$bitwell" run tells.json
expect 1 "trap" "$bitwell" run tells.json

expect 2 "cannot read 'absent.json'" "$bitwell" run absent.json
echo '{' > bad.json
expect 2 "'bad.json' is not JSON" "$bitwell" run bad.json
launch 32 128
sed 's/"grid"/"gird"/' l.json > bad.json
expect 2 "unknown field 'gird' in the launch; did you mean 'grid'?" "$bitwell" run bad.json
sed 's/addone/minusone/' l.json > bad.json
expect 2 "no entry 'minusone'" "$bitwell" run bad.json
sed 's/add.ptx/absent.ptx/' l.json > bad.json
expect 2 "cannot read './absent.ptx'" "$bitwell" run ./bad.json
sed 's/"value": 32/"value": 5000000000/' l.json > bad.json
expect 2 "5000000000 does not fit u32" "$bitwell" run bad.json
sed 's/"block": \[32\]/"block": [4096]/' l.json > bad.json
expect 2 "block.x is 4096" "$bitwell" run bad.json
sed 's/"unwritten": 128/"npy": "l.json"/' l.json > bad.json
expect 2 "is not an .npy file" "$bitwell" run bad.json
sed 's/, "dtype": "u4"/, "dtype": "u4", "shape": [7]/' l.json > bad.json
expect 2 "make 28 bytes, the buffer has 128" "$bitwell" run bad.json
sed 's/, "dtype": "u4"/, "dtype": "u4", "shape": [32.5]/' l.json > bad.json
expect 2 "'shape' holds [32.5], it must be a list of whole numbers" "$bitwell" run bad.json
sed 's/, "dtype": "u4"/, "dtype": "u4", "shape": [4611686018427387936, 4]/' l.json > bad.json
expect 2 "make more than 2^64 bytes" "$bitwell" run bad.json
sed 's/"type": "u32", "value": 32/"type": "u64", "value": -32/' l.json > bad.json
expect 2 "-32 does not fit u64" "$bitwell" run bad.json
sed 's/"type": "u32", "value": 32/"type": "s64", "value": 9223372036854775808/' l.json > bad.json
expect 2 "9223372036854775808 does not fit s64" "$bitwell" run bad.json
sed 's/"unwritten": 128/"generate": {"kind": "iota_u32", "bytes": 128, "seed": -1}/' l.json > bad.json
expect 2 "'seed' holds -1, it must be a whole number" "$bitwell" run bad.json
sed 's/"type": "u32"/"type": "u24"/' l.json > bad.json
expect 2 "type 'u24' is not one of" "$bitwell" run bad.json

head -c 400 add.ptx > cut.ptx
expect 2 "is not PTX: line" "$bitwell" check cut.ptx
sed 's/add.ptx/cut.ptx/' l.json > bad.json
expect 2 "is not PTX: line" "$bitwell" run bad.json
sed 's/mul.wide.u32/mul.wonder.u32/' add.ptx > odd.ptx
expect 3 "modifier '.wonder'" "$bitwell" check odd.ptx
sed 's/add.ptx/odd.ptx/' l.json > bad.json
expect 3 "modifier '.wonder'" "$bitwell" run bad.json
sed 's/add.u32 %r3, %r2, 1;/mov.b32 %f0, %r2; rcp.approx.f32 %f1, %f0; mov.b32 %r3, %f1;/; s/.reg .b64/.reg .f32 %f<2>; .reg .b64/' add.ptx > rcp.ptx
sed 's/add.ptx/rcp.ptx/' l.json > rcp.json
expect 0 "all checks on" "$bitwell" run rcp.json
expect 0 "has an error bound" "$bitwell" check rcp.ptx
expect 0 "approximate: PTX line 17: 'rcp.approx.f32' has an error bound, not bits; the nearest value was taken" "$bitwell" run rcp.json --approximate nearest
[ "$("$bitwell" run rcp.json | grep -c approximate)" = 0 ] || { echo "FAILED: an H200's own bits are said to be approximate"; failures=$((failures + 1)); }
expect 0 "all checks on" "$bitwell" run rcp.json --strict
# Those of other targets nobody has recorded: an H200's are taken, with one line, and none under --strict.
for target in sm_100a sm_120a; do
  sed "s/sm_90a/$target/; s/rcp.approx.f32 %f1, %f0;/&\nex2.approx.f32 %f1, %f1;/" rcp.ptx > rcp_$target.ptx
  sed "s/rcp.ptx/rcp_$target.ptx/" rcp.json > rcp_$target.json
  expect 0 "approximate: PTX line 17: 'rcp.approx.f32' has an error bound, not bits, and so have 1 more; nobody has recorded those of $target, an H200's were taken" "$bitwell" run rcp_$target.json
  [ "$("$bitwell" run rcp_$target.json | grep -c approximate)" = 1 ] || { echo "FAILED: approximate instructions of $target in other than one line"; failures=$((failures + 1)); }
  expect 0 "\"line 18: 'ex2.approx.f32' has an error bound, not bits\"" "$bitwell" run rcp_$target.json --json
  expect 0 "approximate  'ex2.approx.f32' has an error bound" "$bitwell" check rcp_$target.ptx
  expect 3 "'rcp.approx.f32': its result is approximate, and no table of ${target%a}'s bits is recorded" "$bitwell" run rcp_$target.json --strict
  expect 3 "its result is approximate" "$bitwell" run rcp_$target.json --approximate captured
  expect 0 "approximate: PTX line 17" "$bitwell" run rcp_$target.json --schedules 2
  expect 0 "approximate: PTX line 17" "$bitwell" run rcp_$target.json --exhaust --most 2
  expect 0 "an H200's were taken" "$bitwell" run rcp_$target.json --strict --approximate h200
  expect 0 "the nearest value was taken, which no device vouches for" "$bitwell" run rcp_$target.json --approximate nearest
done
expect 0 "everything is supported" "$bitwell" check add.ptx
expect 0 "-6" "$bitwell" formats e2m1
expect 0 "448" "$bitwell" formats
expect 2 "no format 'e9m9'" "$bitwell" formats e9m9
expect 2 "no format 'e9m9'" "$bitwell" formats e9m9 --json
[ "$("$bitwell" formats e2m1 --json | grep -c '"name"')" = 1 ] || { echo "FAILED: one format's JSON is not one format"; failures=$((failures + 1)); }
expect 0 '"instruction": "volta.mma.sync.f32.f16"' "$bitwell" mma --list --json

# Options that go only with others, or never with them.
expect 2 "--all requires --search" "$bitwell" budget --all
expect 2 "--search excludes --svg" "$bitwell" budget nvfp4-gemm --search --svg b.svg
expect 2 "--batch excludes --list" "$bitwell" mma --list --batch words.txt
expect 2 "--a excludes --list" "$bitwell" mma --list --a 3c00
expect 2 "--vector requires --banks" "$bitwell" layout '(32,4):(32,1)' --vector 16
expect 2 "--fresh requires --csv" "$bitwell" study quantise --fresh
expect 2 "--order excludes --tensor-cores" "$bitwell" study recommend --tensor-cores --order fp32_lane32
expect 2 "no GEMV kernel 'fastest'; there are naive," "$bitwell" verify gemv --kernel fastest
expect 2 "no GEMV kernel 'fastest'; there are naive," "$bitwell" verify gemv --list --kernel fastest
expect 0 "  m=1 n=1 k=64 rank=16 all_codes seed " "$bitwell" verify svdquant --list --kernel svdquant_wgmma
expect 0 "note: svdquant_unordered sm_100a: MMAs of two kinds" "$bitwell" verify svdquant --kernel svdquant_unordered
for kernel in gemv_naive gemm_m128_split1_f16 dense_m128_n64 dual_n128 grouped_persistent svdquant_pair quantise_torchao; do
  expect 0 "$kernel" "$bitwell" verify all --list
done
! "$bitwell" verify gemv --help | grep -iE "ladder|rungs|the contest" || { echo "FAILED: --help of gemv has words of ours"; failures=$((failures + 1)); }

# A name that does not exist: one line that names it and says which there are, the same with every command.
expect 2 "no layout 'sfc-tmem'; there are sf-atom, sf-global" "$bitwell" layout sfc-tmem
expect 2 "tmem-cp, and the functions size, cosize" "$bitwell" layout sfc-tmem --svg sfc.svg
expect 2 "'weave(4:1)', column 1: unknown function 'weave'; there are size, cosize" "$bitwell" layout 'weave(4:1)'
expect 2 "no file and no shipped budget 'svdquant-after'; there are cute-dsl-dense, cutlass-dense," "$bitwell" budget svdquant-after
expect 2 "no instruction 'pascal.mma.sync.f32.f16'; there are volta.mma.sync.f32.f16" "$bitwell" mma pascal.mma.sync.f32.f16
expect 2 "blackwell.mxf4nvf4.ue8m0" "$bitwell" mma nix
echo "nix | 3c00 | 3c00 | 0" > words_nix.txt
expect 2 "'words_nix.txt', line 1: no instruction 'nix'; there are" "$bitwell" mma --batch words_nix.txt
expect 2 "bitwell: verify has no 'gemn'; did you mean 'gemv'? (bitwell verify --help)" "$bitwell" verify gemn --json
expect 2 "bitwell: verify needs one of gemv, gemm" "$bitwell" verify
expect 2 "bitwell: study has no 'nix'; there are accumulate, recommend, quantise, gemm-error" "$bitwell" study nix
expect 2 "bitwell: study needs one of accumulate, recommend, quantise, gemm-error" "$bitwell" study
expect 2 "bitwell: there is no 'nonsense'; there are run, judge, capture, init, check" "$bitwell" nonsense
expect 2 "bitwell: there is no 'nonsense'; there are run, judge, capture, init, check" "$bitwell" nonsense --json more
for unknown in "layout nix" "budget nix" "mma nix" "verify nix" "problem nix" "descriptor nix" "study nix" "formats nix" "nix" "verify" "study"; do
  # shellcheck disable=SC2086
  [ "$("$bitwell" $unknown 2>&1 | wc -l)" -eq 1 ] || { echo "FAILED: bitwell $unknown says more than one line"; failures=$((failures + 1)); }
done

# A contest's inputs. The bytes are drawn once more, by another program.
expect 0 "in/sfb.npy  1 x 2 x 4 x 32 x 4 x 4" "$bitwell" problem gpumode-nvfp4-gemm --shape 128x256x256 --seed 1111 --out in
expect 0 '"shape": [' "$bitwell" problem gpumode-nvfp4-gemv --shape 200x128x2 --seed 7 --out in/there --json
python3 - <<'P' || { echo "FAILED: a problem's files hold other bytes"; failures=$((failures + 1)); }
def philox(c, key):
    k = [key & 0xffffffff, key >> 32]
    for _ in range(10):
        p, q = c[0] * 0xD2511F53, c[2] * 0xCD9E8D57
        c = [q >> 32 ^ c[1] ^ k[0], q & 0xffffffff, p >> 32 ^ c[3] ^ k[1], p & 0xffffffff]
        k = [k[0] + 0x9E3779B9 & 0xffffffff, k[1] + 0xBB67AE85 & 0xffffffff]
    return c
def tensors(seed, sizes):
    at = 0
    for n in sizes:
        t = 256 * min(1184, -(-n // 256))
        yield lambda e, at=at, t=t: philox([at + e // (4 * t), 0, e % t, 0], seed)[e // t % 4]
        at += -(-n // (4 * t))
def check(folder, shape_a, shape_b, outputs, seed, code, scales):
    draw = list(tensors(seed, [l * m * k // 2 for l, m, k in (shape_a, shape_b)] + [outputs] + [
        n for l, m, k in (shape_a, shape_b) for n in (l * m * k // 16, l * (m + 127) // 128 * (k // 64) * 512)]))
    for name, (l, m, k), codes, scale, pad in (("a", shape_a, draw[0], draw[3], draw[4]), ("b", shape_b, draw[1], draw[5], draw[6])):
        data = open(f"{folder}/{name}.npy", "rb").read()[-l * m * k // 2:]
        assert all(data[e] == code(codes(e)) for e in range(0, len(data), 97)), name
        blocks = -(-m // 128)
        size = l * blocks * (k // 64) * 512
        data = open(f"{folder}/sf{name}.npy", "rb").read()
        assert f"({l}, {blocks}, {k // 64}, 32, 4, 4".replace(" ", "") in data[:128].decode("latin1").replace(" ", "")
        data = data[-size:]
        for i in range(0, size, 89):
            block, of_k, r, g = i // (k // 64 * 512), i // 512 % (k // 64), i % 512 // 16 + i // 4 % 4 * 32, i % 4
            row = block % blocks * 128 + r
            word = scale((block // blocks * m + row) * (k // 16) + of_k * 4 + g) if row < m else pad(i)
            assert data[i] == (0, 0x38, 0x40, 0x44)[word % scales], (name, i)
check("in", (1, 128, 256), (1, 256, 256), 128 * 256, 1111, lambda w: w % 256 ^ 128, 4)
check("in/there", (2, 200, 128), (2, 128, 128), 2 * 200, 7, lambda w: w % 4, 3)
P
echo kept > in/a.npy
expect 2 "takes k a multiple of 64, not 100" "$bitwell" problem gpumode-nvfp4-gemm --shape 128x256x100 --out in
[ "$(cat in/a.npy)" = kept ] || { echo "FAILED: a problem that is refused replaces files"; failures=$((failures + 1)); }
rm in/b.npy && mkdir in/b.npy
expect 2 "--out: cannot write 'in/b.npy': it is a folder" "$bitwell" problem gpumode-nvfp4-gemm --shape 128x256x256 --out in
[ "$(cat in/a.npy)" = kept ] || { echo "FAILED: a problem that cannot be written replaces files"; failures=$((failures + 1)); }
expect 2 "a shape is MxNxK[xL], whole numbers from 1 to 2147483647; got '128x256'" "$bitwell" problem gpumode-nvfp4-gemm --shape 128x256 --out in
expect 2 "a shape is MxK[xL]" "$bitwell" problem gpumode-nvfp4-gemv --shape 1x2x3x4 --out in
expect 2 "the problem's a would have more than 2147483647 elements" "$bitwell" problem gpumode-nvfp4-gemm --shape 2147483647x1x64 --out in
expect 2 "cannot make the folder '/dev/null/x'" "$bitwell" problem gpumode-nvfp4-gemv --shape 1x64 --out /dev/null/x
expect 2 "bitwell: problem has no 'nix'; there are gpumode-nvfp4-gemm, gpumode-nvfp4-gemv" "$bitwell" problem nix
expect 0 "b has 128 rows a batch" "$bitwell" problem gpumode-nvfp4-gemv --help

# Descriptors. The values are CUTLASS's, for an operand at shared address 0x2340, scales, and MMAs of 64 to 256 columns.
descriptor() { # descriptor WORD FIELD=MEANING... -- ARGUMENTS...: decoded so, and made from the same fields
  local word=$1 fields=() sets=()
  shift
  while [ "$1" != -- ]; do
    fields+=("$1")
    sets+=(--set "$1")
    shift
  done
  shift
  "$bitwell" descriptor "$@" "$word" --json > word.json || { echo "FAILED: $word is refused"; failures=$((failures + 1)); }
  python3 - word.json "$word" "${fields[@]}" <<'P' || { echo "FAILED: $word is not ${fields[*]}"; failures=$((failures + 1)); }
import json, sys
d = json.load(open(sys.argv[1]))
said = {f["name"]: f["meaning"].split(" ")[0] for f in d["fields"]}
assert d["legal"] and int(d["word"], 16) == int(sys.argv[2], 16)
for field in sys.argv[3:]:
    name, value = field.split("=")
    assert said[name] == value, (name, said[name])
P
  expect 0 "= $word: legal" "$bitwell" descriptor "$@" "${sets[@]}"
}
descriptor 0x4000404000010234 start=9024 leading=16 stride=1024 swizzle=128b base_offset=0 -- matrix
descriptor 0x0000400800010000 start=0 leading=16 stride=128 swizzle=none -- matrix --form tcgen05
descriptor 0x4000004000010234 start=9024 leading=16 stride=1024 swizzle=128b -- matrix --form wgmma
for n in 64:0x08100480 128:0x08200480 192:0x08300480 256:0x08400480; do
  descriptor "${n#*:}" m=128 n="${n%:*}" a_type=e2m1 b_type=e2m1 scale_type=ue4m3 k_size=64 -- instruction --kind mxf4nvf4
done
for n in 64:0x10100480 128:0x10200480 192:0x10300480 256:0x10400480; do
  descriptor "${n#*:}" m=256 n="${n%:*}" a_type=e2m1 b_type=e2m1 scale_type=ue4m3 -- instruction --cta-group 2
done
descriptor 0x02104490 m=32 n=64 a_type=bf16 b_type=bf16 d_type=f32 negate_b=yes -- instruction --kind f16 --ws
descriptor 0x0903028200000005 start_0=5 zeros_first_1=yes masks=yes zeros=2 used=3 shift=9 -- zero-columns
descriptor 0x08400490 m=128 n=256 a_type=bf16 b_type=bf16 d_type=f32 -- instruction --kind f16
expect 0 "= 0x4000404000010000: legal" "$bitwell" descriptor matrix 4611756662049538048
expect 0 "= 0xc000404000010000: legal" "$bitwell" descriptor matrix -4611615374805237760
expect 0 "= 0x4000404000010002: legal" "$bitwell" descriptor matrix 0x4000404000010000 --set start=0x20
expect 1 "has 3 in bits 61 to 63, which is no swizzle" "$bitwell" descriptor matrix 0x6000404000010000
expect 1 "no value of this field" "$bitwell" descriptor matrix 0x6000404000010000
expect 1 "has 0 in bits 46 to 48 (constant), tcgen05 wants 1" "$bitwell" descriptor matrix 0x4000004000010000
expect 1 '"legal": false' "$bitwell" descriptor matrix 0x4000004000010000 --json
expect 3 "bit 14 of a matrix descriptor, which is reserved" "$bitwell" descriptor matrix 0x4000404000014000
expect 1 "has 5 in bits 7 to 9 (type of A): no type of this kind" "$bitwell" descriptor instruction 0x08200680
expect 1 "has 4 in bits 24 to 28 (M >> 4): M must be 128" "$bitwell" descriptor instruction 0x04200480
expect 1 "M must be 128 or 256 with cta_group::2" "$bitwell" descriptor instruction 0x04200480 --cta-group 2
expect 1 "(N >> 3): N must be a multiple of 8 up to 256" "$bitwell" descriptor instruction --set m=128 --set n=264
expect 1 "17 in bits 56 to 61 (column shift): it must be at most 16" "$bitwell" descriptor zero-columns --m 32 --set shift=17
expect 3 "K = 96" "$bitwell" descriptor instruction 0x08200480 --set k_size=96
expect 2 "takes a multiple of 8 up to 504 columns; got '12'" "$bitwell" descriptor instruction --set n=12
expect 2 "no field 'N'; there are sparsity_selector," "$bitwell" descriptor instruction --set N=128
expect 2 "--set takes FIELD=VALUE; got 'n'" "$bitwell" descriptor instruction --set n
expect 2 "a whole number of 32 bits, 0x... or decimal; got '0x108200480'" "$bitwell" descriptor instruction 0x108200480
expect 2 "got '12345678901234567890123'" "$bitwell" descriptor matrix 12345678901234567890123
expect 2 "--kind" "$bitwell" descriptor instruction 0x08200480 --kind nvfp4
expect 2 "bitwell: descriptor has no 'nix'; there are matrix, instruction" "$bitwell" descriptor nix
expect 0 "start, leading and stride in bytes" "$bitwell" descriptor matrix --help

# Layouts and budgets.
expect 0 "((4,2),(8,4)):((1,32),(4,64))" "$bitwell" layout 'blocked_product((4,8):(1,4), (2,4):(1,2))' --json
expect 0 "((4,8),2)" "$bitwell" layout 'zipped_product((4,8):(1,4), 2:1)'
expect 0 "no table of 128 x 64: one has at most 64 x 32; --svg FILE draws more" "$bitwell" layout '(128,64):(64,1)'
expect 0 "no table: it has 3 modes" "$bitwell" layout '(2,2,2):(4,2,1)'
expect 0 "250" "$bitwell" layout 'cosize((4,(2,8)):(8,(1,32)))'
expect 0 "lane 5, column 2, byte 2" "$bitwell" layout sfb-tmem --n 192 --tile 1 --at 5,2,0
expect 0 "56 of 64 elements" "$bitwell" layout '(8,8):(8,1)' 'S<3,0,3> o 0 o (8,8):(8,1)' --svg pair.svg
expect 0 "32 wavefronts, 4 without conflicts" "$bitwell" layout '(32,4):(32,1)' --banks --element-bits 32
expect 2 "'(32,4:1', column 6: expected ')', found ':'" "$bitwell" layout '(32,4:1'
expect 2 "must be a multiple of 2 columns" "$bitwell" layout sfb-tmem --n 32 --tile 1
expect 2 "sfb-tmem has no parameter 'rows'" "$bitwell" layout sfb-tmem --rows 3
expect 2 "'--n' is a parameter of named layouts" "$bitwell" layout '(4,4)' --n 3
expect 2 "cannot write" "$bitwell" layout sfb-tmem --svg /nowhere/x.svg
expect 2 "coordinate (9,9,9)" "$bitwell" layout '(4,4)' --at 9,9,9
expect 2 "do not go with --json" "$bitwell" layout '(4,4)' --at 1,1 --json
expect 2 "coordinate 4 is not inside 4" "$bitwell" layout '(4,4)' --at 4,0
expect 0 "row 5, k 0 stands at" "$bitwell" layout operand-smem --at 5
expect 2 "cotarget 0" "$bitwell" layout 'complement(4:1,0)'
expect 2 "more than the 4194304" "$bitwell" layout sf-global --rows 1000000 --k 1000000 --json
expect 0 "--tile      which tile along N" "$bitwell" layout --help
expect 0 "picture -> sfb.svg" "$bitwell" layout sfb-tmem --n 64 --tile 1 --svg sfb.svg
expect 0 "" python3 -c "import xml.dom.minidom as m; [m.parse(f) for f in ('sfb.svg', 'pair.svg')]"
expect 0 "<title>lane 0, column 2, byte 0: row 0, scale 0, copy 0 to row 0, scale 3, copy 0</title>" cat sfb.svg
expect 0 "lane 41, column 4, byte 0" "$bitwell" layout tmem-ld --shape 16x256b --num x4 --warp 1 --at 6,2
expect 0 "picture -> ld.svg" "$bitwell" layout tmem-ld --shape 16x256b --num x4 --pack 16b --warp 1 --svg ld.svg
expect 0 "<title>lane 41, column 9, byte 0: thread 6, register 2, half 1</title>" cat ld.svg
expect 0 "CTA 1, lane 68, column 2, byte 0" "$bitwell" layout acc-tmem --m 128 --n 64 --ctas 2 --at 68,34
expect 0 "picture -> acc.svg" "$bitwell" layout acc-tmem --m 128 --n 64 --ctas 2 --svg acc.svg
expect 0 "<title>CTA 1, lane 68, column 2, byte 0: row 68, column 34</title>" cat acc.svg
expect 0 "lane 101, column 2, byte 3" "$bitwell" layout tmem-cp --at 5,11,3
expect 0 "picture -> cp.svg" "$bitwell" layout tmem-cp --shape 64x128b.warpx2::02_13 --svg cp.svg
expect 0 "<title>lane 69, column 2, byte 0: row 5, byte 8, copy 1 to row 5, byte 11, copy 1</title>" cat cp.svg
expect 2 "shape is '64x128b', expected one of: 128x256b, 128x128b, 4x256b, 64x128b.warpx2::02_13" "$bitwell" layout tmem-cp --shape 64x128b
expect 2 "num is '3x', expected an integer from 1 to 128" "$bitwell" layout tmem-ld --num 3x
expect 2 ".16x256b.x64: the repeat is a power of two up to 32" "$bitwell" layout tmem-st --shape 16x256b --num x64
expect 2 "split = 7: the halves would overlap" "$bitwell" layout tmem-ld --shape 16x32bx2 --pack 16b --split 7
expect 2 "warp is '4', expected an integer from 0 to 3" "$bitwell" layout tmem-ld --warp 4
expect 0 "" python3 -c "import xml.dom.minidom as m; [m.parse(f) for f in ('ld.svg', 'acc.svg', 'cp.svg')]"
expect 1 "0.500  TOO LARGE" "$bitwell" budget svdquant-before
expect 1 "stages 2 -> 4, with 34,816 B" "$bitwell" budget svdquant-before
expect 1 "divide by ctas (= 2)" "$bitwell" budget
expect 0 "4 main-loop stages" "$bitwell" budget svdquant
expect 1 "DOES NOT FIT" "$bitwell" budget svdquant --set lora_stages=4
expect 0 "Pareto" "$bitwell" budget svdquant --search
expect 2 "has no name 'stages'" "$bitwell" budget svdquant --set stages=4
expect 2 "expected NAME=INTEGER" "$bitwell" budget svdquant --set lora_stages
expect 2 "nothing.json" "$bitwell" budget nothing.json
printf '{"name": "x",\n "shared": [}' > bad.json
expect 2 "'bad.json': line 2, column 13" "$bitwell" budget bad.json
expect 1 "picture -> budget.svg" "$bitwell" budget svdquant-before svdquant --svg budget.svg
expect 0 "" python3 -c "import xml.dom.minidom as m; m.parse('budget.svg')"
expect 1 '"stages": 2' "$bitwell" budget svdquant-before --json

# Tensor-core dot products.
expect 0 "sum -3 units = -0.75, rounded: -0.75 = 0xbf400000" "$bitwell" mma
expect 0 "volta.mma.sync.f32.f16               4             23      0  0x00000000  differs" "$bitwell" mma
expect 0 "k % 4 in {2, 3}" "$bitwell" mma hopper.mma.sync.f32.e4m3 --values --a "1 2 3 4" --b "1 1 1 1"
expect 0 '"d": "41200000"' "$bitwell" mma hopper.mma.sync.f32.e4m3 --values --a "1 2 3 4" --b "1 1 1 1" --json
expect 0 "device: H200" "$bitwell" mma --list
# A GPU that nobody has: one error, and nothing written.
expect 2 "requires --device" "$bitwell" verify gemv --captures digests
CUDA_VISIBLE_DEVICES=none expect 2 "--device: no GPU to run on: no " "$bitwell" verify gemv --device --captures digests
[ ! -e digests ] || { echo "FAILED: a folder for digests without a GPU"; failures=$((failures + 1)); }
# Words of a B200 (verify/device/captures/b200_words.txt).
cat > words.txt <<'W'
# a comment
blackwell.tcgen05.f32.tf32 | 1adccb0f e5394260 25a70552 1e3ce260 138b5984 a7c3a1c0 c0e52aed 5467820b | 5e6641cb a53fa0cc f9489e6 dcbe0111 33fc3422 94de84de 41c52ba7 6421e6d3 | fc36c805
blackwell.mxf4nvf4.ue4m3 | e e b 6 0 8 f 9 a b 3 9 f 7 e 0 2 6 1 5 a 8 6 4 7 c 6 b 1 c 6 d b b 8 6 c 8 c 5 0 4 1 f 1 6 f 5 2 4 6 5 a 7 b 7 0 1 a d b f e 7 | 6 c b 2 8 9 b 4 3 d 2 9 9 c 1 8 7 2 6 3 d 2 9 a 5 9 f 5 a 8 6 0 8 d d 2 c c 5 2 8 3 4 f f 1 1 a b a 5 b f 3 b e a 5 7 1 1 7 8 a | 94e5986 | 9 7c 6d 44 | 7 78 26 79 
W
expect 0 "fc347e7c
49fcafb7" "$bitwell" mma --batch words.txt
expect 0 "fc347e7c" bash -c "\"$bitwell\" mma --batch - < words.txt"
expect 2 "no instruction 'hopper.wgmma.f32.e2m1'; hopper has hopper.mma.sync.f32.tf32" "$bitwell" mma hopper.wgmma.f32.e2m1
expect 2 "A: e4m3 has no value 0.3" "$bitwell" mma hopper.wgmma.f32.e4m3 --values --a 0.3 --b 1
expect 2 "A: '3g' is not a hexadecimal word" "$bitwell" mma hopper.wgmma.f32.e4m3 --a 3g --b 1
expect 2 "wider than the 8 bits of e4m3" "$bitwell" mma hopper.wgmma.f32.e4m3 --a 100 --b 1
expect 2 "A has 2 elements, B 1" "$bitwell" mma hopper.wgmma.f32.e4m3 --a "1 2" --b 1
expect 2 "takes 64 elements, A has 1" "$bitwell" mma blackwell.mxf4nvf4.ue4m3 --a 1 --b 1
ones() { yes 2 | head -"$1" | tr '\n' ' '; }  # of E2M1
expect 2 "takes 2 scales of each operand, found 4 and 2" "$bitwell" mma blackwell.mxf4nvf4.ue8m0.block32 --a "$(ones 64)" --b "$(ones 64)" --scale-a "7f 7f 7f 7f" --scale-b "7f 7f"
# Two K steps, the second's scales twice the first's: 64 + 4 * 64.
expect 0 "chunk 2 of 2" "$bitwell" mma blackwell.mxf4.ue8m0 --a "$(ones 128)" --b "$(ones 128)" --scale-a "7f 7f 80 80" --scale-b "7f 7f 80 80"
expect 0 "D = 320 = 0x43a00000" "$bitwell" mma blackwell.mxf4.ue8m0 --a "$(ones 128)" --b "$(ones 128)" --scale-a "7f 7f 80 80" --scale-b "7f 7f 80 80"
# A and B of different formats, and evidence that says so.
expect 0 "k 1   2 * 57344" "$bitwell" mma hopper.wgmma.f32.e4m3.e5m2 --values --a "1 2" --b "1 57344"
expect 0 "ada.mma.sync.f32.e4m3.e5m2                16             13  114688  0x47e00000           manual: formats that PTX lets meet" "$bitwell" mma hopper.wgmma.f32.e4m3.e5m2 --values --a "1 2" --b "1 57344"
expect 2 "no instruction 'hopper.wgmma.f32.e4m3.e2m1'" "$bitwell" mma hopper.wgmma.f32.e4m3.e2m1 --a 1 --b 1
echo "hopper.wgmma.f32.f16 | 3c00 | 3c00" > short.txt
expect 2 "'short.txt', line 1: expected INSTRUCTION | A | B | C" "$bitwell" mma --batch short.txt
expect 2 "cannot read 'nothing.txt'" "$bitwell" mma --batch nothing.txt

# Studies.
small=(study accumulate --most-k 32 --dots 16 --order fused --family gaussian)
expect 0 "gaussian  32  fused" "$bitwell" "${small[@]}" --csv study.csv --json study.json
expect 0 "32 accumulate 1" python3 -c "
import json
s = json.load(open('study.json'))
assert s['schema'] == 'bitwell-study-accumulate-1' and s['whole'] and len(s['rows']) == 2 and s['commit']
print(s['rows'][0][1], s['study'], s['seed'])"
expect 2 "--fresh to write over it" "$bitwell" "${small[@]}" --seed 2 --csv study.csv
expect 0 "fused" "$bitwell" "${small[@]}" --seed 2 --csv study.csv --fresh
expect 2 "no order 'fp64'; there are f16_sequential" "$bitwell" study accumulate --order fp64
expect 2 "--most-k: '2097152' is no whole number from 16 to 1048576" "$bitwell" study accumulate --most-k 2097152
expect 2 "cannot write '/nowhere/x.csv'" "$bitwell" "${small[@]}" --csv /nowhere/x.csv
expect 0 "Cheapest that holds 64x7168x1 on 'problem': fused" "$bitwell" study recommend --shape 64x7168x1 --order fused
expect 1 "No order holds" "$bitwell" study recommend --shape 64x16384x1 --order f16x2_sequential
for shape in 64 64x64x 0x64x1 4294967297x64x1 -1x64x1 64x64x1x1; do
  expect 2 "a shape is MxKxL, whole numbers from 1 to 2147483647; got '$shape'" "$bitwell" study recommend --shape $shape
done
expect 2 "do not fit into memory" "$bitwell" study recommend --order fused --shape 64x64x2147483647
expect 2 "finite and not negative; got rtol -1" "$bitwell" study recommend --rtol -1 --shape 64x64x1
expect 2 "no power of two lies between k 65 and 100" "$bitwell" study gemm-error --least-k 65 --most-k 100
expect 2 "a multiple of 64; got 100" "$bitwell" study gemm-error --least-k 64 --most-k 100 --m 2 --n 2 --map
expect 2 "--m: '99999999999999' is no whole number from 1 to 4096" "$bitwell" study gemm-error --m 99999999999999
expect 2 "'-1' is no whole number" "$bitwell" study accumulate --dots -1
expect 2 "--dots: '99999999999999' is no whole number from 1 to 4294967296" "$bitwell" study accumulate --dots 99999999999999
expect 2 "no power of two lies between" "$bitwell" study accumulate --least-k 17 --most-k 20
expect 2 "cannot write '/nowhere/x.json'" "$bitwell" study gemm-error --json /nowhere/x.json
expect 2 "no recipe 'int4'; there are nvfp4" "$bitwell" study quantise --recipe int4
expect 2 "--least-k: '32' is no whole number from 64 to 1048576" "$bitwell" study gemm-error --least-k 32

expect 0 "inf" "$bitwell" mma hopper.wgmma.f32.f16 --values --a inf --b 1
expect 2 "e4m3 has no value inf" "$bitwell" mma hopper.wgmma.f32.e4m3 --values --a inf --b 1
: > empty.txt
expect 2 "cannot read 'empty.txt', or nothing is in it" "$bitwell" mma --batch empty.txt
npy() { # npy SHAPE: writes x.npy with that shape in its header, and no data
  local header="{'descr': '<u4', 'fortran_order': False, 'shape': ($1), }"
  printf "\\x93NUMPY\\x01\\x00\\x$(printf %02x ${#header})\\x00%s" "$header" > x.npy
}
cat > npy.json <<J
{"ptx": "add.ptx", "entry": "addone", "block": [32],
 "arguments": [{"buffer": "x", "npy": "x.npy"}, {"buffer": "y", "zeros": 128}, {"type": "u32", "value": 0}]}
J
npy "0,"
expect 0 "all checks on" "$bitwell" run npy.json
for shape in 4294967296,4294967296 18446744073709551616, -32, 1e3,; do
  npy "$shape"
  expect 2 "its shape ($shape)" "$bitwell" run npy.json
done

# CTAs that run one after another are drawn one after another.
launch 32 128
sed 's/"grid": \[1\]/"grid": [3]/' l.json > three.json
expect 0 "events -> t.json" "$bitwell" run three.json --trace t.json
python3 - t.json <<'P' || { echo "FAILED: three CTAs of a trace overlap"; failures=$((failures + 1)); }
import json, sys
turns = [e for e in json.load(open(sys.argv[1]))["traceEvents"] if e["ph"] == "X"]
assert len({e["pid"] for e in turns}) == 3
ends = sorted((e["ts"], e["ts"] + e["dur"]) for e in turns)
assert all(a[1] <= b[0] for a, b in zip(ends, ends[1:]))
P

# What one command writes never replaces what it reads or writes elsewhere, and is found before the work.
launch 32 128
rm -rf y.npy* folder; mkdir folder
expect 2 "--trace 'l.json' would replace" "$bitwell" run l.json --trace l.json
expect 2 "--trace 'y.npy' would replace" "$bitwell" run l.json --trace y.npy
expect 2 "cannot write '/nowhere/t.json'" "$bitwell" run l.json --trace /nowhere/t.json
expect 1 "wrong initial phase" "$bitwell" run "$hang/wrong_initial_phase.json" --trace t.json
for output in add.ptx bad.json; do
  sed "s/y.npy/$output/" l.json > bad.json
  expect 2 "would replace '$output', which this command reads" "$bitwell" run bad.json
done
sed "s/y.npy/folder/" l.json > bad.json
expect 2 "its output: cannot write 'folder': it is a folder" "$bitwell" run bad.json
sed "s/y.npy//" l.json > bad.json
expect 2 "its output: cannot write '': no name of a file" "$bitwell" run bad.json
sed 's/"read_only": true/"output": "folder\/..\/y.npy"/' l.json > bad.json
expect 2 "another output of this command" "$bitwell" run bad.json
sed 's/"addone"/""/' l.json > bad.json
expect 2 "'add.ptx': the name of the entry is empty" "$bitwell" run bad.json
sed 's/"value": 32/"value": 1e400/' l.json > bad.json
expect 2 "'bad.json' is not JSON" "$bitwell" run bad.json
! ls y.npy* > /dev/null 2>&1 || { echo "FAILED: a failed run left outputs"; failures=$((failures + 1)); }
expect 2 "'-1' is no whole number from 0 to 18446744073709551615" "$bitwell" run l.json --schedule random --seed -1
expect 2 "'99999999999999999999' is no whole number" "$bitwell" run l.json --step-limit 99999999999999999999
mkdir -p kernels/gemv
echo garbage > kernels/gemv/naive.sm_90a.ptx
expect 2 "'kernels/gemv/naive.sm_90a.ptx' is not PTX" "$bitwell" verify gemv --rung naive --arch sm_90a --kernels kernels
sed 's/\.approx//; s/add\(.rn\)*\.f32/sub.f32/' "$hang"/../gemv/fused.sm_90a.ptx > kernels/gemv/fused.sm_90a.ptx
expect 1 "replay it: bitwell run there/gemv_fused-sm_90a/LAUNCH.json" "$bitwell" verify gemv --rung fused --arch sm_90a --kernels kernels --replay there
expect 1 "no replay: cannot make the folder '/dev/null/there/" "$bitwell" verify gemv --rung fused --arch sm_90a --kernels kernels --replay /dev/null/there
! grep -q "replay it" <<< "$("$bitwell" verify gemv --rung fused --arch sm_90a --kernels kernels --replay /dev/null/there)" || { echo "FAILED: a replay that is not there is offered"; failures=$((failures + 1)); }
if [ -e /dev/full ]; then
  "$bitwell" formats > /dev/full 2> full.txt
  [ $? -eq 2 ] && grep -q "cannot write to the standard output" full.txt || { echo "FAILED: a full standard output"; failures=$((failures + 1)); }
fi

expect 0 "Exit status" "$bitwell" --help
expect 0 "0.1.0" "$bitwell" --version
expect 0 "holds" "$bitwell" verify gemv --kernel naive --arch sm_90a

echo "$failures failures"
[ $failures -eq 0 ]
