# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
# As hidden_auto, on hosts whose mounts are shared: the hook's mounts are slaves of a mount outside the container.
# shellcheck source=lib.sh
. "$E2E_DIR/lib.sh"
# shellcheck source=node.sh
. "$E2E_DIR/node.sh"
# shellcheck source=podman.sh
. "$E2E_DIR/podman.sh"

machine_start "$CGROUPS" shared
podman_prepare
node_use A
podman_run_hidden
criu_conf <<<'external mnt[]'
dump_fails 'has unreachable sharing. Try --enable-external-masters'
printf 'external mnt[]\nenable-external-masters\n' | criu_conf
podman_checkpoint in.tar.zst

node_use B
criu_conf <<<'external mnt[]'
restore_fails in.tar.zst 'mnt-v2: Failed to open_tree //(usr|srv)/.*: No such file or directory'
criu_conf_none
restore_fails in.tar.zst 'mnt: Mount [0-9]+:\(null\) is autodetected external mount'
patch_wants_drop_hooks B "$CASE_DIR/in.tar.zst"
patch_for B "$CASE_DIR/in.tar.zst" "$CASE_DIR/out.tar.zst" --drop-hooks
restore_works out.tar.zst
inside_is B
podman_remove
