# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
# Stand-in driver nodes. Nothing here is NVIDIA's: the libraries hold a version string, nvidia-smi is a one-line script,
# the firmware is a line of text and the device nodes are /dev/null under other names. They have the names, the places
# and (from version to version) the different sizes and build-ids of a real driver; a mount needs no more.
#   A  570.86.10 in the places a distribution package uses
#   B  570.86.10, the same files, all of it under /opt/nv; nvidia-uvm has another major, as after any boot
#   C  570.133.20 in A's places, without nvidia-debugdump

# Fixed by the container's side of CDI: where a driver file appears inside, whatever the node's own layout is.
readonly INSIDE_LIB=/usr/lib/x86_64-linux-gnu
readonly INSIDE_SMI=/usr/bin/nvidia-smi
readonly INSIDE_DEBUGDUMP=/usr/bin/nvidia-debugdump
readonly INSIDE_FIRMWARE=/lib/firmware/nvidia

# node_layout NODE: sets version, lib, bin, firmware, dev and uvm_major to those of that node. The majors belong to no
# driver: opening such a node says "no such device" where the container may open it, and "not permitted" where not.
node_layout() {
    case $1 in
        A) version=570.86.10 uvm_major=300 ;;
        B) version=570.86.10 uvm_major=301 ;;
        C) version=570.133.20 uvm_major=300 ;;
        *) fail "no node $1" ;;
    esac
    if [[ $1 == B ]]; then
        lib=/opt/nv/lib bin=/opt/nv/bin firmware=/opt/nv/firmware dev=/opt/nv/dev
    else
        lib=/usr/lib/x86_64-linux-gnu bin=/usr/bin firmware=/usr/lib/firmware/nvidia dev=/srv/gpu-dev
    fi
}

# node_uvm_major NODE
node_uvm_major() {
    local version lib bin firmware dev uvm_major
    node_layout "$1"
    echo "$uvm_major"
}

# driver_library NAME VERSION PADDING FILE
driver_library() {
    gcc -shared -nostdlib -fPIC -O1 -Wl,--build-id=sha1 -Wl,-soname,"$1.so.1" \
        -DDRIVER_VERSION="\"$1 $2\"" -DDRIVER_PADDING="$3" -o "$4" "$E2E_DIR/driver_library.c"
}

# node_pairs NODE: one line "HOST_PATH INSIDE_PATH" for each file of the driver.
node_pairs() {
    local version lib bin firmware dev uvm_major
    node_layout "$1"
    printf '%s %s\n' \
        "$lib/libcuda.so.$version" "$INSIDE_LIB/libcuda.so.$version" \
        "$lib/libnvidia-ml.so.$version" "$INSIDE_LIB/libnvidia-ml.so.$version" \
        "$bin/nvidia-smi" "$INSIDE_SMI" \
        "$firmware/$version/gsp_ga10x.bin" "$INSIDE_FIRMWARE/$version/gsp_ga10x.bin"
    [[ $1 == C ]] || echo "$bin/nvidia-debugdump $INSIDE_DEBUGDUMP"
}

# node_build NODE TREE: makes the node's files below TREE.
node_build() {
    local version lib bin firmware dev uvm_major padding=9000 host inside
    node_layout "$1"
    [[ $1 == C ]] && padding=13000
    mkdir -p "$2$lib" "$2$bin" "$2$firmware/$version" "$2$dev" "$2/etc/cdi" "$2/usr/libexec"
    driver_library libcuda "$version" "$padding" "$2$lib/libcuda.so.$version"
    driver_library libnvidia-ml "$version" "$((padding / 2))" "$2$lib/libnvidia-ml.so.$version"
    ln -s "libcuda.so.$version" "$2$lib/libcuda.so.1"
    printf '#!/bin/sh\necho stand-in %s\n' "$version" >"$2$bin/nvidia-smi"
    [[ $1 == C ]] || printf '#!/bin/sh\necho dump %s\n' "$version" >"$2$bin/nvidia-debugdump"
    printf 'stand-in firmware %s\n' "$version" >"$2$firmware/$version/gsp_ga10x.bin"
    printf '#!/bin/sh\nexit 0\n' >"$2$bin/nvidia-cdi-hook"
    chmod 755 "$2$bin/nvidia-smi" "$2$bin/nvidia-cdi-hook"
    mknod -m 666 "$2$dev/nvidia0" c 1 3
    mknod -m 666 "$2$dev/nvidiactl" c 1 3
    mknod -m 666 "$2$dev/nvidia-uvm" c "$uvm_major" 0
    node_cdi "$1" >"$2/etc/cdi/nvidia.yaml"
    { node_pairs "$1" && echo "$dev/nvidiactl /dev/nvidiactl"; } >"$2/etc/driver-hook.list"
    install -m 755 "$E2E_DIR/driver-hook" "$2/usr/libexec/driver-hook"
    while read -r host inside; do
        [[ -e $2$host ]] || fail "node $1 has no $host for $inside"
    done <"$2/etc/driver-hook.list"
}

