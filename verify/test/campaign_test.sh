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

expect 0 "race check"
expect 0 "Noted by the race check" --kind fence
expect 0 "fence.mbarrier_init" --kind fence
expect 0 "not equivalent" --kind fence
expect 1 "Missed:" --list "$list"
# So is one whose mutant the race check tells.
printf 'equivalent\thang/pipeline\tfence.mbarrier_init.release.cluster;\t-\tnot so\n' > "$list"
expect 1 "it is found" --kind "fence deleted" --list "$list"
printf 'equivalent\thang/pipeline\tbar.sync 0;\t-\tnot so\n' > "$list"
expect 1 "it is found" --kind "barrier deleted" --list "$list"
printf 'equivalent\thang/pipeline\tst.global.u32 [%%], %%;\t-\tnot so\n' > "$list"
expect 1 "it is found" --kind "store deleted" --list "$list" --whole
scores=$(mktemp)
expect 0 "all" --kind "wait deleted" --scores "$scores"
grep -q '^kernel,hang/pipeline,6,0,0,6,0,0,0,0,100.0 %$' "$scores" || {
  echo "FAILED: --scores wrote: $(cat "$scores")"
  failures=$((failures + 1))
}
# A campaign goes on from its log, and believes what that says.
log=$(mktemp)
expect 0 "all" --kind "wait deleted" --log "$log"
sed -i 's/^named/wrong bits/' "$log"
expect 0 "all" --kind "wait deleted" --log "$log" --resume --scores "$scores"
[ "$(cut -f1 "$log" | sort | uniq -c | xargs)" = "6 wrong bits" ] || {
  echo "FAILED: --resume made of the log: $(cut -f1 "$log")"
  failures=$((failures + 1))
}
echo "nothing" > "$log"
expect 2 "line 1: not a mutant's" --log "$log" --resume
rm -f "$scores" "$log"
printf 'equivalent\tbar.sync 0;\n' > "$list"
expect 2 "line 1" --list "$list"
expect 2 "no kernel" --only nothing
echo "$failures failures"
[ $failures -eq 0 ]
