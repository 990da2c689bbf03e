#!/usr/bin/env bash
# The .deb that cpack makes runs where nothing else is but the C library: in a root of its own, the README's first example.
# Usage: package_test.sh BUILD NVCC README
set -euo pipefail
build=$1 nvcc=$2 readme=$3
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
root=$work/root
enter=(chroot)
[ "$(id -u)" -eq 0 ] || enter=(unshare -r chroot)
mkdir -p "$root"
"${enter[@]}" / true 2> /dev/null || { echo "no right to change the root"; exit 77; }

(cd "$work" && cpack --config "$build/CPackConfig.cmake" -G DEB -B "$work/packages" > cpack.txt 2>&1) || { cat "$work/cpack.txt"; exit 1; }
package=$(echo "$work"/packages/*.deb)
depends=$(dpkg-deb -f "$package" Depends)
[[ "$depends" =~ ^libc6( \([^,]*\))?$ ]] || { echo "FAILED: it needs '$depends', not the C library alone"; exit 1; }
dpkg -x "$package" "$root"
for at in bin/bitwell lib/bitwell/libcudart.so.13 share/bitwell/launch.schema.json share/bitwell/docs/launch-file.md share/bitwell/captures \
    share/man/man1/bitwell.1 share/man/man1/bitwell-run.1 share/bash-completion/completions/bitwell share/zsh/site-functions/_bitwell \
    share/fish/vendor_completions.d/bitwell.fish; do
  [ -e "$root/usr/$at" ] || { echo "FAILED: the package has no $at"; exit 1; }
done

# The C library, from this machine: all that the package depends on.
mkdir -p "$root/lib64" "$root/tmp" "$root/proc"
for library in $(ldd "$root/usr/bin/bitwell" | grep -o '/[^ ]*'); do
  mkdir -p "$root$(dirname "$library")"
  cp -L "$library" "$root$library"
done

# The indented lines after the first line that starts with these words.
block() { awk -v start="$1" 'index($0, start) == 1 {after = 1; next} after && /^    / {print substr($0, 5); inside = 1; next} inside {exit}' "$readme"; }
block '`scale.cu`' > "$work/scale.cu"
block '`scale.json`, the launch' > "$root/tmp/scale.json"
inside() { "${enter[@]}" "$root" /usr/bin/bitwell "$@"; }
expect() { # expect STATUS TEXT ARGUMENT...
  local status=$1 text=$2 said got=0
  shift 2
  said=$(inside "$@" 2>&1) || got=$?
  [ $got -eq "$status" ] && [[ "$said" == *"$text"* ]] || { echo "FAILED: $* exits with $got, says '$said'"; exit 1; }
}
"$nvcc" -arch=sm_90a -lineinfo -ptx "$work/scale.cu" -o "$root/tmp/scale.ptx"
expect 1 "400 bytes into 'x' of 400 bytes" run /tmp/scale.json
sed -i 's/<=/</' "$work/scale.cu"
"$nvcc" -arch=sm_90a -lineinfo -ptx "$work/scale.cu" -o "$root/tmp/scale.ptx"
expect 0 "all checks on" run /tmp/scale.json
[ -s "$root/tmp/y.npy" ] || { echo "FAILED: y.npy is not written"; exit 1; }
expect 0 "gemv holds" verify gemv --kernel naive --arch sm_90a
expect 0 '"LAUNCH.json of bitwell"' schema
echo "$(basename "$package"), $(du -h "$package" | cut -f1), runs in a root with the C library alone"
