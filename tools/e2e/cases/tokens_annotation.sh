# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
# As tokens_list, with the list in a file of the container's own, named by its annotation org.criu.config.
# shellcheck source=lib.sh
. "$E2E_DIR/lib.sh"
# shellcheck source=node.sh
. "$E2E_DIR/node.sh"
# shellcheck source=podman.sh
. "$E2E_DIR/podman.sh"

readonly CONF=counter.conf
machine_start "$CGROUPS"
podman_prepare
node_use A
criu_conf "$CONF" < <(node_external_lines A token)
podman_run_hidden --annotation "org.criu.config=/etc/criu/$CONF"
podman_checkpoint in.tar.zst
criu_conf_none

node_use B
restore_fails in.tar.zst 'mnt: No mapping for [0-9]+:\(null\) mountpoint'
patch "$CASE_DIR/in.tar.zst" --externals "$CASE_DIR/list" --cdi "$(node_cdi_file B)" --root "$ROOT"
expect_exit 0 "ckpt-patch --externals"
criu_conf "$CONF" <"$CASE_DIR/list"
restore_works in.tar.zst
inside_is B
podman_remove
