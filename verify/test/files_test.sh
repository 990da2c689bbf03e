#!/usr/bin/env bash
# What commands read and write: nothing that a user types destroys a device, an input or an earlier result, and no input is
# read without an end. Usage: files_test.sh BITWELL
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
# expect STATUS 'part of the output' COMMAND...: the command exits with STATUS and says that, on stdout or stderr.
expect() {
  local status=$1 part=$2
  shift 2
  local text
  text=$(timeout 100 "$@" 2>&1)
  local got=$?
  if [ $got -ne "$status" ] || [[ "$text" != *"$part"* ]]; then
    fail "$* exits with $got (expected $status), says: ${text:0:400}"
  fi
}
# holds FILE TEXT: the file has these contents and no other.
holds() { [ "$(cat "$1" 2> /dev/null)" = "$2" ] || fail "'$1' holds $(head -c 100 "$1" 2>&1), not $2"; }
# Before a command: files are full at 1 KiB, or at once.
full=(bash -c 'trap "" XFSZ; ulimit -f 1; exec "$@"' -)
none=(bash -c 'trap "" XFSZ; ulimit -f 0; exec "$@"' -)

cat > add.ptx <<'P'
.version 9.0
.target sm_90a
.address_size 64
.visible .entry addone(.param .u64 px, .param .u64 py)
{
  .reg .b32 %r<4>; .reg .b64 %rd<5>;
  ld.param.u64 %rd0, [px];
  ld.param.u64 %rd1, [py];
  mov.u32 %r1, %tid.x;
  mul.wide.u32 %rd2, %r1, 4;
  add.u64 %rd3, %rd0, %rd2;
  add.u64 %rd4, %rd1, %rd2;
  ld.global.u32 %r2, [%rd3];
  add.u32 %r3, %r2, 1;
  st.global.u32 [%rd4], %r3;
  ret;
}
P
printf '%128s' '' > x.bin
launch() { # launch OUTPUT: writes l.json
  cat > l.json <<J
{"ptx": "add.ptx", "entry": "addone", "block": [32],
 "arguments": [{"buffer": "x", "bin": "x.bin", "read_only": true},
               {"buffer": "y", "unwritten": 128, "output": "$1"}]}
J
}
# What addone makes of x.bin.
right() { [ "$(od -An -v -tx4 -w4 "$1" | sort -u)" = " 20202021" ] || fail "'$1' holds other outputs than the kernel's"; }
small=(study accumulate --most-k 32 --dots 16 --order fused --family gaussian)
cat > spec.json <<'J'
{"name": "small", "shared": [{"name": "A", "per": "stage", "bytes": 1024}]}
J

# Outputs that are no files stay what they are, and get what was written.
launch y.bin
expect 0 "y -> y.bin" "$bitwell" run l.json
right y.bin
mkfifo pipe
through() { # through 'part of what arrives' COMMAND...
  local part=$1
  shift
  rm -f arrived
  timeout 60 cat pipe > arrived 2> /dev/null &
  local reader=$!
  timeout 100 "$@" > said.txt 2>&1 || fail "$* exits with $?, says: $(cat said.txt)"
  [ -p pipe ] || { fail "$* replaced a pipe"; kill $reader; rm -f pipe; mkfifo pipe; }
  wait $reader
  grep -qa "$part" arrived || fail "$*: '$part' does not arrive in the pipe"
}
launch pipe
through '! ' "$bitwell" run l.json
launch y.bin
through traceEvents "$bitwell" run l.json --trace pipe
through '</svg>' "$bitwell" layout sfb-tmem --n 64 --tile 1 --svg pipe
through '</svg>' "$bitwell" budget spec.json --svg pipe
through bitwell-study-accumulate-1 "$bitwell" "${small[@]}" --json pipe
through 'is whole' "$bitwell" "${small[@]}" --csv pipe

