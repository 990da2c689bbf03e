#!/usr/bin/env bash
# What a LAUNCH.json can say: structures, pointers in them and in buffers, formats, variables, what outputs should be; the one
# that `bitwell init` writes; and what --device says where there is no GPU. Usage: launch_file_test.sh BITWELL
set -u
bitwell=$1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
failures=0

fail() {
  echo "FAILED: $*"
  failures=$((failures + 1))
}
# expect STATUS 'part of the output' COMMAND...
expect() {
  local status=$1 part=$2
  shift 2
  local text
  text=$(timeout 100 "$@" 2>&1)
  local got=$?
  if [ $got -ne "$status" ] || [[ "$text" != *"$part"* ]]; then
    fail "$* exits with $got (expected $status), says: ${text:0:600}"
  fi
}
# floats FILE.npy: the numbers of a file of f4.
floats() { tail -c +129 "$1" | od -An -v -tf4 -w4 | tr -d ' ' | tr '\n' ' '; }
# npy FILE TYPE NUMBER...: a file of one dimension; TYPE as Python's struct has it.
npy() {
  python3 - "$@" <<'P'
import struct, sys
path, kind, numbers = sys.argv[1], sys.argv[2], sys.argv[3:]
header = "{'descr': '<%s', 'fortran_order': False, 'shape': (%d,), }" % ({"f": "f4", "d": "f8", "i": "i4"}[kind], len(numbers))
header += " " * (117 - len(header)) + "\n"
data = b"".join(struct.pack("<" + kind, float(n) if kind != "i" else int(n)) for n in numbers)
open(path, "wb").write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode() + data)
P
}

# out[i] = a * table[1][i] + scale, and each thread counts.
cat > k.ptx <<'P'
.version 9.0
.target sm_90a
.address_size 64
.const .align 4 .f32 scale;
.global .align 4 .u32 counter;
.visible .entry _Z5apply6Params(.param .align 8 .b8 p[24])
.maxntid 4
{
  .reg .b32 %r<4>; .reg .f32 %f<4>; .reg .b64 %rd<9>;
  ld.param.u64 %rd0, [p];
  ld.param.f32 %f0, [p+8];
  ld.param.u64 %rd1, [p+16];
  cvta.to.global.u64 %rd2, %rd0;
  cvta.to.global.u64 %rd3, %rd1;
  ld.global.u64 %rd4, [%rd3+8];
  mov.u32 %r0, %tid.x;
  mul.wide.u32 %rd5, %r0, 4;
  add.u64 %rd6, %rd4, %rd5;
  add.u64 %rd7, %rd2, %rd5;
  ld.global.f32 %f1, [%rd6];
  ld.const.f32 %f2, [scale];
  fma.rn.f32 %f3, %f0, %f1, %f2;
  st.global.f32 [%rd7], %f3;
  atom.global.add.u32 %r1, [counter], 1;
  ret;
}
.visible .entry _Z5otherv() { ret; }
P
launch() { # launch ENTRY 'more of out' 'variables': writes l.json
  cat > l.json <<J
{"//": "a comment", "ptx": "k.ptx", "entry": "$1", "block": [4],
 "buffers": [{"buffer": "table", "zeros": 16, "fields": [{"at": 8, "pointer": "x", "offset": 4}]},
             {"buffer": "x", "values": [9, 1, 2, 3, 4], "format": "f32", "read_only": true},
             {"buffer": "out", "unwritten": 16, "dtype": "f4", "output": "out.npy"$2}],
 "arguments": [{"struct": [{"at": 0, "pointer": "out"}, {"at": 8, "type": "f32", "value": 2},
                           {"at": 16, "pointer": "table"}], "size": 24}],
 "variables": [$3]}
J
}
scale='{"variable": "scale", "values": [0.5], "format": "f32"}'
launch _Z5apply6Params "" "$scale, {\"variable\": \"counter\", \"output\": \"counter.npy\", \"dtype\": \"u4\"}"
expect 0 "all checks on" "$bitwell" run l.json
[ "$(floats out.npy)" = "2.5 4.5 6.5 8.5 " ] || fail "out.npy holds $(floats out.npy)"
[ "$(tail -c 4 counter.npy | od -An -tu4 | tr -d ' ')" = 4 ] || fail "the counter was not read back"
# Entries by a part of the name, or as it was written in C++; of several parts, by none.
for entry in apply 'apply(Params)' 5app; do
  launch "$entry" "" "$scale"
  expect 0 "all checks on" "$bitwell" run l.json
