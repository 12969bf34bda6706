# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
# containerd's side of a case, through its CRI socket. Its restore pulls the base image by digest, so a registry on
# loopback has it and the pause image. Archives are $CASE_DIR/NAME here and /e2e/NAME in the machine.

readonly CONTAINER=counter ENGINE_SECONDS=60 CRI_SECONDS=100
readonly REGISTRY=localhost:5000 SOCKET=/run/containerd/containerd.sock
readonly COUNTER_IMAGE=$REGISTRY/counter:1 PAUSE_IMAGE=$REGISTRY/pause:1
CGROUPS=hybrid

# daemon NAME COMMAND...: runs until the machine goes.
daemon() {
    local name=$1
    shift
    # shellcheck disable=SC2016 # expanded by the inner shell
    must in_root "$ENGINE_SECONDS" sh -c 'name=$1; shift; setsid "$@" >"/e2e/$name.log" 2>&1 </dev/null &' sh "$name" "$@"
}

# wait_until WHAT COMMAND...
wait_until() {
    local what=$1 end=$((SECONDS + 30))
    shift
    until "$@" >/dev/null 2>&1; do
        ((SECONDS < end)) || fail "$what does not come up"
        sleep 0.3
    done
}

cri() { in_root "$CRI_SECONDS" /e2e/cri "$SOCKET" "$@"; }

# cri_must METHOD REQUEST: leaves the answer in $OUT.
cri_must() { must cri "$@"; }

registry_start() {
    mkdir -p "$CASE_DIR/registry"
    cat >"$CASE_DIR/registry.yml" <<END
version: 0.1
storage: {filesystem: {rootdirectory: /e2e/registry}}
http: {addr: 127.0.0.1:5000}
END
    daemon registry docker-registry serve /e2e/registry.yml
    wait_until "the registry" in_root 5 bash -c "exec 3<>/dev/tcp/127.0.0.1/5000"
}

# push_image NAME: busybox and the counting program; the pause image may be the same.
push_images() {
    image_rootfs "$CASE_DIR/rootfs"
    must in_root "$ENGINE_SECONDS" sh -c "tar -C /e2e/rootfs -c . | podman import -c 'ENTRYPOINT [\"/bin/ticker\"]' - $COUNTER_IMAGE"
    must in_root "$ENGINE_SECONDS" podman tag "$COUNTER_IMAGE" "$PAUSE_IMAGE"
    must in_root "$ENGINE_SECONDS" podman push --tls-verify=false "$COUNTER_IMAGE"
    must in_root "$ENGINE_SECONDS" podman push --tls-verify=false "$PAUSE_IMAGE"
}

containerd_start() {
    cp "$E2E_DIR/cri" "$CASE_DIR/cri"
    cat >"$CASE_DIR/containerd.toml" <<END
version = 3
root = "/e2e/containerd"
state = "/run/containerd"
[grpc]
  address = "$SOCKET"
[plugins.'io.containerd.cri.v1.images']
  [plugins.'io.containerd.cri.v1.images'.pinned_images]
    sandbox = "$PAUSE_IMAGE"
[plugins.'io.containerd.cri.v1.runtime']
  restrict_oom_score_adj = true
  disable_apparmor = true
END
    daemon containerd containerd --config /e2e/containerd.toml
    wait_until containerd cri Version '{}'
    cri_must Version '{}'
    note "containerd: $OUT"
}

sandbox_config() {
    jq -n '{metadata: {name: "pod", uid: "uid1", namespace: "default"}, log_directory: "/e2e/podlogs",
            linux: {cgroup_parent: "/ckpt-e2e", security_context: {namespace_options: {network: 2, pid: 1}}}}'
}

# container_config IMAGE ARGS_JSON DEVICES_JSON
container_config() {
    jq -n --arg image "$1" --argjson args "$2" --argjson devices "$3" \
        '{metadata: {name: "counter"}, image: {image: $image}, args: $args, log_path: "counter.log",
          cdi_devices: ($devices | map({name: .})),
          linux: {security_context: {namespace_options: {network: 2, pid: 1}}}}'
}

pod_run() {
    cri_must RunPodSandbox "$(jq -n --argjson config "$(sandbox_config)" '{config: $config}')"
    POD=$(jq -r .pod_sandbox_id <<<"$OUT")
}