if mknod null c 1 3 2> /dev/null && : 2> /dev/null > null; then
  launch null
  expect 0 "y -> null" "$bitwell" run l.json
  [ -c null ] || { fail "a device was replaced by an output"; rm -f null; mknod null c 1 3; }
  expect 0 "y -> null" "$bitwell" run l.json --trace null
  expect 0 "" "$bitwell" layout sfb-tmem --n 64 --tile 1 --svg null
  expect 0 "" "$bitwell" budget spec.json --svg null
  expect 0 "" "$bitwell" "${small[@]}" --json null --csv null
  [ -c null ] || fail "a device was replaced"
else
  echo "no device may be made here: outputs to devices are not tried"
fi

# A link of our own: the machine's /dev/stdout must survive a bitwell that replaces links.
ln -s /proc/self/fd/1 stdout
launch stdout
"$bitwell" run l.json > both.txt || fail "an output to the standard output"
head -c 128 both.txt > y.bin
right y.bin
grep -qa "all checks on" both.txt || fail "what was printed beside an output to the standard output is lost"
"$bitwell" layout sfb-tmem --n 64 --tile 1 --svg stdout > both.txt 2> /dev/null
if ! grep -q "columns of tensor memory" both.txt || ! grep -q "</svg>" both.txt; then fail "a picture to the standard output"; fi
"$bitwell" "${small[@]}" --csv stdout > both.txt
if ! grep -q "is whole" both.txt || ! grep -q "largest, ULP" both.txt; then fail "a CSV to the standard output"; fi
[ -L stdout ] || fail "the link to the standard output was replaced"

# Links are followed.
mkdir -p there
echo old > there/y.bin
ln -s there/y.bin link
launch link
expect 0 "y -> link" "$bitwell" run l.json
[ -L link ] || fail "a link was replaced"
right there/y.bin
for output in "layout sfb-tmem --n 64 --tile 1 --svg" "budget spec.json --svg" "${small[*]} --json" "${small[*]} --csv"; do
  rm -f there/new; ln -sf there/new link
  # shellcheck disable=SC2086
  expect 0 "" "$bitwell" $output link
  if [ ! -L link ] || [ ! -s there/new ]; then fail "$output does not follow a link"; fi
done
ln -sf round link; ln -sf link round
expect 2 "cannot write 'link': Too many levels of symbolic links" "$bitwell" budget spec.json --svg link

# What cannot be written is refused by name, before the work.
mkdir -p folder
python3 -c "import socket; socket.socket(socket.AF_UNIX).bind('socket')"
for output in "layout sfb-tmem --svg" "budget spec.json --svg" "${small[*]} --json" "${small[*]} --csv" "run l.json --trace"; do
  launch y.bin
  # shellcheck disable=SC2086
  expect 2 "cannot write 'folder': it is a folder" "$bitwell" $output folder
  # shellcheck disable=SC2086
  expect 2 "cannot write 'socket': it is a socket" "$bitwell" $output socket
  # shellcheck disable=SC2086
  expect 2 "cannot write 'absent/x'" "$bitwell" $output absent/x
done
if mknod disk b 7 200 2> /dev/null; then
  launch disk
  expect 2 "argument 1: its output: cannot write 'disk': it is a block device" "$bitwell" run l.json
fi
launch absent/y.bin
expect 2 "argument 1: its output: cannot write 'absent/y.bin'" "$bitwell" run l.json --step-limit 1

# No output replaces an input or another output.
cp spec.json kept.json
ln spec.json hard.json
ln -s spec.json soft.json
for same in spec.json ./spec.json "$work/spec.json" hard.json soft.json; do
  expect 2 "would replace" "$bitwell" budget spec.json --svg "$same"
