#!/usr/bin/env bash
# The command line as users expect it: its version, what it says alone, mistakes named with what was meant, help, --quiet, what
# shells complete, man pages. Usage: shell_test.sh BITWELL
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
  local status=$1 part=$2 text got
  shift 2
  text=$(timeout 100 "$@" 2>&1)
  got=$?
  if [ $got -ne "$status" ] || [[ "$text" != *"$part"* ]]; then
    fail "$* exits with $got (expected $status), says: ${text:0:600}"
  fi
}

[[ "$("$bitwell" --version)" =~ ^bitwell\ [0-9.]+\ \(commit\ [0-9a-z-]+,\ (g\+\+|Clang)\ .*\)$ ]] || fail "--version says $("$bitwell" --version)"
[ "$("$bitwell" | wc -l)" -eq 5 ] || fail "alone it says $("$bitwell")"
expect 0 "bitwell --help" "$bitwell"

# Mistakes: one line, in our words, with the nearest name.
mistake() { # mistake 'what it says' ARGUMENT...
  local says=$1
  shift
  expect 2 "bitwell: $says" "$bitwell" "$@"
  [ "$("$bitwell" "$@" 2>&1 | wc -l)" -eq 1 ] || fail "$* says more than one line"
}
mistake "there is no 'chekc'; did you mean 'check'? (bitwell --help)" chekc
mistake "there is no 'layuot'; did you mean 'layout'?" layuot nix
mistake "study has no 'acumulate'; did you mean 'accumulate'? (bitwell study --help)" study acumulate
mistake "run has no option '--rcaes'; did you mean '--races'? (bitwell run --help)" run l.json --rcaes
mistake "run has no option '--rcaes'; did you mean '--races'?" run --rcaes
mistake "run has no option '--sed'; did you mean '--seed'?" run l.json --sed=3
mistake "gemv has no option '--ful'; did you mean '--full'? (bitwell verify gemv --help)" verify gemv --ful
mistake "bitwell has no option '--verison'; did you mean '--version'?" --verison
mistake "run has no option '--nothing-like-it' (bitwell run --help)" run l.json --nothing-like-it
mistake "run does not know what to do with 'second.json'" run l.json second.json
mistake "run needs LAUNCH.json: The launch" run
mistake "--seed: 'many' is no whole number from 0 to" run l.json --seed many
mistake "--seed needs a value" run l.json --seed
mistake "--error-on: 'nothing' is not one of error, note, none" run l.json --races --error-on nothing
mistake "--error-on: 'eror' is not one of error, note, none; did you mean 'error'?" run l.json --races --error-on eror
mistake "--once requires --races" run l.json --once
mistake "SHELL: 'tcsh' is not one of bash, zsh, fish" completion tcsh

# Help: in groups, with exit statuses everywhere.
for title in "A kernel of yours:" "What bitwell rests on:" "Help:"; do expect 0 "$title" "$bitwell" --help; done
for command in "" run verify "verify gemv" study "study quantise" schema man; do
  # shellcheck disable=SC2086
  expect 0 "Exit status: 0 held, 1 a verdict failed" "$bitwell" $command --help
done

# --quiet says nothing where all holds, and all of it where not.
cat > k.ptx <<'P'
.version 9.0
.target sm_90a
.address_size 64
.visible .entry k(.param .u64 y) { .reg .b64 %rd; ld.param.u64 %rd, [y]; st.global.u32 [%rd], 1; ret; }
P
echo '{"ptx": "k.ptx", "entry": "k", "grid": 1, "block": 1, "arguments": [{"buffer": "y", "unwritten": 4, "dtype": "u4", "output": "y.npy"}]}' > l.json
[ -z "$("$bitwell" run l.json -q 2>&1)" ] || fail "run -q says $("$bitwell" run l.json -q 2>&1)"
[ -s y.npy ] || fail "run -q writes no output"
cp y.npy right.npy
sed 's/"output": "y.npy"/"expected": "right.npy"/' l.json > good.json
[ -z "$("$bitwell" run good.json --quiet 2>&1)" ] || fail "run --quiet of what holds says something"
sed -i 's/, 1;/, 2;/' k.ptx
expect 1 "y: 1 of 1 elements are not as expected" "$bitwell" run good.json -q
expect 2 "--json excludes --quiet" "$bitwell" run good.json -q --json
"$bitwell" run good.json -v > /dev/null || [ $? -eq 1 ] || fail "-v is not taken"
first=$("$bitwell" verify gemv --kernel naive --arch sm_90a)
grep -q "^gemv holds: 1 verdicts, one for each kernel and architecture, on .* outputs$" <<< "${first%%$'\n'*}" ||
  fail "verify's first line: $first"

# What bash completes: commands, options, values.
"$bitwell" completion bash > completion.bash
completes() { # completes 'what' WORD...: the last word is completed
  local wanted=$1 got
  shift
  got=$(bash -c '. ./completion.bash; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _bitwell; echo "${COMPREPLY[*]}"' bash "$@")
  [ "$got" = "$wanted" ] || fail "bash completes $* to '$got', not '$wanted'"
}
completes "check" bitwell che
completes "run" bitwell ru
completes "--races" bitwell run --rac
completes "quantise" bitwell study qua
completes "--kernel --kernels" bitwell verify gemv --kernel
completes "error note none" bitwell run l.json --error-on ""
completes "note none" bitwell run l.json --error-on n
completes "bash" bitwell completion ba
completes "" bitwell run ""
for shell in bash zsh fish; do
  expect 0 "races" "$bitwell" completion $shell
  if command -v $shell > /dev/null; then
    "$bitwell" completion $shell > completion.$shell
    $shell -n completion.$shell || fail "$shell does not read its completion"
  fi
done

# Man pages: one for each command, which groff reads without a word.
"$bitwell" man --write share || fail "man --write"
for command in $("$bitwell" completion bash | sed -n "s/^    'bitwell') commands='\([^']*\)'.*/\1/p"); do
  [ -s "share/man/man1/bitwell-$command.1" ] || fail "no page of $command"
done
grep -q 'races' share/man/man1/bitwell-run.1 || fail "the page of run has no --races"
expect 2 "there is no command 'rnu'; did you mean 'run'?" "$bitwell" man rnu
if command -v groff > /dev/null; then
  for page in share/man/man1/*.1; do
    said=$(groff -ww -man -Tascii "$page" 2>&1 > /dev/null)
    [ -z "$said" ] || fail "groff says of $page: ${said:0:300}"
  done
fi
[ $failures -eq 0 ] || exit 1
echo "all held"
