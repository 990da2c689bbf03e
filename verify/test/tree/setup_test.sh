#!/usr/bin/env bash
# What .ci/setup says on a machine that lacks something, one line each: what, and how to get it. It runs in an empty folder, with
# programs that pretend. Usage: setup_test.sh SOURCE
set -u
unset CXX CC
source=$1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failures=0
fail() {
  echo "FAILED: $*"
  failures=$((failures + 1))
}
# pretend NAME 'script': a program of that name
pretend() {
  printf '#!/bin/bash\n%s\n' "$2" > "$work/bin/$1"
  chmod +x "$work/bin/$1"
}
# A machine that has everything.
machine() {
  rm -rf "$work/bin" "$work/tree"
  mkdir -p "$work/bin" "$work/tree/.ci"
  cp "$source/.ci/setup" "$work/tree/.ci/setup"
  for program in bash cat dirname grep head ln mkdir mktemp mv printf rm sed sort chmod; do
    ln -s "$(command -v $program)" "$work/bin/$program"
  done
  pretend id 'echo 0'
  pretend env 'while [[ $1 == *=* ]]; do export "$1"; shift; done; exec "$@"'
  pretend apt-get 'exit 0'
  pretend dpkg-query 'echo install ok installed'
  pretend g++ 'case $* in *dump*) echo 12.2.0;; *) echo g++ 12.2.0;; esac'
  pretend nvcc 'exit 0'
  pretend cmake 'echo cmake version 3.25.1'
  pretend python3 'if [ "$1" = -c ]; then echo 3.11; else mkdir -p .venv/bin; cp_pip; fi'
  pretend cp_pip 'printf "#!/bin/bash\necho \"\$@\" >> pip.log\n" > .venv/bin/pip; chmod +x .venv/bin/pip'
}
# says STATUS 'text' ARGUMENT...: setup ends so, and its last line has the text
says() {
  local status=$1 text=$2 said got
  shift 2
  said=$(timeout 60 "$work/bin/env" PATH="$work/bin" HOME=/proc "$work/bin/bash" "$work/tree/.ci/setup" "$@" 2>&1)
  got=$?
  [ $got -eq "$status" ] && [[ "${said##*$'\n'}" == *"$text"* ]] || fail "exits with $got, not $status with '$text': $said"
}

machine
says 0 "" --install-only
[ -f "$work/tree/.venv/bitwell-wanted" ] || fail "what was installed is not written down"
machine
rm "$work/bin/apt-get"
says 1 "setup: this is no Debian or Ubuntu; install what they call g++ cmake" --install-only
machine
pretend dpkg-query 'exit 1'
pretend id 'echo 1000'
says 1 "setup: you are not root and there is no sudo; ask for: apt-get install g++ cmake ninja-build" --install-only
pretend sudo 'exec "$@"'
says 0 "" --install-only
pretend apt-get '[ "$1" = update ] || exit 100'
says 1 "setup: apt-get could not install them (its words are above; is there a network?); nothing else was done" --install-only
machine
pretend g++ 'case $* in *dump*) echo 11.4.0;; *) echo g++ 11.4.0;; esac'
says 1 "setup: g++ is 11.4.0, C++20 needs 12 or newer" --install-only
machine
pretend python3 'echo 3.9'
says 1 "setup: python3 is 3.9, NumPy 2 needs 3.10 or newer" --install-only
[ ! -e "$work/tree/.venv" ] || fail "an environment by a Python that is too old"
machine
pretend python3 'if [ "$1" = -c ]; then echo 3.11; else mkdir .venv; exit 1; fi'
says 1 "setup: python3 -m venv failed" --install-only
[ ! -e "$work/tree/.venv" ] || fail "half an environment is left"
machine
pretend cp_pip 'printf "#!/bin/bash\nexit 1\n" > .venv/bin/pip; chmod +x .venv/bin/pip'
says 1 "setup: pip could not install them" --install-only
pretend cmake 'case $1 in --version) echo cmake version 3.28.0;; esac'
says 1 "setup: pip could not install them" --no-run
[ ! -e "$work/tree/.venv/bitwell-wanted" ] || fail "what could not be installed is written down as installed"
machine # what the build does not need (all but nanobind) is installed meanwhile
ln -s "$(command -v sleep)" "$work/bin/sleep"
pretend cp_pip 'printf "#!/bin/bash\n[[ \$* == *nanobind* ]] && exit\nuntil [ -e built ]; do sleep 0.1; done\n" > .venv/bin/pip; chmod +x .venv/bin/pip'
pretend cmake 'case $1 in --version) echo cmake version 3.28.0;; --build) : > built;; esac'
says 0 "" --no-run
[ -f "$work/tree/.venv/bitwell-wanted" ] || fail "setup ends before its packages are installed"
machine # what only the tests need waits for them, and is installed once
says 0 "" --install-only
! grep -F jsonschema "$work/tree/pip.log" > /dev/null || fail "set-up installs what only tests need"
says 0 "setup: installing Python packages: gfloat" --install-tests
grep -F jsonschema "$work/tree/pip.log" > /dev/null || fail "what the tests need is not installed: $(cat "$work/tree/pip.log")"
lines=$(wc -l < "$work/tree/pip.log")
says 0 "" --install-tests
[ "$(wc -l < "$work/tree/pip.log")" = "$lines" ] || fail "it is installed again"
machine
pretend cmake 'echo cmake version 3.22.1'
says 0 "" --install-only
grep -F 'cmake==3.31' "$work/tree/pip.log" > /dev/null || fail "an old CMake is not replaced: $(cat "$work/tree/pip.log")"
machine
pretend cmake 'if [ "$1" = --version ]; then echo cmake version 3.28.0; else echo the words of CMake; exit 1; fi'
says 1 "setup: CMake could not configure: its words are above" --no-run
[ "$(cd "$work/tree" && echo *)" = "pip.log" ] || fail "files are left: $(cd "$work/tree" && echo *)"

[ $failures -eq 0 ] || exit 1
echo "setup says what is missing"
