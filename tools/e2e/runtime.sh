# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
# runc and crun by themselves: a bundle and an image directory, no engine. RUNTIME says which; both take these options.

readonly CONTAINER=counter RUNTIME_SECONDS=60
readonly BUNDLE=/e2e/bundle IMAGE=/e2e/image
TICKS=$CASE_DIR/ticks

# bundle_make: a bundle that knows nothing of the driver, except that the driver's hook is to run.
bundle_make() {
    mkdir -p "$CASE_DIR/bundle"
    image_rootfs "$CASE_DIR/bundle/rootfs"
    must in_root "$RUNTIME_SECONDS" runc spec --bundle "$BUNDLE"
    jq '.process.args = ["/bin/ticker"] | .process.terminal = false | .root.readonly = false
        | .linux.cgroupsPath = "/ckpt-e2e/counter"
        | .hooks.createRuntime = [{path: "/usr/libexec/driver-hook"}]' \
        "$CASE_DIR/bundle/config.json" >"$CASE_DIR/config.json"
    mv "$CASE_DIR/config.json" "$CASE_DIR/bundle/config.json"
}

# runtime ARGS...: the runtime itself, in the machine.
runtime() { in_root "$RUNTIME_SECONDS" "$RUNTIME" "$@"; }

# runtime_detached ARGS...: the same where the container stays; its output goes through a pipe, as an engine's would, so
# that CRIU finds a pipe that it can hand over and not a file of the host.
runtime_detached() {
    rm -f "$CASE_DIR/rc"
    # shellcheck disable=SC2016 # expanded by the inner shell
    in_root "$RUNTIME_SECONDS" sh -c '
        { "$@" 2>&1 </dev/null; echo $? >/e2e/rc.part; mv /e2e/rc.part /e2e/rc; } | cat >>/e2e/ticks &
        until [ -e /e2e/rc ]; do sleep 0.1; done
        exit "$(cat /e2e/rc)"' sh "$RUNTIME" "$@"
}

# wait_for_count N: until the counter shows more than N; leaves its line in $LINE.
wait_for_count() {
    local end=$((SECONDS + 10))
    while ((SECONDS < end)); do
        LINE=$(tail -n 1 "$TICKS")
        if [[ $LINE =~ ^[0-9a-f]{16}\ [0-9]+$ ]] && ((${LINE#* } > $1)); then return 0; fi
        sleep 0.3
    done
    fail "the counter does not get past $1 (last line: $LINE)"
}

bundle_run() {
    must runtime_detached run --detach --bundle "$BUNDLE" "$CONTAINER"
    wait_for_count 5
}

bundle_checkpoint() {
    try runtime checkpoint --image-path "$IMAGE" --work-path /e2e/dump "$CONTAINER"
    if [[ $RC != 0 ]]; then
        skip_unless_offered "$OUT"
        fail "dump: $(criu_says "$CASE_DIR/dump/dump.log")"
    fi
    DUMPED=$(tail -n 1 "$TICKS")
    try runtime delete --force "$CONTAINER"
}

# criu_says LOG: the first error of CRIU's log that is one, or what the runtime said.
criu_says() {
    grep -E 'Error \(' "$1" | grep -vE 'rlimit|tun:|cgroupd' | head -n 1 | grep . || tail -n 1 "$TICKS"
}

bundle_restore() {
    rm -rf "$CASE_DIR/restore"
    try runtime_detached restore --detach --bundle "$BUNDLE" --image-path "$IMAGE" --work-path /e2e/restore "$CONTAINER"
    grep -E 'Error|Warn' "$CASE_DIR/restore/restore.log" || true
}

# bundle_restore_fails REGEX
bundle_restore_fails() {
    bundle_restore
    [[ $RC != 0 ]] || fail "the image restored, although it should not"
    expect_text "$1" "$(cat "$CASE_DIR/restore/restore.log")" "the failed restore"
    try runtime delete --force "$CONTAINER"
}

bundle_restore_works() {
    bundle_restore
    [[ $RC == 0 ]] || fail "restore: $(criu_says "$CASE_DIR/restore/restore.log")"
    wait_for_count "$((${DUMPED#* } + 3))"
    [[ ${LINE% *} == "${DUMPED% *}" ]] || fail "the counter started anew"
    note "counts on: $DUMPED -> $LINE"
}

# bundle_inside_is NODE
bundle_inside_is() {
    local host inside hash
    while read -r host inside; do
        must runtime exec "$CONTAINER" /bin/sha256sum "$inside"
        hash=$(sha256sum "$NODES/$1$host")
        [[ ${OUT%% *} == "${hash%% *}" ]] || fail "$inside is not node $1's $host"
    done < <(node_pairs "$1")
}

# hidden_mounts_moved: the case itself, the same for both runtimes.
hidden_mounts_moved() {
    bundle_make
    node_use A
    criu_conf < <(node_external_lines A path)
    bundle_run
    bundle_checkpoint
    criu_conf_none

    node_use B
    bundle_restore_fails 'mnt: No mapping for [0-9]+:\(null\) mountpoint'
    patch "$CASE_DIR/image" --engine "$RUNTIME" --externals "$CASE_DIR/list" --cdi "$(node_cdi_file B)" --root "$ROOT"
    expect_exit 0 "ckpt-patch --externals"
    criu_conf <"$CASE_DIR/list"
    bundle_restore_works
    bundle_inside_is B
    try runtime delete --force "$CONTAINER"
}