# container_create IMAGE ARGS_JSON DEVICES_JSON: for an image that is an archive this is the restore's first half.
container_create() {
    try cri CreateContainer "$(jq -n --arg pod "$POD" --argjson config "$(container_config "$@")" \
        --argjson sandbox "$(sandbox_config)" '{pod_sandbox_id: $pod, config: $config, sandbox_config: $sandbox}')"
    [[ $RC != 0 ]] || ID=$(jq -r .container_id <<<"$OUT")
}

container_start() { try cri StartContainer "{\"container_id\": \"$ID\"}"; }

# container_run ARGS_JSON: the counter with the driver of its node, by CDI.
container_run() {
    cri_must PullImage "{\"image\": {\"image\": \"$COUNTER_IMAGE\"}}"
    container_create "$COUNTER_IMAGE" "$1" '["nvidia.com/gpu=0"]'
    [[ $RC == 0 ]] || fail "CreateContainer: $OUT"
    container_start
    [[ $RC == 0 ]] || fail "StartContainer: $OUT"
    wait_for_count 5
}

pod_remove() {
    cri_must StopPodSandbox "{\"pod_sandbox_id\": \"$POD\"}"
    cri_must RemovePodSandbox "{\"pod_sandbox_id\": \"$POD\"}"
    rm -rf "$CASE_DIR/podlogs"
}

# wait_for_count N: until the counter shows more than N; leaves its line in $LINE.
wait_for_count() {
    local end=$((SECONDS + 15))
    while ((SECONDS < end)); do
        LINE=$(tail -n 1 "$CASE_DIR/podlogs/counter.log" 2>/dev/null | cut -d ' ' -f 4-) || true
        if [[ $LINE =~ ^[0-9a-f]{16}\ [0-9]+$ ]] && ((${LINE#* } > $1)); then return 0; fi
        sleep 0.3
    done
    fail "the counter does not get past $1 (last line: $LINE)"
}

# container_checkpoint NAME: into the archive that kubelet would get; the pod goes.
container_checkpoint() {
    wait_for_count 5
    try cri CheckpointContainer "{\"container_id\": \"$ID\", \"location\": \"/e2e/$1\", \"timeout\": 60}"
    if [[ $RC != 0 ]]; then
        skip_unless_offered "$OUT"
        fail "CheckpointContainer: $OUT"
    fi
    DUMPED=$LINE
    pod_remove
}

# CRIU's log goes with the bundle; a line in its configuration keeps it.
keep_criu_log() { criu_conf <<<'log-file=/e2e/restore.log'; }

# container_restore IMAGE: into a new pod, from an archive or a checkpoint image.
container_restore() {
    rm -f "$CASE_DIR/restore.log"
    pod_run
    container_create "$1" '[]' '["nvidia.com/gpu=0"]'
    [[ $RC != 0 ]] || container_start
}

# image_offer ARCHIVE NAME: an oci-archive goes into the registry, and containerd pulls it.
image_offer() {
    must in_root "$ENGINE_SECONDS" podman load -i "/e2e/$1"
    must in_root "$ENGINE_SECONDS" podman push --tls-verify=false "$2"
    cri_must PullImage "{\"image\": {\"image\": \"$2\"}}"
}

# container_restore_fails ARCHIVE REGEX
container_restore_fails() {
    container_restore "/e2e/$1"
    [[ $RC != 0 ]] || fail "$1 restored, although it should not"
    expect_text "$2" "$OUT"$'\n'"$(cat "$CASE_DIR/restore.log" 2>/dev/null)" "the failed restore of $1"
    pod_remove
}

container_restore_works() {
    container_restore "$1"
    [[ $RC == 0 ]] || fail "restore of $1: $OUT; $(grep -E 'Error' "$CASE_DIR/restore.log" | head -n 3)"
    wait_for_count "$((${DUMPED#* } + 3))"
    [[ ${LINE% *} == "${DUMPED% *}" ]] || fail "the counter of $1 started anew"
    note "counts on: $DUMPED -> $LINE"
}

# container_has HOST_FILE INSIDE
container_has() {
    local hash
    cri_must ExecSync "$(jq -n --arg id "$ID" --arg file "$2" '{container_id: $id, cmd: ["/bin/sha256sum", $file], timeout: 10}')"
    hash=$(sha256sum "$1")
    [[ $(jq -r .stdout <<<"$OUT") == "${hash%% *}"* ]] || fail "$2 inside is not ${1#"$NODES/"}"
}

containerd_prepare() {
    machine_start "$CGROUPS"
    registry_start
    push_images
    keep_criu_log
    containerd_start
}
