# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
# As containerd_cdi, but the same build of the driver, its library mapped, and only its place in the container is
# another: the mapped file follows its mount.
# shellcheck source=lib.sh
. "$E2E_DIR/lib.sh"
# shellcheck source=node.sh
. "$E2E_DIR/node.sh"
# shellcheck source=containerd.sh
. "$E2E_DIR/containerd.sh"

readonly ELSEWHERE=/usr/lib/nvidia

containerd_prepare
node_use A
pod_run
container_run "[\"$INSIDE_LIB/libcuda.so.570.86.10\"]"
container_checkpoint in.tar

node_use B
sed "s|containerPath: $INSIDE_LIB/|containerPath: $ELSEWHERE/|" "$(node_cdi_file B)" >"$CASE_DIR/target.yaml"
cp "$CASE_DIR/target.yaml" "$ROOT/etc/cdi/nvidia.yaml"
container_restore_fails in.tar 'mnt: No mapping for [0-9]+:\(null\) mountpoint'
patch "$CASE_DIR/in.tar" -o "$CASE_DIR/out.tar" --cdi "$CASE_DIR/target.yaml" --root "$ROOT"
expect_exit 0 ckpt-patch
inspect check "$CASE_DIR/out.tar" --cdi "$CASE_DIR/target.yaml" --root "$ROOT"
expect_exit 0 "ckpt-inspect check of the result"
container_restore_works /e2e/out.tar
container_has "$NODES/A$INSIDE_LIB/libcuda.so.570.86.10" "$ELSEWHERE/libcuda.so.570.86.10"
pod_remove