done
launch _Z "" "$scale"
expect 2 "entry '_Z' may be any of 2: _Z5apply6Params, _Z5otherv" "$bitwell" run l.json --verbose
# Names of templates are shortened in what commands say, and whole with --verbose.
long=_Z4gemmILi128ELi128ELi64ELi3ELi4ELi5ELi6ELi7ELi8ELi9ELi10EEvPf
printf '.version 9.0\n.target sm_90a\n.address_size 64\n.visible .entry %s(.param .b8 p[40000]) { ret; }\n' $long > long.ptx
expect 2 "the parameters of entry 'void gemm<...>(float*)' take 40000 bytes" "$bitwell" check long.ptx
expect 2 "the parameters of entry '$long' take 40000 bytes" "$bitwell" check long.ptx --verbose
expect 2 "$long" "$bitwell" check long.ptx --json
# Names that nothing demangles keep their beginning and their end: those of Python's kernels hold all their types.
python=kernel_cutlass_kernel___main__GemmKernel_object_at__$(printf 'TiledMMA_ThrLayoutVMNK11110000_%.0s' $(seq 28))tail_of_the_name
[ ${#python} -gt 900 ] || fail "a name of ${#python} characters"
printf '.version 9.0\n.target sm_90a\n.address_size 64\n.visible .entry %s() { .reg .b64 %%rd; mov.u64 %%rd, 0; ret; }\n' $python > python.ptx
sed 's/ret;/ld.shared.u32 %r, [%rd]; ret;/; s/.reg .b64 %rd;/.reg .b64 %rd; .reg .b32 %r;/' python.ptx > faulty.ptx
in_short() { # in_short WHAT COMMAND...: it says what there is in lines that one can read, and the whole name with --verbose
  local what=$1 text
  shift
  text=$("$@" 2>&1)
  if [[ "$text" != *"kernel_cutlass_kernel___main__GemmKernel_object_...tail_of_the_name"* ]] || [ "$(wc -L <<< "$text")" -gt 300 ]; then fail "$* says of $what: $text"; fi
  [[ "$("$@" --verbose 2>&1)" == *"$python"* ]] || fail "$* --verbose does not say the whole name of $what"
}
echo '{"ptx": "python.ptx", "entry": "'$python'", "arguments": [{"type": "u32", "value": 1}]}' > python.json
in_short "an argument too many" "$bitwell" run python.json
sed -i 's/{"type.*}\]/]/' python.json
in_short "a launch" "$bitwell" run python.json
sed 's/}$/, "then": [{"ptx": "python.ptx", "entry": "kernel_cutlass"}, {"ptx": "faulty.ptx", "entry": "kernel_cutlass"}]}/' python.json > list.json
in_short "a list" "$bitwell" run list.json
printf '.version 9.0\n.target sm_90a\n.address_size 64\n.visible .entry %s(.param .u64 p) { .reg .b64 %%rd; ld.param.u64 %%rd, [p]; st.global.u32 [%%rd], %%tid.x; ret; }\n' $python | sed 's/, %tid.x;/, %r;/; s/.reg .b64/.reg .b32 %r; mov.u32 %r, %tid.x; .reg .b64/' > racy.ptx
echo '{"ptx": "racy.ptx", "entry": "kernel_cutlass", "block": [64], "arguments": [{"buffer": "y", "zeros": 4, "output": "racy.bin"}], "then": [{"ptx": "racy.ptx", "entry": "kernel_cutlass", "block": [64], "arguments": [{"pointer": "y"}]}]}' > racy.json
in_short "a race" "$bitwell" run racy.json --races
sed 's/"entry": "[^"]*"/"entry": "no"/' python.json > none.json
in_short "no such entry" "$bitwell" run none.json
in_short "no such entry" "$bitwell" check python.ptx --entry no
in_short "no such entry" "$bitwell" init python.ptx no
# A variable a is no type of C++.
cat > letters.ptx <<'P'
.version 9.0
.target sm_90a
.address_size 64
.visible .entry f() {
.shared .align 8 .b64 a; .reg .pred %p; .reg .b32 %r;
mov.u32 %r, a; mbarrier.init.shared.b64 [%r], 1;
W: mbarrier.try_wait.parity.shared.b64 %p, [%r], 0;
@!%p bra W;
ret; }
P
echo '{"ptx": "letters.ptx", "entry": "f"}' > letters.json
expect 1 "on mbarrier 'a' (shared address 0)" "$bitwell" run letters.json
sed 's/}$/, "arguments": [{"type": "u32", "value": 1}]}/' letters.json > more.json
expect 2 "entry 'f': takes 0 arguments" "$bitwell" run more.json
# Clusters of more than 8 CTAs: where the launch, the first or a later one, allows them.
sed 's/_Z5otherv/nothing/' k.ptx > wide.ptx
wide() { # wide CLUSTER 'more'
  echo '{"ptx": "wide.ptx", "entry": "nothing", "grid": ['$1'], "cluster": ['$1']'"$2"'}' > wide.json
}
wide 9 ''
expect 2 'has 9 CTAs, the limit is 8; "non_portable_cluster": true makes it 16' "$bitwell" run wide.json
wide 9 ', "non_portable_cluster": false'
expect 2 'the limit is 8; "non_portable_cluster"' "$bitwell" run wide.json
for size in 9 16; do
  wide $size ', "non_portable_cluster": true'
  expect 0 "nothing: " "$bitwell" run wide.json
done
wide 17 ', "non_portable_cluster": true'
expect 2 'has 17 CTAs, the limit is 16' "$bitwell" run wide.json
wide 2 ', "then": [{"entry": "nothing", "grid": [16], "cluster": [4, 4, 1]}]'
sed -i 's/"grid": \[16\]/"grid": [4, 4]/' wide.json
expect 2 'has 16 CTAs, the limit is 8' "$bitwell" run wide.json
sed -i 's/"cluster": \[4/"non_portable_cluster": true, "cluster": [4/' wide.json
expect 0 "nothing: " "$bitwell" run wide.json
# %is_explicit_cluster is a predicate: of clusters that the launch or the kernel asks for, and no number.
explicit() { # explicit DIRECTIVE ', "cluster": CLUSTER' GRID WANTED [REFUSAL]
  cat > explicit.ptx <<P
.version 9.0
.target sm_90a
.address_size 64
.visible .entry k(.param .u64 y) $1 {
.reg .pred %p; .reg .b32 %r; .reg .b64 %d;
ld.param.u64 %d, [y];
mov.pred %p, %is_explicit_cluster;
selp.u32 %r, 1, 2, %p;
st.global.u32 [%d], %r;
ret; }
P
  echo '{"ptx": "explicit.ptx", "entry": "k", "grid": '"$3$2"', "arguments": [{"buffer": "y", "unwritten": 4, "output": "explicit.bin"}]}' > explicit.json
  [ -n "${5:-}" ] && { expect 2 "$5" "$bitwell" run explicit.json; return; }
  expect 0 "k: " "$bitwell" run explicit.json
  [ "$(od -An -tu4 explicit.bin | tr -d ' ')" = "$4" ] || fail "%is_explicit_cluster of '$1', $2: $(od -An -tu4 explicit.bin)"
}
# As an H100 has it, of one CTA too (driver 580).
explicit "" '' "[4, 2, 2]" 2
for cluster in 1 "[1, 1, 1]" "[2, 1, 1]" "[1, 2, 1]" "[1, 1, 2]" "[2, 2, 2]"; do
  explicit "" ', "cluster": '"$cluster" "[4, 2, 2]" 1
  explicit ".explicitcluster" ', "cluster": '"$cluster" "[4, 2, 2]" 1
done
for size in 1 2; do
  explicit ".reqnctapercluster $size" '' "[4, 2, 2]" 1
  explicit ".explicitcluster .reqnctapercluster $size" '' "[4, 2, 2]" 1
  explicit ".reqnctapercluster $size" ', "cluster": '$size "[4, 2, 2]" 1
done
explicit ".reqnctapercluster 2" ', "cluster": 1' "[4, 2, 2]" 0 'asks for clusters of 1 x 1 x 1, .reqnctapercluster wants 2 x 1 x 1'
explicit ".maxclusterrank 1" '' "[4, 2, 2]" 2
explicit ".maxclusterrank 1" ', "cluster": 1' "[4, 2, 2]" 1
explicit ".explicitcluster" '' "[4, 2, 2]" 0 '.explicitcluster wants the launch to say its "cluster"'
"$bitwell" init explicit.ptx | grep -qF '"cluster": null' || fail "init asks for no cluster where .explicitcluster wants one"
sed 's/mov.pred %p, %is_explicit_cluster/mov.u32 %r, %is_explicit_cluster/' explicit.ptx > number.ptx
expect 2 "predicate '%is_explicit_cluster' where .u32 is needed" "$bitwell" check number.ptx
sed 's/st.global/@%is_explicit_cluster st.global/' explicit.ptx > guard.ptx
expect 3 "special register '%is_explicit_cluster' here: move it into a predicate" "$bitwell" check guard.ptx
# Of a file with several entries one alone is checked, with what it calls.
cat > two.ptx <<'P'
.version 9.0
.target sm_100a
.address_size 64
.func helper() { .reg .b32 %r; vadd.u32.u32.u32 %r, %r, %r, %r; ret; }
.visible .entry good() { ret; }
.visible .entry bad() { call helper; ret; }
.visible .entry worse() { .reg .b32 %r; vsub.u32.u32.u32 %r, %r, %r, %r; ret; }
P
expect 3 "vsub" "$bitwell" check two.ptx
expect 0 "1 entry, everything is supported" "$bitwell" check two.ptx --entry good
expect 3 "vadd" "$bitwell" check two.ptx --entry bad
grep -q vsub <<< "$("$bitwell" check two.ptx --entry bad)" && fail "check --entry bad tells of another entry"
expect 2 "no entry 'ugly'" "$bitwell" check two.ptx --entry ugly
launch nothing "" "$scale"
expect 2 "no entry 'nothing'" "$bitwell" run l.json
# A constant that nobody gives a value is 0, and said to be; a value for a variable that is not there.
launch apply "" ""
expect 0 "__constant__ 'scale' was never written: it is 0" "$bitwell" run l.json
launch apply "" '{"variable": "scael", "values": [1], "format": "f32"}'
expect 2 "no variable 'scael'; there are counter, scale" "$bitwell" run l.json
launch apply "" '{"variable": "scale", "values": [1, 2], "format": "f32"}'
expect 2 "has 4 bytes, the launch gives it 8" "$bitwell" run l.json
# A variable stands once, by whatever name.
launch apply "" "$scale, $scale"
expect 2 "variable 'scale' stands twice in the launch: what it holds before and its output go into one" "$bitwell" run l.json
launch apply "" "$scale, {\"variable\": \"scal\", \"output\": \"scale.npy\"}"
expect 2 "variable 'scale' stands twice in the launch, as 'scale' and as 'scal'" "$bitwell" run l.json
# What an output should be.
npy right.npy f 2.5 4.5 6.5 8.5
npy wrong.npy f 2.5 4.50000048 6.5 8
launch apply ', "expected": "right.npy"' "$scale"
expect 0 "out: 4 elements as expected" "$bitwell" run l.json
launch apply ', "expected": "wrong.npy"' "$scale"
expect 1 "out: 2 of 4 elements are not as expected, the first at [1]: 4.5, expected 4.50000048" "$bitwell" run l.json
expect 1 "where i mod 2 is 1: all of them" "$bitwell" run l.json
expect 1 "off by 1 ULP: 1, " "$bitwell" run l.json
launch apply ', "expected": "wrong.npy", "tolerance": {"ulp": 1}' "$scale"
expect 1 "out: 1 of 4 elements are not as expected, the first at [3]: 8.5, expected 8" "$bitwell" run l.json
launch apply ', "expected": "wrong.npy", "tolerance": {"rtol": 0.0625}' "$scale"
expect 0 "out: 4 elements as expected" "$bitwell" run l.json
launch apply ', "expected": "wrong.npy", "tolerance": {"atol": 0.49}' "$scale"
expect 1 "out: 1 of 4 elements" "$bitwell" run l.json
npy short.npy f 1 2 3
launch apply ', "expected": "short.npy"' "$scale"
expect 2 "'short.npy' has 3 elements, the output has 4" "$bitwell" run l.json
# NaNs, by their bits where that is asked for; and where wrong elements of several coordinates are.
cat > nan.ptx <<'P'
.version 9.0
.target sm_90a
.address_size 64
.visible .entry nan(.param .u64 out) {
  .reg .b64 %rd<3>; .reg .b32 %r<3>; .reg .pred %p;
  ld.param.u64 %rd0, [out]; mov.u32 %r0, %tid.x; mul.wide.u32 %rd1, %r0, 4; add.u64 %rd1, %rd0, %rd1;
  setp.lt.u32 %p, %r0, 8; selp.b32 %r1, 0x7fffffff, 0, %p; st.global.u32 [%rd1], %r1; ret; }
P
nan() { # nan EXPECTED TOLERANCE
  cat > nan.json <<J
{"ptx": "nan.ptx", "entry": "nan", "block": [16], "arguments": [{"buffer": "out", "unwritten": 64, "dtype": "f4",
 "shape": [2, 2, 4], "expected": "$1"$2}]}
J
}
python3 - <<'P'
import struct
def save(name, dtype, data):
    head = "{'descr': '<%s', 'fortran_order': False, 'shape': (16,), }" % dtype
    head += ' ' * (117 - len(head)) + '\n'
    open(name, 'wb').write(b'\x93NUMPY\x01\x00' + struct.pack('<H', 118) + head.encode() + data)
save('quiet.npy', 'f4', struct.pack('<16I', *[0x7fffffff] * 7, 0x7fc00000, *[0] * 8))
save('zeros.npy', 'f4', bytes(64))
save('wide.npy', 'f8', bytes(128))
P
nan quiet.npy ""
expect 0 "out: 16 elements as expected" "$bitwell" run nan.json
nan quiet.npy ', "tolerance": {"ulp": 3, "nan": "bits"}'
expect 1 "1 of 16 elements are not as expected, the first at [0, 1, 3]: NaN 0x7fffffff, expected NaN 0x7fc00000" "$bitwell" run nan.json
expect 1 "where coordinate 0 is 0, m is 1, n is 3: all of them" "$bitwell" run nan.json
nan zeros.npy ""
expect 1 "where coordinate 0 is 0: all of them" "$bitwell" run nan.json
nan wide.npy ', "tolerance": {"nan": "bits"}'
expect 2 "only where 'wide.npy' has the output's own type, f4, not f8" "$bitwell" run nan.json
nan zeros.npy ', "tolerance": {"nan": "payload"}'
expect 2 "tolerance: nan 'payload' is not one of any, bits" "$bitwell" run nan.json
# Where wrong elements are: a warp's lanes of tensor memory, of one tile and of several, and columns of each tile.
cat > count.ptx <<'P'
.version 9.0
.target sm_90a
.address_size 64
.visible .entry count(.param .u64 out) {
  .reg .b64 %rd<3>; .reg .b32 %r<3>;
  ld.param.u64 %rd0, [out]; mov.u32 %r0, %tid.x; mul.wide.u32 %rd1, %r0, 4; add.u64 %rd1, %rd0, %rd1;
  st.global.u32 [%rd1], %r0; ret; }
P
places() { # places ROWS COLUMNS 'whether (m, n) is wrong'
  python3 - "$@" <<'P'
import struct, sys
rows, columns, wrong = int(sys.argv[1]), int(sys.argv[2]), eval("lambda m, n: " + sys.argv[3])
numbers = [m * columns + n + wrong(m, n) for m in range(rows) for n in range(columns)]
head = "{'descr': '<i4', 'fortran_order': False, 'shape': (%d,), }" % len(numbers)
head += ' ' * (117 - len(head)) + '\n'
open("places.npy", "wb").write(b'\x93NUMPY\x01\x00' + struct.pack('<H', 118) + head.encode() + struct.pack("<%di" % len(numbers), *numbers))
P
  echo "{\"ptx\": \"count.ptx\", \"entry\": \"count\", \"block\": [$(($1 * $2))], \"arguments\": [{\"buffer\": \"out\", \"unwritten\": $((4 * $1 * $2))," \
    "\"dtype\": \"i4\", \"shape\": [$1, $2], \"expected\": \"places.npy\"}]}" > places.json
}
places 128 4 "32 <= m < 64"
expect 1 "where m is 32 to 63 (a quarter of 128 lanes): all of them" "$bitwell" run places.json
places 256 4 "m % 128 >= 96"
expect 1 "where m mod 128 is 96 to 127 (a quarter of 128 lanes): all of them" "$bitwell" run places.json
places 2 256 "n % 64 < 3"
expect 1 "where n mod 64 is 0 to 2: all of them" "$bitwell" run places.json
places 256 4 "m >= 128 and n >= 2"
expect 1 "where m is 128 to 255, n is 2 to 3: all of them" "$bitwell" run places.json
# Structures and fields that do not fit.
launch apply "" "$scale"
sed -i 's/"size": 24/"size": 16/' l.json
expect 2 "bytes 16 to 23 are beyond the 16 that there are" "$bitwell" run l.json
launch apply "" "$scale"
sed -i 's/, "size": 24/, "size": 32/' l.json
expect 2 "has 24 bytes, the launch gives 32" "$bitwell" run l.json
launch apply "" "$scale"
sed -i 's/"pointer": "table"/"pointer": "tabel"/' l.json
expect 2 "no buffer 'tabel'" "$bitwell" run l.json
# Formats of a nibble and a byte: packed, and read back as numbers.
cat > copy.ptx <<'P'
.version 9.0
.target sm_90a
.address_size 64
.visible .entry copy(.param .u64 from, .param .u64 to) {
  .reg .b64 %rd<3>; .reg .b32 %r<2>;
  ld.param.u64 %rd0, [from]; ld.param.u64 %rd1, [to];
  ld.global.u32 %r0, [%rd0]; st.global.u32 [%rd1], %r0; ret; }
P
formats() { # formats FORMAT 'numbers'
  cat > f.json <<J
{"ptx": "copy.ptx", "entry": "copy",
 "arguments": [{"buffer": "from", "values": [$2], "format": "$1"},
               {"buffer": "to", "unwritten": 4, "format": "$1", "output": "to.npy"}]}
J
}
formats e2m1 "0.5, -6, 1.2, 100, 0, 1, 2, 3"
expect 0 "all checks on" "$bitwell" run f.json
[ "$(floats to.npy)" = "0.5 -6 1 6 0 1 2 3 " ] || fail "fp4: $(floats to.npy)"
formats e4m3 "0.5, -448, 1.2, 1000"
expect 0 "all checks on" "$bitwell" run f.json
[ "$(floats to.npy)" = "0.5 -448 1.25 448 " ] || fail "fp8: $(floats to.npy)"
formats bf16 "1, 3.140625"
expect 0 "all checks on" "$bitwell" run f.json
[ "$(floats to.npy)" = "1 3.140625 " ] || fail "bf16: $(floats to.npy)"
formats e2m1 "1, 2, 3"
expect 2 "3 elements of e2m1 fill no whole bytes" "$bitwell" run f.json
formats fp4 "1, 2"
expect 2 "format 'fp4' is not one of e2m1" "$bitwell" run f.json
# Integers are off by a number, not by units in the last place.
npy five.npy i 5
cat > whole.json <<'J'
{"ptx": "copy.ptx", "entry": "copy", "arguments": [{"buffer": "from", "generate": {"kind": "iota_u32", "bytes": 4}},
 {"buffer": "to", "unwritten": 4, "dtype": "i4", "expected": "five.npy"}]}
J
expect 1 "off by 4 to 7: 1" "$bitwell" run whole.json
expect 1 '"2^2": 1' "$bitwell" run whole.json --json
# At an address of one's own, which the kernel may know.
formats f32 "7"
sed -i 's/"buffer": "from"/"address": 35184372088833, "buffer": "from"/' f.json
expect 2 "not a multiple of 256" "$bitwell" run f.json
sed -i 's/35184372088833/35184372088832/' f.json
expect 0 "all checks on" "$bitwell" run f.json
# The file that init writes runs when null is filled in, and not before.
expect 0 '"entry": "_Z5apply6Params"' "$bitwell" init k.ptx apply
expect 0 'apply(Params): fill in what is null' "$bitwell" init k.ptx apply
"$bitwell" init k.ptx apply --out made.json || fail "init"
expect 2 "'made.json': 5 values are still to be filled in, where null stands: at /arguments/0/struct/1/value, /buffers/0/zeros, /buffers/1/zeros, /grid and 1 more" "$bitwell" run made.json
expect 2 "--out: 'made.json' is there already; --force replaces it" "$bitwell" init k.ptx apply --out made.json
expect 0 "" "$bitwell" init k.ptx apply --out made.json --force
cat > meet.ptx <<P
.version 8.7
.target sm_90a
.address_size 64
.visible .entry meet()
{
.reg .b32 %r<2>;
mov.u32 %r0, %envreg2;
ret;
}
P
expect 0 '"cooperative": true' "$bitwell" init meet.ptx
grep -q cooperative <<< "$("$bitwell" init copy.ptx)" && fail "init takes any entry for a cooperative one"
grep -q '"pointer": "p0_0"' made.json || fail "init does not see the pointer in the structure: $(cat made.json)"
expect 2 "'k.ptx': it has 2 entries, say which: apply(Params), other()" "$bitwell" init k.ptx
expect 2 "say which: _Z5apply6Params, _Z5otherv" "$bitwell" init k.ptx --verbose
# What the C++ types say: const is read-only, formats and types of elements, int is s32; and what the instructions show.
cat > typed.ptx <<'P'
.version 9.0
.target sm_90a
.address_size 64
.visible .entry _Z5typedPKfPfiPK13__nv_bfloat16Ph(.param .u64 a, .param .u64 b, .param .u32 n, .param .u64 c, .param .u64 d) { ret; }
.visible .entry plain(.param .u64 from, .param .u64 to, .param .f32 factor) {
.reg .b64 %rd<3>; .reg .f32 %f<3>;
ld.param.u64 %rd0, [from]; ld.param.u64 %rd1, [to]; ld.param.f32 %f1, [factor];
ld.global.f32 %f0, [%rd0]; mul.f32 %f0, %f0, %f1; st.global.f32 [%rd1], %f0; ret; }
P
inits() { # inits ENTRY 'part of one argument', without spaces
  "$bitwell" init typed.ptx "$1" | tr -d ' \n' | grep -qF "$2" || fail "init $1 does not say $2: $("$bitwell" init typed.ptx "$1")"
}
inits typed '"buffer":"p0","npy":null,"read_only":true,"//":"floatconst*,aninput:afileoff4'
inits typed '"buffer":"p1","zeros":null,"dtype":"f4","output":"p1.npy"'
inits typed '"type":"s32","value":null,"//":"int"'
inits typed '"buffer":"p3","npy":null,"format":"bf16","read_only":true'
inits typed '"buffer":"p4","zeros":null,"dtype":"u1","output":"p4.npy"'
inits plain '"buffer":"p0","npy":null,"read_only":true'
inits plain '"buffer":"p1","zeros":null,"dtype":"f4","output":"p1.npy"'
inits plain '"type":"f32","value":null'
# Triton 3.9's parameters behind the kernel's own; the CuTe DSL 4.8.1's tensors, whose types are in the kernel's name.
cat > axpy.ptx <<'P'
//
// Generated by LLVM NVPTX Back-End
//
.version 9.0
.target sm_90a
.address_size 64
.visible .entry axpy(.param .u64 .ptr .global .align 1 axpy_param_0, .param .u64 .ptr .global .align 1 axpy_param_1, .param .u32 axpy_param_2,
  .param .u64 .ptr .global .align 1 axpy_param_3, .param .u64 .ptr .global .align 1 axpy_param_4)
{ .reg .b32 %r<2>; .reg .b64 %rd<2>;
ld.param.b64 %rd0, [axpy_param_0]; ld.param.b64 %rd1, [axpy_param_1]; ld.param.b32 %r1, [axpy_param_2];
ld.global.b32 { %r0 }, [ %rd0 + 0 ]; st.global.b32 [ %rd1 + 0 ], { %r0 }; ret; }
.file 1 "axpy.py"
P
cute=kernel_cutlass_kernel_tensorptrf32gmemalign16o1281_tensorptrbf16gmemalign16o1281___0
cat > cute.ptx <<P
.version 8.8
.target sm_90a
.address_size 64
.visible .entry $cute(.param .align 8 .b8 ${cute}_param_0[8], .param .align 8 .b8 ${cute}_param_1[8], .param .align 1 .b8 ${cute}_param_2[3])
{ .reg .b32 %r; .reg .b64 %rd<3>;
ld.param.b64 %rd1, [${cute}_param_0]; ld.param.b64 %rd2, [${cute}_param_1];
ld.global.b32 %r, [%rd1]; st.global.b32 [%rd2], %r; ret; }
P
cp axpy.ptx typed.ptx
inits axpy '"buffer":"p0","npy":null,"read_only":true'
inits axpy '"buffer":"global_scratch","zeros":16,"//":"Triton'
inits axpy '"buffer":"profile_scratch","zeros":16'
cp cute.ptx typed.ptx
inits "$cute" '"buffer":"p0","npy":null,"read_only":true,"//":"atensoroff32,aninput:afileoff4'
inits "$cute" '"buffer":"p1","zeros":null,"format":"bf16","output":"p1.npy"'
inits "$cute" '"bytes":"000000","//":"thekerneldoesnotreadthisparameter"'
# What is no PTX.
printf '\177ELF\2' > kernel.ptx
expect 2 "'kernel.ptx' is machine code (a cubin, an object file or a program), not PTX: make it by nvcc -ptx" "$bitwell" check kernel.ptx
launch apply "" "$scale"
sed 's/k.ptx/kernel.ptx/' l.json > elf.json
expect 2 "cuobjdump -ptx kernel.ptx" "$bitwell" run elf.json
echo '__global__ void k() {}' > kernel.cu
expect 2 "'kernel.cu' is CUDA C++, not PTX" "$bitwell" init kernel.cu
sed 's/"expected"/"expcted"/; s/"output": "out.npy"/"output": "out.npy", "expcted": "right.npy"/' l.json > near.json
expect 2 "unknown field 'expcted' in buffer 2 ('out'); did you mean 'expected'?" "$bitwell" run near.json
expect 0 '"block": [4]' bash -c "tr -d ' \n' < made.json | sed 's/:\[/: [/g'"
"$bitwell" init copy.ptx --out copy.json || fail "init of copy"
sed -i 's/"npy": null/"zeros": 16/; s/"zeros": null/"zeros": 16/; s/"grid": null/"grid": 1/; s/"block": null/"block": 32/' copy.json
expect 0 "all checks on" "$bitwell" run copy.json
# What follows on the same buffers: a fill, a copy, the same entry again (its counter goes on), another module.
launch apply "" "$scale, {\"variable\": \"counter\", \"output\": \"counter.npy\", \"dtype\": \"u4\"}"
python3 - <<'P'
import json
j = json.load(open("l.json"))
j["buffers"].append({"buffer": "word", "unwritten": 16, "dtype": "f4", "output": "word.npy"})
j["then"] = [{"copy": {"from": "x", "from_offset": 4, "to": "word"  , "bytes": 16}},
             {"entry": "apply", "block": [4], "arguments": j["arguments"]},
             {"fill": {"buffer": "out", "offset": 4, "bytes": 4, "value": 0}},
             {"ptx": "copy.ptx", "entry": "copy", "arguments": [{"pointer": "out", "offset": 8}, {"pointer": "word"}]}]
json.dump(j, open("l.json", "w"))
P
expect 0 "all checks on" "$bitwell" run l.json
[ "$(floats out.npy)" = "2.5 0 6.5 8.5 " ] || fail "after the fill: $(floats out.npy)"
[ "$(floats word.npy)" = "6.5 2 3 4 " ] || fail "after the copies: $(floats word.npy)"
[ "$(tail -c 4 counter.npy | od -An -tu4 | tr -d ' ')" = 8 ] || fail "the counter did not go on"
sed -i 's/"from_offset": 4/"from_offset": 8/' l.json
expect 2 "16 bytes at 8 of 'x', which has 20" "$bitwell" run l.json
# Structures in structures, raw bytes, and tensor maps in a structure and in a buffer, as grouped GEMMs keep them.
cat > maps.ptx <<'P'
.version 9.0
.target sm_90a
.address_size 64
.visible .entry maps(.param .align 64 .b8 p[256], .param .b64 raw)
{
.reg .pred %p; .reg .b32 %r<6>; .reg .b64 %d<6>;
.shared .align 128 .b8 tile[256]; .shared .align 8 .b64 bar;
mov.u32 %r0, tile; mov.u32 %r1, bar;
mbarrier.init.shared.b64 [%r1], 1;
fence.proxy.async;
mbarrier.arrive.expect_tx.shared.b64 _, [%r1], 64;
mov.b64 %d0, p; cvta.param.u64 %d0, %d0; add.u64 %d0, %d0, 64;
ld.param.u64 %d1, [p+8];
mov.u32 %r2, 0;
cp.async.bulk.tensor.1d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%r0], [%d0, {%r2}], [%r1];
cp.async.bulk.tensor.1d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%r0+128], [%d1, {%r2}], [%r1];
W: mbarrier.try_wait.parity.shared.b64 %p, [%r1], 0;
@!%p bra W;
ld.param.u64 %d2, [p+192]; ld.param.u32 %r5, [p+204];
ld.shared.u32 %r3, [tile]; ld.shared.u32 %r4, [tile+132];
st.global.v2.u32 [%d2], {%r3, %r4};
ld.param.u64 %d3, [raw];
st.global.u32 [%d2+8], %r5;
cvt.u32.u64 %r3, %d3; st.global.u32 [%d2+12], %r3;
ret;
}
P
cat > maps.json <<'J'
{"ptx": "maps.ptx", "entry": "maps",
 "buffers": [{"buffer": "a", "generate": {"kind": "iota_u32", "bytes": 64}}, {"buffer": "b", "generate": {"kind": "iota_u32", "bytes": 64}},
  {"buffer": "descriptors", "zeros": 256, "fields": [{"at": 128, "tensor_map": "b", "type": "u32", "dims": [16], "box": [8]}]},
  {"buffer": "out", "unwritten": 16, "output": "out.bin"}],
 "arguments": [{"struct": [{"at": 8, "pointer": "descriptors", "offset": 128},
    {"at": 64, "tensor_map": "a", "type": "u32", "dims": [16], "box": [8]},
    {"at": 192, "struct": [{"at": 0, "pointer": "out"}, {"at": 8, "struct": [{"at": 4, "type": "s32", "value": -7}]}]}], "size": 256},
  {"bytes": "0102030405060708"}]}
