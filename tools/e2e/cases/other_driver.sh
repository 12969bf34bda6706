# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
# The process maps a library of the old driver and the target has another driver: no patch can help, and saying so is
# the tool's job. A patch forced past that must meet CRIU's own refusal.
# shellcheck source=lib.sh
. "$E2E_DIR/lib.sh"
# shellcheck source=node.sh
. "$E2E_DIR/node.sh"
# shellcheck source=podman.sh
. "$E2E_DIR/podman.sh"

readonly LIBRARY=$INSIDE_LIB/libcuda.so.570.86.10

machine_start "$CGROUPS"
podman_prepare
node_use A
podman_run --device nvidia.com/gpu=0 -- "$LIBRARY"
podman_checkpoint in.tar.zst

node_use C
restore_fails in.tar.zst "mount src=$INSIDE_DEBUGDUMP.* no such file or directory"
expect_check blocked "$CASE_DIR/in.tar.zst" C
expect_text "$LIBRARY" "$OUT" "the verdict"
patch "$CASE_DIR/in.tar.zst" -o "$CASE_DIR/out.tar.zst" --cdi "$(node_cdi_file C)" --root "$ROOT"
expect_exit 3 "ckpt-patch"
expect_text "$LIBRARY" "$OUT" "ckpt-patch's refusal"
expect_text 'pid 1\b' "$OUT" "ckpt-patch's refusal"
[[ ! -e $CASE_DIR/out.tar.zst ]] || fail "a refused patch wrote an archive"

patch "$CASE_DIR/in.tar.zst" -o "$CASE_DIR/forced.tar.zst" --cdi "$(node_cdi_file C)" --root "$ROOT" \
    --drop-mount "$INSIDE_DEBUGDUMP" --force
expect_exit 0 "ckpt-patch --force"
expect_text 'warning' "$OUT" "ckpt-patch --force"
restore_fails forced.tar.zst "File ${LIBRARY#/} has bad (size|build-ID)"
