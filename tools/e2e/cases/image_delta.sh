# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
# Checkpoint images: ours of an archive, and a delta layer over Podman's own, both restored by Podman where the driver
# has moved.
# shellcheck source=lib.sh
. "$E2E_DIR/lib.sh"
# shellcheck source=node.sh
. "$E2E_DIR/node.sh"
# shellcheck source=podman.sh
. "$E2E_DIR/podman.sh"

# image_restore IMAGE_ARCHIVE NAME
image_restore() {
    must in_root "$ENGINE_SECONDS" podman load -i "/e2e/$1"
    try podman container restore "$2"
    keep_log restore.log
}

machine_start "$CGROUPS"
podman_prepare
node_use A
podman_run --device nvidia.com/gpu=0
wait_for_count 5
DUMPED=$LINE
must podman container checkpoint --create-image localhost/ck:1 "$CONTAINER"
must podman rm -f -t 0 "$CONTAINER"
must in_root "$ENGINE_SECONDS" podman save --format oci-archive -o /e2e/in.tar localhost/ck:1

node_use B
try podman container restore localhost/ck:1
[[ $RC != 0 ]] || fail "the image restored, although the driver has moved"
expect_text '[Nn]o such file or directory' "$OUT" "the failed restore"
must podman rm -f -t 0 --ignore "$CONTAINER"

patch "$CASE_DIR/in.tar" --oci-archive "$CASE_DIR/delta.tar" --delta --image-name localhost/ck:2 \
    --cdi "$(node_cdi_file B)" --root "$ROOT"
expect_exit 0 "ckpt-patch --delta"
image_restore delta.tar localhost/ck:2
[[ $RC == 0 ]] || fail "restore of the delta: $(criu_says restore.log)"
wait_for_count "$((${DUMPED#* } + 3))"
[[ ${LINE% *} == "${DUMPED% *}" ]] || fail "the counter started anew"
inside_is B
podman_remove

patch "$CASE_DIR/in.tar" --oci-archive "$CASE_DIR/whole.tar" --image-name localhost/ck:3 \
    --cdi "$(node_cdi_file B)" --root "$ROOT"
expect_exit 0 "ckpt-patch --oci-archive"
image_restore whole.tar localhost/ck:3
[[ $RC == 0 ]] || fail "restore of the whole image: $(criu_says restore.log)"
wait_for_count "$((${DUMPED#* } + 3))"
inside_is B
podman_remove