J
expect 0 "all checks on" "$bitwell" run maps.json
# Fields that share a byte: of a structure, of one in it, of a buffer; beside each other they are two.
overlapping() { # overlapping 'the refusal' SED-EXPRESSION
  sed "$2" maps.json > bad.json
  expect 2 "'bad.json': $1" "$bitwell" run bad.json
}
for at in 1 7 8 15; do overlapping "argument 0, field 1: its bytes $at to $((at + 127)) overlap those of field 0" 's/"at": 64/"at": '$at'/'; done
overlapping "argument 0, field 2: its bytes 192 to 207 overlap those of field 1" 's/"at": 64/"at": 66/'
overlapping "argument 0, field 2, field 1: its bytes 7 to 14 overlap those of field 0" 's/"at": 8, "struct"/"at": 7, "struct"/'
for at in 121 128 255; do
  overlapping "buffer 2 ('descriptors'), field 1: its bytes 128 to 255 overlap those of field 0" \
    's/"fields": \[/&{"at": '$at', "bytes": "'"$(printf '00%.0s' $(seq $((at == 255 ? 1 : 8))))"'"}, /'
done
sed 's/"fields": \[/&{"at": 120, "bytes": "0011223344556677"}, /' maps.json > beside.json
expect 0 "all checks on" "$bitwell" run beside.json
[ "$(od -An -tx4 out.bin)" = " 00000000 00000001 fffffff9 04030201" ] || fail "maps leaves $(od -An -tx4 out.bin)"
# A texture is read, a surface written; init sees both.
cat > image.ptx <<'P'
.version 9.0
.target sm_90a
.address_size 64
.visible .entry left(.param .u64 from, .param .u64 to) {
.reg .b32 %r<6>; .reg .b64 %d<2>; .reg .f32 %f;
ld.param.u64 %d0, [from]; ld.param.u64 %d1, [to]; mov.u32 %r0, %tid.x; cvt.rn.f32.u32 %f, %r0; add.f32 %f, %f, 0f3F800000;
tex.1d.v4.u32.f32 {%r1, %r2, %r3, %r4}, [%d0, {%f}]; sust.b.1d.b8.trap [%d1, {%r0}], {%r1}; ret; }
P
printf '\1\2\3\4' > a.bin
cat > image.json <<'J'
{"ptx": "image.ptx", "entry": "left", "grid": [1], "block": [4],
 "buffers": [{"buffer": "a", "bin": "a.bin"}, {"buffer": "b", "unwritten": 4, "output": "b.bin"}],
 "textures": [{"texture": "a", "over": "a", "format": "u8", "width": 4, "address": "border"},
              {"texture": "b", "over": "b", "format": "u8", "width": 4}],
 "arguments": [{"texture": "a"}, {"surface": "b"}]}
