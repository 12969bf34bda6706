# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
# Another driver on the target, but no process maps or holds a file of the old one: new sources at the old places. A file
# that the target does not have at all needs a decision first.
# shellcheck source=lib.sh
. "$E2E_DIR/lib.sh"
# shellcheck source=node.sh
. "$E2E_DIR/node.sh"
# shellcheck source=podman.sh
. "$E2E_DIR/podman.sh"

machine_start "$CGROUPS"
podman_prepare
node_use A
podman_run --device nvidia.com/gpu=0
podman_checkpoint in.tar.zst

node_use C
restore_fails in.tar.zst "mount src=$INSIDE_DEBUGDUMP.* no such file or directory"
expect_check patchable "$CASE_DIR/in.tar.zst" C
patch "$CASE_DIR/in.tar.zst" -o "$CASE_DIR/out.tar.zst" --cdi "$(node_cdi_file C)" --root "$ROOT"
expect_exit 1 "ckpt-patch without a decision"
expect_text "$INSIDE_DEBUGDUMP" "$OUT" "ckpt-patch without a decision"
[[ ! -e $CASE_DIR/out.tar.zst ]] || fail "ckpt-patch without a decision wrote an archive"

patch_for C "$CASE_DIR/in.tar.zst" "$CASE_DIR/out.tar.zst" --drop-mount "$INSIDE_DEBUGDUMP"
restore_works out.tar.zst
must podman exec "$CONTAINER" /bin/cat "$INSIDE_SMI"
expect_text 'stand-in 570.133.20' "$OUT" "nvidia-smi inside"
podman_remove
