# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
# No list for each archive but two for each node: one that gives later dumps real keys, one that serves their restores.
# shellcheck source=lib.sh
. "$E2E_DIR/lib.sh"
# shellcheck source=node.sh
. "$E2E_DIR/node.sh"
# shellcheck source=podman.sh
. "$E2E_DIR/podman.sh"

# node_list FOR NODE: what the node's owner puts into /etc/criu/runc.conf once.
node_list() {
    patch --externals "$CASE_DIR/list" --for "$1" --cdi "$(node_cdi_file "$2")" --root "$ROOT"
    expect_exit 0 "ckpt-patch --externals --for $1"
    criu_conf <"$CASE_DIR/list"
}

machine_start "$CGROUPS" shared
podman_prepare
node_use A
node_list dump A
podman_run_hidden
podman_checkpoint in.tar.zst
criu_conf_none

node_use B
restore_fails in.tar.zst 'mnt: No mapping for [0-9]+:\(null\) mountpoint'
node_list restore B
restore_works in.tar.zst
inside_is B
podman_remove