J
expect 0 "all checks on" "$bitwell" run image.json
[ "$(od -An -tu1 b.bin | tr -s ' ')" = " 2 3 4 0" ] || fail "the surface has $(od -An -tu1 b.bin)"
sed 's/"border"/"edge"/' image.json > edge.json
expect 2 "texture 0: address 'edge' is not one of wrap, clamp, mirror, border" "$bitwell" run edge.json
sed 's/"border"/"border", "filter": "linear"/' image.json > linear.json
expect 3 "tex of 'a': linear filtering" "$bitwell" run linear.json
expect 0 '"surface": "p1"' "$bitwell" init image.ptx
expect 0 '"texture": "p0"' "$bitwell" init image.ptx
# Launches that overlap: without its wait the second reads what the first has not written yet.
cat > overlap.ptx <<'P'
.version 9.0
.target sm_90a
.address_size 64
.visible .entry first(.param .u64 .ptr .global x) { .reg .b64 %d; ld.param.u64 %d, [x]; griddepcontrol.launch_dependents;
st.global.u32 [%d], 7; ret; }
.visible .entry second(.param .u64 .ptr .global x) { .reg .b64 %d; .reg .b32 %r; ld.param.u64 %d, [x];
griddepcontrol.wait; ld.global.u32 %r, [%d]; st.global.u32 [%d+4], %r; ret; }
P
cat > overlap.json <<'J'
{"ptx": "overlap.ptx", "entry": "first", "grid": [1], "block": [1], "arguments": [{"buffer": "x", "zeros": 8, "output": "x.bin"}],
 "then": [{"entry": "second", "grid": [1], "block": [1], "programmatic_stream_serialization": true, "arguments": [{"pointer": "x"}]}]}
