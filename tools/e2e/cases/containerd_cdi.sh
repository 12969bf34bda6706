# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
# A pod's container under containerd, its driver by CDI; the target's driver has another version, so its CDI devices
# mount the files at other places. Nobody has them mapped.
# shellcheck source=lib.sh
. "$E2E_DIR/lib.sh"
# shellcheck source=node.sh
. "$E2E_DIR/node.sh"
# shellcheck source=containerd.sh
. "$E2E_DIR/containerd.sh"

containerd_prepare
node_use A
pod_run
container_run '[]'
container_checkpoint in.tar

node_use C
container_restore_fails in.tar 'mnt: No mapping for [0-9]+:\(null\) mountpoint'
patch "$CASE_DIR/in.tar" -o "$CASE_DIR/undecided.tar" --cdi "$(node_cdi_file C)"
expect_exit 1 "ckpt-patch without a word on nvidia-debugdump"
expect_text "$INSIDE_DEBUGDUMP" "$OUT" "ckpt-patch"
patch_for C "$CASE_DIR/in.tar" "$CASE_DIR/out.tar" --drop-mount "$INSIDE_DEBUGDUMP"
container_restore_works /e2e/out.tar
container_has "$NODES/C/usr/lib/x86_64-linux-gnu/libcuda.so.570.133.20" "$INSIDE_LIB/libcuda.so.570.133.20"
pod_remove

patch "$CASE_DIR/in.tar" --oci-archive "$CASE_DIR/image.tar" --image-name "$REGISTRY/ck:1" --cdi "$(node_cdi_file C)" \
    --drop-mount "$INSIDE_DEBUGDUMP"
expect_exit 0 "ckpt-patch --oci-archive"
image_offer image.tar "$REGISTRY/ck:1"
container_restore_works "$REGISTRY/ck:1"
pod_remove
