# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
# Mounts whose keys are names: cured by a list in /etc/criu/runc.conf, the archive stays as it is.
# shellcheck source=lib.sh
. "$E2E_DIR/lib.sh"
# shellcheck source=node.sh
. "$E2E_DIR/node.sh"
# shellcheck source=podman.sh
. "$E2E_DIR/podman.sh"

machine_start "$CGROUPS"
podman_prepare
node_use A
criu_conf < <(node_external_lines A token)
podman_run_hidden
podman_checkpoint in.tar.zst
criu_conf_none

node_use B
restore_fails in.tar.zst 'mnt: No mapping for [0-9]+:\(null\) mountpoint'
patch "$CASE_DIR/in.tar.zst" --externals "$CASE_DIR/list" --cdi "$(node_cdi_file B)" --root "$ROOT"
expect_exit 0 "ckpt-patch --externals"
expect_text '^external=mnt\[gpu-nvidiactl\]:/opt/nv/dev/nvidiactl$' "$(cat "$CASE_DIR/list")" "the list"
criu_conf <"$CASE_DIR/list"
restore_works in.tar.zst
inside_is B
podman_remove
