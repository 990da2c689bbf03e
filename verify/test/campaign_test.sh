#!/usr/bin/env bash
# The campaign fails for a missed mistake and for a stale line of its list. Usage: campaign_test.sh CAMPAIGN
set -u
campaign=$1
list=$(mktemp)
trap 'rm -f "$list"' EXIT
failures=0

# expect STATUS 'part of the output' ARGUMENT...
expect() {
  local status=$1 part=$2
  shift 2
  local text
  text=$("$campaign" --only hang/pipeline "$@" 2>&1)
  local got=$?
  if [ $got -ne "$status" ] || [[ "$text" != *"$part"* ]]; then
    echo "FAILED: campaign $* exits with $got (expected $status), says: $text"
    failures=$((failures + 1))
  fi
}

expect 0 "needs race checking"
expect 0 "fence.mbarrier_init" --kind fence
expect 0 "not equivalent" --kind fence
expect 1 "Missed:" --list "$list"
printf 'equivalent\thang/pipeline\tfence.mbarrier_init.release.cluster;\t-\tnot so\n' > "$list"
expect 0 "all" --kind fence --list "$list"
# A line whose mutant the first schedule of a case fails is stale; one that only others fail is told by --whole.
printf 'equivalent\thang/pipeline\tst.global.u32 [%%], %%;\t-\tnot so\n' > "$list"
expect 1 "the suite finds it" --kind "store deleted" --list "$list"
printf 'equivalent\thang/pipeline\tbar.sync 0;\t-\tnot so\n' > "$list"
expect 0 "all" --kind "barrier deleted" --list "$list"
expect 1 "the suite finds it" --kind "barrier deleted" --list "$list" --whole
printf 'equivalent\tbar.sync 0;\n' > "$list"
expect 2 "line 1" --list "$list"
expect 2 "no kernel" --only nothing
echo "$failures failures"
[ $failures -eq 0 ]
