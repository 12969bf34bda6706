// SPDX-License-Identifier: Apache-2.0
#include <iterator>

#include "criu_log/catalogue.h"

namespace ckpt::criu_log {

using enum FailureWeight;

namespace {

constexpr FailureKind kKinds[] = {
    {"runtime.mount_source", LogStage::restore, cause, "mount src=%h, dst=%s: no such file or directory",
     "The runtime refuses before CRIU starts: the host path {source}, a mount of the container, does not "
     "exist on this node.",
     "Re-point the mount in spec.dump to where this node has it. Lines in the CRIU configuration cannot "
     "cure this.",
     "",
     "ckpt-patch {archive} -o patched.tar --cdi TARGET.yaml\n"
     "ckpt-patch {archive} -o patched.tar --map {source}=NEW"},
    {"runtime.mount_source_old", LogStage::any, cause,
     "create criu restore mount for %p mount: bind mount source stat: stat %h: no such file or directory\n"
     "create criu restore mount for %h mount",
     "The runtime refuses before CRIU starts: the host path {source}, a mount of the container, does not "
     "exist on this node.",
     "Re-point the mount in spec.dump to where this node has it. Lines in the CRIU configuration cannot "
     "cure this.",
     "", "ckpt-patch {archive} -o patched.tar --cdi TARGET.yaml"},
    {"runtime.stat", LogStage::any, cause,
     "cannot stat `%h`: No such file or directory\n"
     "error stat'ing file %h: No such file or directory\n"
     "crun: stat `%h`: No such file or directory\n"
     "stat `%h`: No such file or directory",
     "crun refuses before CRIU starts: the host path {source}, a mount of the container, does not exist on "
     "this node.",
     "Re-point the mount in spec.dump to where this node has it; where a CDI file names it, that file is "
     "stale: generate it again.",
     "", "ckpt-patch {archive} -o patched.tar --cdi TARGET.yaml"},
    {"runtime.hook", LogStage::restore, cause,
     "error running createRuntime hook #%n: fork/exec %h: no such file or directory\n"
     "error running prestart hook #%n: fork/exec %h: no such file or directory\n"
     "error running hook #%n: fork/exec %h: no such file or directory",
     "The hook {source} runs again at the restore and does not exist on this node.",
     "Drop the hook: what it made before the dump is in the checkpoint.", "",
     "ckpt-patch {archive} -o patched.tar --drop-hooks --cdi TARGET.yaml"},
    {"runtime.nvidia_hook", LogStage::any, cause,
     "nvidia-container-cli: mount error: %s\n"
     "nvidia-container-cli.real: mount error: %s\n"
     "nvidia-container-cli: initialization error: %s",
     "NVIDIA's legacy hook runs again at the restore and fails: {text}",
     "Drop the hook and let the target's CDI file say where the driver is.", "",
     "ckpt-patch {archive} -o patched.tar --cdi TARGET.yaml"},
    {"runtime.differs", LogStage::restore, cause,
     "was created with runtime '%s' and cannot be restored with runtime\n"
     "requires runtime: %s\n"
     "CRIU restoring failed -52",
     "The archive was made by another OCI runtime than the one that restores it.",
     "Restore with the runtime of the dump (podman --runtime).", "", "ckpt-inspect show {archive}"},
    {"runtime.no_descriptors", LogStage::restore, cause, "descriptors.json: no such file or directory",
     "checkpoint/descriptors.json is not in the archive; the runtimes write it beside the images.",
     "Make the checkpoint through runc, crun or an engine; add a list of three strings if it was lost.", "",
     "ckpt-inspect ls {archive}"},
    {"podman.incomplete", LogStage::restore, cause, "a complete checkpoint for this container cannot be found",
     "Podman misses checkpoint/inventory.img: the dump was not completed, or the archive lost it.",
     "Make the checkpoint again.", "", "ckpt-inspect show {archive}"},
    {"podman.id_in_use", LogStage::restore, cause,
     "that ID is already in use\n"
     "that name is already in use",
     "A container of that name or id exists, perhaps left by an earlier try.",
     "Remove it (podman rm), or restore under another name.", "", ""},
    {"podman.no_config", LogStage::restore, cause,
     "failed extracting runtime information from %p: %s\n"
     "spec.dump: no such file or directory",
     "config.dump or spec.dump is not in the archive, so this is no archive of Podman.",
     "Use the engine that made the archive.", "", "ckpt-inspect show {archive}"},
    {"podman.truncated", LogStage::restore, cause, "unpacking failed (error: exit status 1; output: unexpected EOF)",
     "The archive ends in the middle.", "Copy it again.", "", "ckpt-inspect show {archive}"},
    {"engine.json_bom", LogStage::restore, cause,
     "invalid character '\\\\ufeff' looking for beginning of value\n"
     "invalid character '\\ufeff'\n"
     "invalid character '\xef\xbb\xbf'",
     "A JSON document of the archive begins with a byte order mark, which Go does not read.", "Save it without one.",
     "", "ckpt-inspect show {archive}"},
    {"crio.missing_mounts", LogStage::restore, cause, "expects following bind mounts defined (%s)",
     "CRI-O wants every mount of spec.dump declared by the pod: {text}",
     "Declare the volumes in the pod. Mounts of CDI devices cannot be declared: patch the archive for "
     "CRI-O, which takes them out.",
     "", "ckpt-patch {archive} -o patched.tar --engine cri-o --cdi TARGET.yaml"},
    {"crio.no_command", LogStage::restore, cause, "no command specified",
     "The image that the engine was told to restore has no command: it did not take it for a checkpoint "
     "image, or the base image has none.",
     "Set the checkpoint annotations on the manifest (CRI-O) and on the index (containerd); ckpt-patch "
     "--oci writes them.",
     "", ""},
    {"crio.archive_path", LogStage::restore, cause, "cannot parse input: %s invalid reference format",
     "The engine took a path for an image name: the archive does not exist there on that node, or its "
     "name holds what references may not.",
     "Copy the archive to that node, under the very path that the pod names.", "", ""},
    {"containerd.base_image", LogStage::restore, cause, "failed to pull checkpoint base image %s",
     "containerd pulls the image that the container was made from, and could not: {text}",
     "Have the base image in a registry that this node reaches, by digest.", "", "ckpt-inspect show {archive}"},
    {"containerd.no_status", LogStage::restore, cause, "status.dump: no such file or directory",
     "status.dump is not in the archive, so this is no archive of containerd.", "Restore with the engine that made it.",
     "", "ckpt-inspect show {archive}"},
    {"kubelet.volumes", LogStage::restore, cause,
     "Path does not exist\" path=\"%s\n"
     "Path does not exist",
     "The checkpoint refers to the volume directory of a pod that is gone: {text}",
     "Re-point the volume to the new pod's directory.", "",
     "ckpt-patch {archive} -o patched.tar --map OLD-POD-DIR=NEW-POD-DIR"},
    {"cdi.unresolvable", LogStage::any, cause, "unresolvable CDI devices %s",
     "No CDI file of this node has the device {text}",
     "Generate the CDI file (nvidia-ctk cdi generate), where the engine looks: /etc/cdi or /var/run/cdi.", "",
     "ckpt-inspect gpu {archive}"},
    {"gpu.library_mismatch", LogStage::any, cause, "Driver/library version mismatch",
     "The driver library in the container and the kernel module of this node are of different versions.",
     "Mount the library of this node's driver; a process that had the other one mapped cannot go on here.", "",
     "ckpt-inspect check --cdi TARGET.yaml --root / {archive}"},
    {"engine.terminal", LogStage::restore, cause,
     "ProcessLabel and Mountlabel must either not be specified or both specified",
     "The labels of the container were lost between checkpoint and restore.", "Restore with a newer Podman.", "", ""},
    {"runtime.images_dir", LogStage::restore, cause, "error opening binary file: open %p: no such file or directory",
     "{path} is not among the images; a setting such as images-dir may have moved them at the dump.",
     "Take images-dir out of the CRIU configuration and make the checkpoint again.", "", "ckpt-inspect ls {archive}"},
};

}  // namespace

std::vector<FailureKind> engine_kinds() { return {std::begin(kKinds), std::end(kKinds)}; }

}  // namespace ckpt::criu_log
