#!/usr/bin/env bash
# What `bitwell run` says of an output that is a product: which piece of k its wrong elements lack, have twice or have of another
# step. The kernel multiplies the steps of k that a table lists. Usage: product_test.sh BITWELL
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
    fail "$* exits with $got (expected $status), says: ${text:0:900}; not: $part"
  fi
}

# c[m][n] = noise[m][n] + the sum, over the table's pairs (i, j), of a[m][i..] * b[n][j..], `width` products each.
cat > steps.ptx <<'P'
.version 9.0
.target sm_90a
.address_size 64
.visible .entry steps(.param .u64 a, .param .u64 b, .param .u64 c, .param .u64 noise, .param .u64 table, .param .u32 count,
                      .param .u32 width, .param .u32 depth) {
  .reg .b64 %a, %b, %c, %x, %t, %p, %q; .reg .b32 %m, %n, %i, %k, %count, %width, %depth, %ka, %kb, %o; .reg .f32 %s, %u, %v;
  .reg .b16 %h; .reg .pred %e;
  ld.param.u64 %a, [a]; ld.param.u64 %b, [b]; ld.param.u64 %c, [c]; ld.param.u64 %x, [noise]; ld.param.u64 %t, [table];
  ld.param.u32 %count, [count]; ld.param.u32 %width, [width]; ld.param.u32 %depth, [depth];
  mov.u32 %m, %ctaid.x; mov.u32 %n, %tid.x; mov.u32 %i, %ntid.x;
  mad.lo.u32 %o, %m, %i, %n; mul.wide.u32 %p, %o, 4; add.u64 %x, %x, %p; ld.global.f32 %s, [%x];
  mul.wide.u32 %p, %o, 2; add.u64 %c, %c, %p;
  mul.lo.u32 %m, %m, %depth; mul.wide.u32 %p, %m, 2; add.u64 %a, %a, %p;
  mul.lo.u32 %n, %n, %depth; mul.wide.u32 %p, %n, 4; add.u64 %b, %b, %p;
  mov.u32 %i, 0;
STEP:
  setp.ge.u32 %e, %i, %count; @%e bra DONE;
  ld.global.v2.u32 {%ka, %kb}, [%t]; add.u64 %t, %t, 8; add.u32 %i, %i, 1; mov.u32 %k, 0;
PRODUCT:
  setp.ge.u32 %e, %k, %width; @%e bra STEP;
  mul.wide.u32 %p, %ka, 2; add.u64 %p, %a, %p; ld.global.b16 %h, [%p]; cvt.f32.f16 %u, %h;
  mul.wide.u32 %q, %kb, 4; add.u64 %q, %b, %q; ld.global.f32 %v, [%q]; fma.rn.f32 %s, %u, %v, %s;
  add.u32 %ka, %ka, 1; add.u32 %kb, %kb, 1; add.u32 %k, %k, 1; bra PRODUCT;
DONE:
  cvt.rn.f16.f32 %h, %s; st.global.b16 [%c], %h; ret; }
P
cat > make.py <<'P'
"""make.py WIDTH 'i,j i,j ...' [NOISE [PRODUCT]]: l.json, over k = 512 in steps of WIDTH, of which the table has those."""
import json, random, struct, sys
M, N, K = 48, 64, 512
def save(name, code, shape, values):
    head = "{'descr': '<%s', 'fortran_order': False, 'shape': %r, }" % ({"e": "f2", "f": "f4", "d": "f8", "I": "u4"}[code], tuple(shape))
    head += " " * (117 - len(head)) + "\n"
    data = b"\x93NUMPY\x01\x00" + struct.pack("<H", 118) + head.encode() + struct.pack("<%d%s" % (len(values), code), *values)
    open(name, "wb").write(data)
random.seed(5)
half = lambda x: struct.unpack("<e", struct.pack("<e", x))[0]
a = [half(random.gauss(0, 1)) for _ in range(M * K)]
b = [random.randrange(-8, 9) / 8 for _ in range(N * K)]
width, table = int(sys.argv[1]), [[int(x) for x in p.split(",")] for p in sys.argv[2].split()]
noise = float(sys.argv[3]) if len(sys.argv) > 3 else 0
product = json.loads(sys.argv[4]) if len(sys.argv) > 4 else {"a": "a", "b": "b"}
save("a.npy", "e", (M, K), a)
save("b.npy", "f", (N, K), b)
save("turned.npy", "f", (K, N), [b[n * K + k] for k in range(K) for n in range(N)])
save("noise.npy", "f", (M, N), [random.gauss(0, noise) if noise and random.random() < 0.5 else 0 for _ in range(M * N)])
rows = [a[m * K:m * K + K] for m in range(M)], [b[n * K:n * K + K] for n in range(N)]
save("c.npy", "d", (M, N), [sum(x * y for x, y in zip(r, c)) for r in rows[0] for c in rows[1]])
save("table.npy", "I", (2 * len(table),), [width * x for p in table for x in p])
json.dump({"ptx": "steps.ptx", "entry": "steps", "grid": [M], "block": [N], "arguments": [
    {"buffer": "a", "npy": "a.npy", "read_only": True}, {"buffer": "b", "npy": "b.npy", "read_only": True},
    {"buffer": "c", "unwritten": 2 * M * N, "dtype": "f2", "expected": "c.npy", "tolerance": {"rtol": 2e-3, "atol": 2e-3}, "product": product},
    {"buffer": "noise", "npy": "noise.npy"}, {"buffer": "table", "npy": "table.npy"},
    {"type": "u32", "value": len(table)}, {"type": "u32", "value": width}, {"type": "u32", "value": K}]}, open("l.json", "w"))
