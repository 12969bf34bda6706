# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
# The other way: masked files get runc's key, and crun's empty directory comes by an external line.
# shellcheck source=lib.sh
. "$E2E_DIR/lib.sh"
# shellcheck source=node.sh
. "$E2E_DIR/node.sh"
RUNTIME=crun
# shellcheck source=podman.sh
. "$E2E_DIR/podman.sh"

machine_start unified
podman_prepare
node_use A
podman_run --device nvidia.com/gpu=0
podman_checkpoint in.tar.zst

RUNTIME=runc
restore_fails in.tar.zst "created with runtime 'crun' and cannot be restored with runtime 'runc'"
empty=$(timeout 20 "$CKPT_BIN/ckpt-inspect" mounts --json "$CASE_DIR/in.tar.zst" |
    jq -r '[.mounts[].ext_key // "" | select(endswith("/.empty-directory"))] | unique | first // ""')
options=()
if [[ -n $empty ]]; then
    mkdir -p "$ROOT/srv/empty"
    options=(--map "$empty=/srv/empty" --externals "$CASE_DIR/list")
fi
patch "$CASE_DIR/in.tar.zst" -o "$CASE_DIR/out.tar.zst" --cdi "$(node_cdi_file A)" --root "$ROOT" --runtime runc \
    "${options[@]}"
expect_exit 0 ckpt-patch
[[ -z $empty ]] || criu_conf <"$CASE_DIR/list"
restore_works out.tar.zst
inside_is A
podman_remove
