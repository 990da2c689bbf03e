#!/usr/bin/env bash
# front_doors_test.sh SOURCE: the command line parses and prints. What is decided about a run, its schedules and its findings is
# decided below it, in verify/session and verify/verdict: no file of it includes the engine or the race check.
set -euo pipefail
cd "$1/verify/cli"
files=$(find . -name '*.h' -o -name '*.cpp')
[ "$(wc -l <<< "$files")" -gt 50 ] || { echo "verify/cli has only these files: $files"; exit 1; }
found=$(grep -nE '^ *# *include *["<](model/(run|hazard|explore)|verify/findings)/' $files) && { echo "verify/cli includes:"; echo "$found"; exit 1; }
[ $? -eq 1 ] || exit 1

# The folder of shared files is asked for by programs; what libraries read of it is given them.
cd ../..
programs='^(verify/(cli|fuzz|test)/|experiments/[^/]*\.cpp$|experiments/gpu/|verify/bugs/mutation/campaign_main\.cpp$)'
found=$(grep -rlE '\bshare_folder\(' --include='*.h' --include='*.cpp' model verify experiments | grep -vE "$programs" | grep -vE '^verify/capture/captures\.(h|cpp)$') &&
  { echo "libraries ask where the installation is:"; echo "$found"; exit 1; }
[ $? -eq 1 ]