# node_cdi NODE: the node's CDI specification.
node_cdi() {
    local version lib bin firmware dev uvm_major host inside
    node_layout "$1"
    cat <<END
cdiVersion: 0.5.0
kind: nvidia.com/gpu
devices:
- name: "0"
  containerEdits:
    deviceNodes:
    - path: /dev/nvidia0
      hostPath: $dev/nvidia0
- name: all
  containerEdits:
    deviceNodes:
    - path: /dev/nvidia0
      hostPath: $dev/nvidia0
containerEdits:
  env:
  - NVIDIA_VISIBLE_DEVICES=void
  deviceNodes:
  - path: /dev/nvidiactl
    hostPath: $dev/nvidiactl
  - path: /dev/nvidia-uvm
    hostPath: $dev/nvidia-uvm
    type: c
    major: $uvm_major
    minor: 0
  hooks:
  - hookName: createContainer
    path: $bin/nvidia-cdi-hook
    args: [nvidia-cdi-hook, create-symlinks, --link, "libcuda.so.$version::$INSIDE_LIB/libcuda.so.1"]
  mounts:
END
    while read -r host inside; do
        printf -- '  - hostPath: %s\n    containerPath: %s\n' "$host" "$inside"
        printf '    options: [ro, nosuid, nodev, bind, rbind, rprivate]\n'
    done < <(node_pairs "$1")
}

# nodes_build DIR: DIR/A, DIR/B and DIR/C.
nodes_build() {
    local node
    for node in A B C; do node_build "$node" "$1/$node"; done
    cmp -s "$1/A$INSIDE_LIB/libcuda.so.570.86.10" "$1/B/opt/nv/lib/libcuda.so.570.86.10" ||
        fail "nodes A and B should have the same build of libcuda"
}

# node_leave: takes every file of any node out of the root, so that an old place really is gone.
node_leave() {
    local node path
    for node in A B C; do
        while IFS= read -r path; do
            rm -f -- "$ROOT/$path"
        done < <(cd "$NODES/$node" && find . ! -type d)
    done
    rm -rf "$ROOT/opt/nv" "$ROOT/srv/gpu-dev" "$ROOT/usr/lib/firmware/nvidia"
}

# node_use NODE: the root becomes that node.
node_use() {
    note "node $1"
    node_leave
    cp -a "$NODES/$1/." "$ROOT/"
}

# node_cdi_file NODE
node_cdi_file() { echo "$NODES/$1/etc/cdi/nvidia.yaml"; }

# node_external_lines NODE (token|path): one CRIU line for each mount that the driver hook makes on that node.
node_external_lines() {
    local host inside
    while read -r host inside; do
        if [[ $2 == token ]]; then
            echo "external mnt[$inside]:gpu-$(basename "$inside" | tr . -)"
        else
            echo "external mnt[$inside]:$inside"
        fi
    done <"$NODES/$1/etc/driver-hook.list"
}

# image_rootfs DIR: busybox and the counting program. With MERGED_USR set /lib is a link, as in most of today's images, and
# what is mounted at /lib/firmware appears to CRIU at /usr/lib/firmware.
image_rootfs() {
    mkdir -p "$1"/{bin,dev,proc,sys,etc,tmp,run,usr/lib,usr/bin,var}
    if [[ -n ${MERGED_USR:-} ]]; then ln -s usr/lib "$1/lib"; else mkdir "$1/lib"; fi
    cp "$ROOT/bin/busybox" "$1/bin/busybox"
    ln -s busybox "$1/bin/sh"
    ln -s busybox "$1/bin/sha256sum"
    ln -s busybox "$1/bin/stat"
    ln -s busybox "$1/bin/cat"
    cp "$NODES/ticker" "$1/bin/ticker"
}
