# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
# Driver files that Podman mounted from a CDI specification; on the target the same driver lives elsewhere.
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
inside_uvm_is A
podman_checkpoint in.tar.zst

node_use B
restore_fails in.tar.zst "(runc: mount src=$INSIDE_SMI, |crun: stat \`$INSIDE_SMI\`).* [Nn]o such file or directory"
expect_check patchable "$CASE_DIR/in.tar.zst" B
patch_for B "$CASE_DIR/in.tar.zst" "$CASE_DIR/out.tar.zst"
restore_works out.tar.zst
inside_is B
inside_uvm_is B
podman_remove
