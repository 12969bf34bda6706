# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
# Mounts made by a hook and dumped with their own path as key: CRIU asks for a mapping that no engine gives.
# shellcheck source=lib.sh
. "$E2E_DIR/lib.sh"
# shellcheck source=node.sh
. "$E2E_DIR/node.sh"
# shellcheck source=podman.sh
. "$E2E_DIR/podman.sh"

machine_start "$CGROUPS"
podman_prepare
node_use A
criu_conf < <(node_external_lines A path)
podman_run_hidden
podman_checkpoint in.tar.zst
criu_conf_none

node_use B
restore_fails in.tar.zst 'mnt: No mapping for [0-9]+:\(null\) mountpoint'
if [[ $RUNTIME == crun ]]; then
    expect_check patchable "$CASE_DIR/in.tar.zst" B
    patch_for B "$CASE_DIR/in.tar.zst" "$CASE_DIR/out.tar.zst"
else
    patch_wants_drop_hooks B "$CASE_DIR/in.tar.zst"
    patch_for B "$CASE_DIR/in.tar.zst" "$CASE_DIR/out.tar.zst" --drop-hooks
fi
restore_works out.tar.zst
inside_is B
podman_remove