done
cmp spec.json kept.json || fail "a spec was replaced"
expect 2 "--json 'new.csv' would replace 'new.csv', another output" "$bitwell" "${small[@]}" --csv new.csv --json new.csv
expect 2 "would replace './new.csv', another output" "$bitwell" "${small[@]}" --csv ./new.csv --json there/../new.csv
[ ! -e new.csv ] || fail "a refused study leaves a file"
printf '%128s' '' > kept.bin
ln x.bin hard.bin
for same in x.bin hard.bin ./there/../x.bin; do
  launch "$same"
  expect 2 "argument 1: its output '$same' would replace 'x.bin', which this command reads" "$bitwell" run l.json
done
launch y.bin
for same in x.bin hard.bin add.ptx l.json; do
  expect 2 "--trace '$same' would replace" "$bitwell" run l.json --trace "$same"
done
cmp x.bin kept.bin || fail "an input was replaced"
# A baseline is an input too.
"$bitwell" run l.json --races --write-baseline known.json > /dev/null || fail "no baseline is written"
cp known.json kept.json
ln known.json hard.known
for output in --trace --sarif --junit --write-baseline; do
  for same in known.json hard.known; do
    expect 2 "$output '$same' would replace 'known.json', which this command reads" "$bitwell" run l.json --races --baseline known.json $output "$same"
  done
done
launch known.json
expect 2 "argument 1: its output 'known.json' would replace 'known.json', which this command reads" "$bitwell" run l.json --races --baseline known.json
launch y.bin
cmp known.json kept.json || fail "a baseline was replaced"
sed 's/"read_only": true/"output": "twice"/' l.json > two.json
sed -i 's/y.bin/twice/' two.json
expect 2 "another output of this command" "$bitwell" run two.json
expect 2 "the file that the standard output goes to" bash -c "\"$bitwell\" budget spec.json --svg out.txt > out.txt"

# A refused command leaves no file, and one that fails leaves the old one, whole.
expect 2 "cannot write" "$bitwell" "${small[@]}" --json new.json --csv /nowhere/x.csv
expect 2 "cannot write" "$bitwell" "${small[@]}" --csv new.csv --json /nowhere/x.json
launch y.bin
sed 's/\[32\]/[4096]/' l.json > wide.json
expect 2 "block.x is 4096" "$bitwell" run wide.json --trace new.trace
for new in new.json new.csv new.trace; do [ ! -e $new ] || fail "a refused command leaves $new"; done
sed 's/"unwritten": 128/"unwritten": 4096/; s/"bin": "x.bin"/"zeros": 4096/; s/32/1024/' l.json > wide.json
sed 's/"unwritten": 128/"zeros": 131072/; s/"bin": "x.bin"/"zeros": 128/' l.json > large.json
for output in "layout sfb-tmem --n 64 --tile 1 --svg" "budget spec.json --svg" "study accumulate --most-k 64 --dots 16 --json" "run wide.json --trace"; do
  echo old > old
  # shellcheck disable=SC2086
  expect 2 "cannot write 'old': File too large" "${full[@]}" "$bitwell" $output old
  holds old old; rm -f old
  # shellcheck disable=SC2086
  expect 2 "cannot write 'new': File too large" "${full[@]}" "$bitwell" $output new
  [ ! -e new ] || { fail "$output leaves a part of a file"; rm -f new; }