J
expect 0 "" "$bitwell" run overlap.json --schedules 8
sed -i 's/griddepcontrol.wait;//' overlap.ptx
expect 1 "" "$bitwell" run overlap.json --schedules 8
# A cooperative launch is refused where it does not fit.
sed -i 's/"entry"/"cooperative": true, "entry"/' copy.json
expect 0 "all checks on" "$bitwell" run copy.json
python3 - <<'P'
import json
j = json.load(open("copy.json"))
j["grid"] = [5000]
j["block"] = [1024]
json.dump(j, open("copy.json", "w"))
P
expect 2 "a cooperative launch of 5000 CTAs, of which 264 are resident at once at most (limited by threads; registers, which PTX does not tell, may allow fewer)" "$bitwell" run copy.json
# CTAs that meet: as many as are resident, and with --resident fewer than that, a deadlock that says who could not start.
cat > meet.ptx <<'P'
.version 9.0
.target sm_90a
.address_size 64
.visible .entry meet(.param .u64 count) {
  .reg .b64 %d; .reg .b32 %r<3>; .reg .pred %p;
  ld.param.u64 %d, [count];
  atom.add.release.gpu.global.u32 %r0, [%d], 1;
W: ld.acquire.gpu.global.u32 %r1, [%d]; setp.lt.u32 %p, %r1, 4; @%p bra W;
  ret; }