P
make() { python3 make.py "$@" || fail "make.py"; }
run() { timeout 100 "$bitwell" run l.json 2>&1; }

make 64 "0,0 1,1 2,2 3,3 4,4 5,5 6,6 7,7"
expect 0 "c: 3,072 elements as expected" "$bitwell" run l.json
# A step that the loop leaves out, the first, the last; one that it does twice; all behind the middle.
make 64 "0,0 2,2 3,3 4,4 5,5 6,6 7,7"
expect 1 "lack the products of k 64 to 127 (the 2nd of 8 steps of 64)" "$bitwell" run l.json
[[ "$(run)" =~ of\ 3,0[0-9]{2}\ wrong\ elements\ 3,0[0-9]{2}\ lack ]] || fail "not nearly all: $(run)"
expect 1 '"are": "missing"' "$bitwell" run l.json --json
make 32 "0,0 1,1 2,2 3,3 4,4 5,5 6,6 7,7 8,8 9,9 10,10 11,11 12,12 13,13 14,14"
expect 1 "lack the products of k 480 to 511 (the 16th of 16 steps of 32)" "$bitwell" run l.json
make 64 "0,0 1,1 2,2 2,2 3,3 4,4 5,5 6,6 7,7"
expect 1 "have the products of k 128 to 191 twice (the 3rd of 8 steps of 64)" "$bitwell" run l.json
make 64 "0,0 1,1 2,2 3,3 4,4"
expect 1 "lack the products of k 320 to 511"$'\n' "$bitwell" run l.json
# The step before in place of one: of both factors, or of A alone, as a stage that was read too early has it.
make 64 "0,0 1,1 2,2 2,2 4,4 5,5 6,6 7,7"
expect 1 "have, for the products of k 192 to 255, those of k 128 to 191 (the 4th of 8 steps of 64)" "$bitwell" run l.json
make 64 "0,0 1,1 2,2 2,3 4,4 5,5 6,6 7,7"
expect 1 "have, for the products of k 192 to 255, those of A's k 128 to 191 and B's k 192 to 255 (the 4th" "$bitwell" run l.json
# Random errors, and two steps that are apart, are no step of k.
make 64 "0,0 1,1 2,2 3,3 4,4 5,5 6,6 7,7" 3
[[ "$(run)" == *"elements are not as expected"* && "$(run)" != *"of k"* ]] || fail "random errors: $(run)"
make 64 "0,0 2,2 3,3 4,4 6,6 7,7"
[[ "$(run)" == *"elements are not as expected"* && "$(run)" != *"of k"* ]] || fail "two steps: $(run)"
# B as k x n, from a file that is no buffer; what does not fit is refused.
make 64 "0,0 2,2 3,3 4,4 5,5 6,6 7,7" 0 '{"a": "a", "b": "turned.npy"}'
expect 1 "lack the products of k 64 to 127 (the 2nd of 8 steps of 64)" "$bitwell" run l.json
make 64 "0,0" 0 '{"a": "b", "b": "b"}'
expect 2 "product: 'b' is 64 x 512, it must be m x k, m is 48" "$bitwell" run l.json
make 64 "0,0" 0 '{"a": "a", "b": "a"}'
expect 2 "product: 'a' is 48 x 512, it must be n x k or k x n: 64 x 512 or 512 x 64" "$bitwell" run l.json
make 64 "0,0" 0 '{"a": "a", "b": "table"}'
expect 2 "'table' is no matrix but 2" "$bitwell" run l.json
make 64 "0,0" 0 '{"a": "a", "b": "c"}'
expect 2 "'c' has no contents before the launch" "$bitwell" run l.json
make 64 "0,0" 0 '{"a": "a", "b": "x"}'
expect 2 "'x' is not one of a, b, c, noise, table" "$bitwell" run l.json
make 64 "0,0" 0 '{"a": "a", "b": "b", "a_scale": "noise"}'
expect 2 "unknown field 'a_scale'" "$bitwell" run l.json
make 64 "0,0" 0 '{"a": "a", "b": "b", "b_order": "kn"}'
expect 2 "it must be n x k or k x n" "$bitwell" run l.json
make 64 "0,0" 0 '{"a": "a", "b": "b", "b_order": "k"}'
expect 2 "b_order 'k' is not one of nk, kn" "$bitwell" run l.json
[ $failures -eq 0 ] || exit 1
echo "all held"