done
echo old > y.bin
expect 2 "cannot write 'y.bin': File too large" "${full[@]}" "$bitwell" run large.json
holds y.bin old
expect 2 "cannot write 'new': File too large" "${none[@]}" "$bitwell" "${small[@]}" --csv new
[ ! -e new ] || fail "a study that cannot write its CSV leaves an empty one"
expect 0 "" "$bitwell" "${small[@]}" --csv points.csv
cp points.csv kept.csv
expect 2 "cannot write 'points.csv': File too large" "${none[@]}" "$bitwell" "${small[@]}" --seed 2 --fresh --csv points.csv
cmp points.csv kept.csv || fail "a study begun afresh on a full disk loses the old points"
expect 2 "cannot write 'long.csv': File too large" "${full[@]}" "$bitwell" study accumulate --most-k 64 --dots 16 --csv long.csv
expect 0 "" "$bitwell" study accumulate --most-k 64 --dots 16 --csv long.csv
"$bitwell" study accumulate --most-k 64 --dots 16 --csv whole.csv > /dev/null
cmp long.csv whole.csv || fail "a study that met a full disk does not go on where it stopped"
left=$(find . -name '*partial*')
[ -z "$left" ] || fail "left behind: $left"
# Nor does one that is stopped, here where its first output is whole and its second waits for a reader.
sed 's/"unwritten": 128, "output": "[^"]*"/"unwritten": 128, "output": "stopped.bin"/; s/"read_only": true/"output": "pipe"/' l.json > stopped.json
for signal in TERM INT HUP; do
  python3 - "$bitwell" $signal <<'P' || fail "SIG$signal leaves a part of a file, or does not end the command"
import glob, os, signal, subprocess, sys, time
number = getattr(signal, "SIG" + sys.argv[2])
signal.signal(number, signal.SIG_DFL)
command = subprocess.Popen([sys.argv[1], "run", "stopped.json"], stdout=subprocess.DEVNULL)
for _ in range(1000):
    if glob.glob("stopped.bin.partial*"): break
    time.sleep(0.01)
assert glob.glob("stopped.bin.partial*"), "no partial file to begin with"
command.send_signal(number)
assert command.wait(60) == -number, command.returncode
assert not glob.glob("*partial*"), glob.glob("*partial*")
assert not os.path.exists("stopped.bin")
P
done
launch mine
echo old > mine; chmod 640 mine
expect 0 "y -> mine" "$bitwell" run l.json
[ "$(stat -c %a mine)" = 640 ] || fail "a replaced file has other permissions"

# A full standard output is no bug, and a reader that left is nothing to talk about.
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
  ret;
}
P
echo '{"ptx": "tells.ptx", "entry": "tells", "block": 1024, "arguments": []}' > tells.json
yes "hopper.wgmma.f32.f16 | 3c00 | 3c00 | 0" | head -1000 > words.txt
talkative=("mma --list" "mma --list --json" "mma" "mma --batch words.txt" "layout sf-global --rows 128 --k 256 --json" "layout sfb-tmem --lines 1000"
  "budget" "budget spec.json" "budget --json" "formats" "formats e4m3" "formats --json" "check add.ptx" "check add.ptx --json"
  "${small[*]}" "study quantise --rows 1 --columns 32" "study accumulate --list" "run tells.json" "run tells.json --json"
  "verify gemv --rung naive --arch sm_90a" "verify gemv --rung naive --arch sm_90a --json" "--help" "layout --help" "--version")
for command in "${talkative[@]}"; do
  if [ -e /dev/full ]; then
    # shellcheck disable=SC2086
    "$bitwell" $command > /dev/full 2> error.txt
    status=$?
    if [ $status -ne 2 ] || [ "$(grep -v before error.txt)" != "bitwell: cannot write to the standard output: No space left on device" ]; then
      fail "$command > /dev/full exits with $status, says $(head -c 300 error.txt)"
    fi
  fi
  for signal in default ignored; do
    [ $signal = default ] && set_signal=: || set_signal="trap '' PIPE"
    bash -c "$set_signal; { \"$bitwell\" $command 2> error.txt; echo \$? > status.txt; } | sleep 0"
    # A short text may be in the pipe before its reader leaves.
    case $(cat status.txt) in 141 | 0 | 1) ;; *) fail "$command into a closed pipe exits with $(cat status.txt)" ;; esac
    ! grep -qv before error.txt || fail "$command into a closed pipe says $(head -c 300 error.txt)"
  done
done
bash -c "\"$bitwell\" formats --json 2> error.txt; echo \$? > status.txt" >&-
grep -q "cannot write to the standard output" error.txt || fail "a closed standard output: $(cat error.txt)"
expect 2 "" bash -c "\"$bitwell\" run absent.json 2> /dev/full"
expect 0 "" bash -c "\"$bitwell\" layout sfb-tmem --svg new.svg 2> /dev/full"