P
echo '{"ptx": "meet.ptx", "entry": "meet", "grid": [4], "block": [1], "arguments": [{"buffer": "count", "zeros": 4, "output": "count.bin"}]}' > meet.json
expect 0 "4 of 4 clusters at once" "$bitwell" run meet.json -v
expect 1 "it may wait for CTA (2,0,0) or a later one, which starts only when a resident cluster ends" "$bitwell" run meet.json --resident 2
sed 's/"entry"/"cooperative": true, "entry"/' meet.json > together.json
expect 0 "4 of 4 clusters at once" "$bitwell" run together.json
expect 2 "a cooperative launch of 4 CTAs, of which 2 are resident at once (as asked for): a driver refuses it too" "$bitwell" run together.json --resident 2
# Notes: what devices take, and the manual does not promise.
cat > notes.ptx <<'P'
.version 9.0
.target sm_100a
.address_size 64
.visible .entry notes() {
  .reg .b32 %r<4>; .reg .pred %p<3>;
  .shared .align 8 .b64 bar; .shared .align 4 .b32 slot;
  mov.u32 %r0, %tid.x; setp.eq.u32 %p0, %r0, 0;
  tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [slot], 32;
  @%p0 mbarrier.init.shared.b64 [bar], 1;
  bar.sync 0;
  @%p0 tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [bar];
W: mbarrier.try_wait.parity.shared.b64 %p1, [bar], 0;
  @!%p1 bra W;
  //FENCE
  ld.shared.u32 %r1, [slot];
  tcgen05.st.sync.aligned.32x32b.x1.b32 [%r1], {%r0};
  tcgen05.wait::st.sync.aligned;
  tcgen05.dealloc.cta_group::1.sync.aligned.b32 %r1, 32;
  tcgen05.relinquish_alloc_permit.cta_group::1.sync.aligned;
  ret;
}
P
echo '{"ptx": "notes.ptx", "entry": "notes", "block": [32]}' > notes.json
expect 0 "note: PTX line 11, CTA (0,0,0), thread (0,0,0): tcgen05.commit by a thread that has issued nothing" "$bitwell" run notes.json
expect 0 "tcgen05.st after a wait for a tcgen05.commit, and no tcgen05.fence::after_thread_sync; the manual" "$bitwell" run notes.json
expect 1 "fault: PTX line 11" "$bitwell" run notes.json --strict
sed -i 's,//FENCE,tcgen05.fence::after_thread_sync;,' notes.ptx
grep -q "after a wait" <<< "$(timeout 100 "$bitwell" run notes.json)" && fail "a fence is not seen"
# Without a GPU.
if [ ! -e /dev/nvidia0 ]; then
  expect 2 "--device: no GPU to run on: " "$bitwell" run f.json --device
fi
[ $failures -eq 0 ] || exit 1
echo "all held"
