# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
# decode agrees with pycriu: every image of every archive at hand, value by value.
# shellcheck source=lib.sh
. "$E2E_DIR/lib.sh"

[[ -e $ROOT/usr/lib/python3/dist-packages/pycriu ]] || skip "no python3-pycriu in $ROOT"
work=$(mktemp -d "$ROOT/tmp/decode.XXXXXX")
trap 'rm -rf "$work"' EXIT
cp "$E2E_DIR/compare-pycriu" "$work/"
archives=()
collection=${CKPT_ARCHIVES:-$E2E_DIR/../../testdata/archives}
while read -r archive; do
    inside=$work/${#archives[@]}-${archive##*/}
    "$CKPT_BIN/ckpt-inspect" decode --all "$archive" >"$inside.json" 2>"$CASE_DIR/stderr" || {
        note "skipped, not one tar of images: $archive: $(head -n 1 "$CASE_DIR/stderr")"
        rm -f "$inside.json"
        continue
    }
    mkdir "$inside.d"
    # An image of images keeps its members in a layer.
    tar --force-local -xf "$archive" -C "$inside.d" --exclude='*pages-*' --exclude='*/dev/*' --wildcards '*.img' '*stats-dump' \
        2>>"$CASE_DIR/stderr" || { note "skipped, members in layers: $archive" && rm -rf "$inside.json" "$inside.d" && continue; }
    archives+=("${inside#"$ROOT"}")
done < <(find "$collection" -name '*.tar*' -type f | LC_ALL=C sort)
((${#archives[@]})) || fail "no archive to compare"
try timeout 120 chroot "$ROOT" /usr/bin/python3 "${work#"$ROOT"}/compare-pycriu" "${archives[@]}"
[[ $RC == 0 ]] || fail "decode and pycriu differ: $(tail -n 1 "$CASE_DIR/out")"