# Inputs have an end, found before memory is short. The sanitizers' shadow is larger than any limit of memory.
limit="ulimit -v 4000000"
bash -c "$limit; exec \"$bitwell\" --version" > /dev/null 2>&1 || limit=:
for input in "run" "check" "budget" "mma --batch"; do
  # shellcheck disable=SC2086
  expect 2 "/dev/zero" bash -c "$limit; exec \"$bitwell\" $input /dev/zero"
done
expect 2 "cannot read '/dev/zero': it goes on after the 268435456 bytes that are read" "$bitwell" check /dev/zero
expect 2 "'/dev/zero', line 1: longer than 1048576 characters" "$bitwell" mma --batch /dev/zero
launch y.bin
for change in 's/add.ptx/\/dev\/zero/' 's/x.bin/\/dev\/zero/' 's/"bin": "x.bin"/"npy": "\/dev\/zero"/'; do
  sed "$change" l.json > zero.json
  expect 2 "cannot read '/dev/zero': it goes on" bash -c "$limit; exec \"$bitwell\" run zero.json"
done
truncate -s 300M sparse
for input in "run" "check" "budget"; do
  # shellcheck disable=SC2086
  expect 2 "cannot read 'sparse': it has 314572800 bytes, more than the 268435456 that are read" "$bitwell" $input sparse
done
truncate -s 137438953473 sparse
sed 's/x.bin/sparse/' l.json > zero.json
expect 2 "argument 0 ('x'): cannot read 'sparse': it has 137438953473 bytes, more than the 137438953472" "$bitwell" run zero.json
expect 2 "cannot read 'folder': it is a folder" "$bitwell" check folder
expect 2 "cannot read 'absent': No such file or directory" "$bitwell" check absent

# JSON that is read is read one way only.
deep() { printf '%*s' "$1" '' | tr ' ' "$2"; }
{ printf '{"ptx": '; deep 80000 '['; deep 80000 ']'; printf '}'; } > deep.json
expect 2 "'deep.json' is not JSON that can be used: /ptx/0/0: nested deeper than 64" "$bitwell" run deep.json
expect 2 "'deep.json': /ptx/0/0: nested deeper than 64" "$bitwell" budget deep.json
for list in grid arguments buffers; do
  { printf '{"ptx": "add.ptx", "entry": "addone", "%s": ' $list; deep 80000 '['; deep 80000 ']'; printf '}'; } > deep.json
  expect 2 "/$list/0/0: nested deeper than 64" "$bitwell" run deep.json
done
bad() { # bad 'part of the refusal' SED-EXPRESSION: the launch so changed is refused
  sed "$2" l.json > bad.json
  expect 2 "$1" "$bitwell" run bad.json
}
bad "'bad.json' is not JSON that can be used: the whole has 'entry' twice" 's/"block"/"entry": "b", "block"/'
bad "'bad.json' is not JSON that can be used: /arguments/1 has 'unwritten' twice" 's/128,/128, "unwritten": 64,/'
bad "/ptx: a string with a NUL inside" 's/add.ptx/add.ptx\\u0000.txt/'
bad "/entry: a string with a NUL inside" 's/addone/addone\\u0000/'
bad "/arguments/0/buffer: a string with a NUL inside" 's/"buffer": "x"/"buffer": "x\\u0000"/'
bad "/arguments/1/output: a string with a NUL inside" 's/y.bin/y.bin\\u0000.txt/'
bad "'bad.json': argument 1 ('y'): dtype 'q9' is not one of" 's/128,/128, "dtype": "q9",/'
bad "'bad.json': argument 1 ('y'): 'dtype' holds 4, it must be a string" 's/128,/128, "dtype": 4,/'
bad "'bad.json': argument 0 ('x'): 'read_only' holds \"no\", it must be true or false" 's/true/"no"/'
bad "'bad.json': the launch: 'ptx' holds [1], it must be a string" 's/"add.ptx"/[1]/'
bad "'bad.json': the launch: 'arguments' holds {" 's/\[{/{"a": [{/; s/}\]/}]}/'
bad "'bad.json': argument 0 ('x'): 'x.bin' is not an .npy file" 's/"bin"/"npy"/'
bad "'bad.json': argument 1: 'value' holds [], it must be a number" 's/{"buffer": "y".*}\]/{"type": "f32", "value": []}]/'
bad "'bad.json': argument 1, over 'x': tensor map: globalStrides[0] is 60" \
  's/{"buffer": "y".*}\]/{"tensor_map": "x", "type": "u8", "dims": [64, 16], "strides": [60], "box": [64, 8]}]/'
