# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
# Podman's side of a case. RUNTIME is runc or crun; archives are $CASE_DIR/NAME here and /e2e/NAME in the machine.

RUNTIME=${RUNTIME:-runc}
readonly CONTAINER=counter ENGINE_SECONDS=60
# crun wants the unified hierarchy, runc takes what the machine has.
# shellcheck disable=SC2034 # read by the cases
if [[ $RUNTIME == crun ]]; then CGROUPS=unified; else CGROUPS=hybrid; fi

podman() {
    in_root "$ENGINE_SECONDS" podman --runtime "$RUNTIME" --cgroup-manager cgroupfs --hooks-dir /e2e/hooks.d "$@"
}

# podman_prepare: image and hooks. The hook is armed by annotation, so only cases that ask for it get it.
podman_prepare() {
    image_rootfs "$CASE_DIR/rootfs"
    mkdir -p "$CASE_DIR/hooks.d"
    cat >"$CASE_DIR/hooks.d/driver.json" <<END
{"version": "1.0.0", "hook": {"path": "/usr/libexec/driver-hook"},
 "when": {"annotations": {"^driver-hook$": "^yes$"}}, "stages": ["createRuntime"]}
END
    must in_root "$ENGINE_SECONDS" sh -c 'tar -C /e2e/rootfs -c . | podman import - localhost/counter'
}

# podman_run [OPTION...] [-- LIBRARY]: starts the counter and waits until it counts.
podman_run() {
    local options=()
    while (($#)) && [[ $1 != -- ]]; do
        options+=("$1")
        shift
    done
    shift || true
    must podman run -d --pids-limit 0 --name "$CONTAINER" --network none --log-driver k8s-file --cgroup-parent /ckpt-e2e \
        "${options[@]}" localhost/counter /bin/ticker "$@"
    wait_for_count 5
}

# podman_run_hidden: the hook mounts the driver behind the engine's back.
podman_run_hidden() { podman_run --annotation driver-hook=yes "$@"; }

last_line() { podman logs --tail 1 "$CONTAINER" 2>/dev/null | tail -n 1; }

# wait_for_count N: until the counter shows more than N; leaves its line in $LINE.
wait_for_count() {
    local end=$((SECONDS + 10))
    while ((SECONDS < end)); do
        LINE=$(last_line) || true
        if [[ $LINE =~ ^[0-9a-f]{16}\ [0-9]+$ ]] && ((${LINE#* } > $1)); then return 0; fi
        sleep 0.3
    done
    fail "the counter does not get past $1 (last line: $LINE)"
}

# dump_fails REGEX: the container cannot be dumped, for that reason, and runs on.
dump_fails() {
    try podman container checkpoint --export /e2e/failed.tar.zst "$CONTAINER"
    [[ $RC != 0 ]] || fail "the dump worked, although it should not"
    keep_log dump.log
    expect_text "$1" "$(cat "$CASE_DIR/dump.log")" "the failed dump"
}

# podman_checkpoint ARCHIVE [OPTION...]: dumps the container and forgets it.
podman_checkpoint() {
    local archive=$1
    shift
    wait_for_count 5
    DUMPED=$LINE
    try podman container checkpoint --export "/e2e/$archive" "$@" "$CONTAINER"
    if [[ $RC != 0 ]]; then
        keep_log dump.log
        skip_unless_offered "$OUT"
        fail "dump: $(criu_says dump.log)"
    fi
    must podman rm -f -t 0 "$CONTAINER"
}

# criu_says LOG: the first error of CRIU's log that is one, or what the engine said.
criu_says() {
    grep -E 'Error \(' "$CASE_DIR/$1" | grep -vE 'rlimit|tun:|cgroupd' | head -n 1 | grep . || tail -n 1 <<<"$OUT"
}

# keep_log NAME: copies CRIU's log out of the container's bundle, empty when CRIU never ran.
keep_log() {
    local log
    log=$(find "$CASE_DIR/storage" -path "*/userdata/$1" -printf '%T@ %p\n' | sort -n | tail -n 1)
    : >"$CASE_DIR/$1"
    [[ -z $log ]] || cp "${log#* }" "$CASE_DIR/$1"
    note "$1: $(grep -c . "$CASE_DIR/$1" || true) lines"
    grep -E 'Error|Warn' "$CASE_DIR/$1" || true
}

podman_restore() {
    try podman container restore --import "/e2e/$1"
    keep_log restore.log
}

# restore_fails ARCHIVE REGEX: it has to fail, and for that reason, said by the engine or by CRIU.
restore_fails() {
    podman_restore "$1"
    [[ $RC != 0 ]] || fail "$1 restored, although it should not"
    expect_text "$2" "$OUT"$'\n'"$(cat "$CASE_DIR/restore.log")" "the failed restore of $1"
    must podman rm -f -t 0 --ignore "$CONTAINER"
}

# restore_works ARCHIVE: it has to restore, with its memory, and to go on counting.
restore_works() {
    podman_restore "$1"
    [[ $RC == 0 ]] || fail "restore of $1: $(criu_says restore.log)"
    wait_for_count "$((${DUMPED#* } + 3))"
    [[ ${LINE% *} == "${DUMPED% *}" ]] || fail "the counter of $1 started anew"
    note "counts on: $DUMPED -> $LINE"
}

# inside_is NODE: the restored container sees that node's driver files, where they have always been inside.
inside_is() {
    local host inside hash
    while read -r host inside; do
        must podman exec "$CONTAINER" /bin/sha256sum "$inside"
        hash=$(sha256sum "$NODES/$1$host")
        [[ ${OUT%% *} == "${hash%% *}" ]] || fail "$inside is not node $1's $host"
    done < <(node_pairs "$1")
}

# inside_uvm_is NODE: the device node has that node's numbers, and the container may open it.
inside_uvm_is() {
    local major
    major=$(node_uvm_major "$1")
    must podman exec "$CONTAINER" /bin/stat -c %t:%T /dev/nvidia-uvm
    [[ $OUT == "$(printf %x "$major"):0" ]] || fail "/dev/nvidia-uvm is $OUT (hex) inside, not $major:0"
    try podman exec "$CONTAINER" /bin/cat /dev/nvidia-uvm
    expect_text 'No such device or address' "$OUT" "opening /dev/nvidia-uvm"
}

podman_remove() { must podman rm -f -t 0 "$CONTAINER"; }
