#!/usr/bin/env bash
# A fault in inline assembly of several lines, as nvcc compiles it with -lineinfo, names the line that nvcc gives the block, and code
# behind it its own. Usage: inline_assembly_test.sh BITWELL NVCC
set -u
bitwell=$1 nvcc=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
failures=0
cat > block.cu <<'C'
__device__ __forceinline__ void store(unsigned* to, unsigned value) {
  asm volatile(
      "{\n\t"
      ".reg .b64 at;\n\t"
      ".reg .b32 twice;\n\t"
      "add.u32 twice, %1, %1;\n\t"
      "cvta.to.global.u64 at, %0;\n\t"
      "st.global.u32 [at], twice;\n\t"
      "st.global.u32 [at+16], twice;\n\t"
      "}"
      :
      : "l"(to), "r"(value)
      : "memory");
}
extern "C" __global__ void block(unsigned* to, int behind) {
  to[1] = 1;
  asm volatile("add.u32 %0, %0, 1;\n\tst.global.u32 [%1+8], %0;\n\tst.global.u32 [%1+4096], %0;" : : "r"(behind), "l"(to) : "memory");
  to[2] = 3;
}
extern "C" __global__ void inlined(unsigned* to) {
  to[0] = 1;
  store(to + 2, 5);
  to[3] = 3;
}
extern "C" __global__ void after(unsigned* to, int n) {
  asm volatile("st.global.u32 [%0], 1;\n\tst.global.u32 [%0], 2;\n\tst.global.u32 [%0], 3;" : : "l"(to) : "memory");

  to[n] = 4;
}
C
"$nvcc" -arch=sm_90a -lineinfo -ptx block.cu || exit 1
# line_of 'a part of the source': its number.
line_of() { grep -n -F "$1" block.cu | head -1 | cut -d: -f1; }
# expect ENTRY LINE 'more arguments'
expect() {
  printf '{"ptx": "block.ptx", "entry": "%s", "arguments": [{"buffer": "to", "zeros": 16}%s]}' "$1" "$3" > l.json
  local text
  text=$("$bitwell" run l.json 2>&1)
  [ $? -eq 1 ] && [[ "$text" == *"(block.cu:$2"[,\)]* ]] && return
  echo "FAILED: $1 does not name line $2: ${text:0:400}"
  failures=$((failures + 1))
}
expect block "$(line_of 'add.u32 %0, %0, 1')" ', {"type": "s32", "value": 1}'
expect inlined "$(line_of '"l"(to), "r"(value)')" ''  # nvcc gives a block the line of its operands
expect after "$(line_of 'to[n] = 4')" ', {"type": "s32", "value": 100}'
[ "$failures" -eq 0 ] || exit 1
echo "all held"