printf '{"name": "s", "shared": [{"name": "A", "bytes": 1, "bytes": 2}]}' > bad.json
expect 2 "'bad.json': /shared/0 has 'bytes' twice" "$bitwell" budget bad.json
printf '{"name": "s\\u0000"}' > bad.json
expect 2 "'bad.json': /name: a string with a NUL inside" "$bitwell" budget bad.json

# Places and mistakes in PTX are said once, in words.
for alignment in 3 0 2147483647; do
  sed "s/.visible/.global .align $alignment .b8 odd[4];\n.visible/" add.ptx > odd.ptx
  expect 2 "line 4, column 16: an alignment is a power of two up to 2^31, not $alignment" "$bitwell" check odd.ptx
done
sed 's/  ret;/  {\n    {\n      mov.u32 %r1, %pm0;\n    }\n  }\n  ret;/' add.ptx > nested.ptx
launch y.bin
sed 's/add.ptx/nested.ptx/' l.json > nested.json
expect 3 "unsupported: 'nested.ptx': line 18: special register '%pm0'" "$bitwell" run nested.json

# Counts have a range, which --help states too.
ranges=("study quantise --rows:1:1048576" "study quantise --columns:32:1048576" "study accumulate --dots:1:4294967296"
  "study accumulate --least-k:16:1048576" "study accumulate --most-k:16:1048576" "study gemm-error --m:1:4096" "study gemm-error --n:1:4096"
  "study gemm-error --least-k:64:1048576" "study gemm-error --most-k:64:1048576" "study recommend --problems:1:1000"
  "study quantise --threads:0:4096" "verify gemv --threads:0:4096" "verify gemm --threads:0:4096" "layout sfb-tmem --lines:0:4194304"
  "layout (32,4):(32,1) --banks --element-bits:1:1024" "layout (32,4):(32,1) --banks --value:0:4194304"
  "run l.json --step-limit:1:18446744073709551615" "run l.json --seed:0:18446744073709551615")
for row in "${ranges[@]}"; do
  most=${row##*:}; rest=${row%:*}; least=${rest##*:}; command=${rest%:*}; option=${command##* }
  for value in 18446744073709551616 -1 1e3 0x10 "$([ "$least" -gt 0 ] && echo $((least - 1)))" \
    "$([ "$most" != 18446744073709551615 ] && echo $((most + 1)))"; do
    [ -n "$value" ] || continue
    # shellcheck disable=SC2086
    expect 2 "$option: '$value' is no whole number from $least to $most" "$bitwell" $command=$value
  done
  # shellcheck disable=SC2086
  expect 0 "$least to $most" "$bitwell" ${command% *} --help
done
expect 2 "--rows: '18446744073709551615' is no whole number from 1 to 1048576" "$bitwell" study quantise --rows 18446744073709551615
expect 2 "a tensor has at most 268435456 elements; got 1048576x1048576" "$bitwell" study quantise --rows 1048576 --columns 1048576

echo "$failures failures"
[ $failures -eq 0 ]
