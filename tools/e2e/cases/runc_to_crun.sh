# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
# Dumped under runc, restored under crun, on the same node: keys of masked files and Podman's word for the runtime.
# shellcheck source=lib.sh
. "$E2E_DIR/lib.sh"
# shellcheck source=node.sh
. "$E2E_DIR/node.sh"
RUNTIME=runc
# shellcheck source=podman.sh
. "$E2E_DIR/podman.sh"

machine_start unified
podman_prepare
node_use A
podman_run --device nvidia.com/gpu=0
podman_checkpoint in.tar.zst

RUNTIME=crun
restore_fails in.tar.zst "created with runtime 'runc' and cannot be restored with runtime 'crun'"
expect_check patchable "$CASE_DIR/in.tar.zst" A --runtime crun
patch_for A "$CASE_DIR/in.tar.zst" "$CASE_DIR/out.tar.zst" --runtime crun
restore_works out.tar.zst
inside_is A
podman_remove
