// SPDX-License-Identifier: Apache-2.0
#include <iterator>

#include "criu_log/catalogue.h"

namespace ckpt::criu_log {

using enum FailureWeight;

namespace {

constexpr FailureKind kKinds[] = {
    {"mount.no_mapping", LogStage::restore, cause,
     "No mapping for %m:%s mountpoint\n"
     "No mapping for %p mountpoint",
     "Mount {mnt_id}, {path}, was dumped as external under the key {key}, and nobody told CRIU what to "
     "put there.",
     "Give CRIU the line below with the host path that takes its place, or let ckpt-patch bring spec.dump "
     "and the key together.",
     "external=mnt[{key}]:{source}", "ckpt-patch {archive} -o patched.tar --cdi TARGET.yaml"},
    {"mount.autodetected", LogStage::restore, cause, "Mount %m:%s is autodetected external mount",
     "Mount {mnt_id}, {path}, was dumped with `external mnt[]`; its host path stands in the image and "
     "CRIU does not use it unasked.",
     "Repeat `external=mnt[]` at the restore on the same node, or let ckpt-patch turn the mount into an "
     "ordinary one.",
     "external=mnt[]", "ckpt-patch {archive} -o patched.tar --cdi TARGET.yaml"},
    {"mount.no_root_mount", LogStage::any, cause, "mnt: %m:%p doesn't have a proper root mount",
     "Mount {mnt_id}, {path}, is a bind whose origin lies outside the container and that the runtime does "
     "not know: a hook or a shim made it.",
     "At the dump declare it external, all at once with `external=mnt[]` or one by one with its "
     "mountpoint, leading slash included.",
     "external=mnt[]\n"
     "enable-external-masters",
     ""},
    {"mount.unreachable_sharing", LogStage::any, cause, "Mount %m %p (master_id: %s has unreachable sharing",
     "Mount {mnt_id}, {path}, is a slave of a mount on the host, and CRIU cannot re-create that "
     "propagation.",
     "Let CRIU ignore outside masters, at the dump; for a mount that a hook made also let it be external.",
     "enable-external-masters\n"
     "external=mnt[]",
     ""},
    {"mount.source_missing", LogStage::restore, cause, "Failed to open_tree %h: No such file or directory",
     "The host path {source} that an external mount should come from does not exist on this node.",
     "Give the mount another source: ckpt-patch finds the one of the target's CDI file, --map names any "
     "other.",
     "",
     "ckpt-patch {archive} -o patched.tar --cdi TARGET.yaml\n"
     "ckpt-patch {archive} -o patched.tar --map {source}=NEW"},
    {"mount.source_is_symlink", LogStage::restore, cause, "Failed to open_tree %h: Too many levels of symbolic links",
     "The last part of the host path {source} is a symlink, which CRIU does not follow.",
     "Name the file that the link leads to.", "", "ckpt-patch {archive} -o patched.tar --map {source}=NEW"},
    {"mount.wrong_kind", LogStage::restore, cause,
     "Failed to move_mount from %h to %p: Invalid argument\n"
     "Failed to move_mount %h: Invalid argument\n"
     "Failed to move_mount from %h to %p: Not a directory",
     "The source {source} is a directory where the container has a file at {path}, or the other way round.",
     "Name a source of the same kind.", "", "ckpt-patch {archive} -o patched.tar --cdi TARGET.yaml"},
    {"mount.no_mountpoint", LogStage::restore, cause,
     "Can't stat mountpoint %p: No such file or directory\n"
     "Can't mount at %p: No such file or directory",
     "The place {path} to mount on does not exist in the restored root file system.",
     "A mount that spec.dump lists gets its place made by the runtime: add it there with ckpt-patch, or "
     "create the file or directory in the image.",
     "",
     "ckpt-inspect mounts --hidden {archive}\n"
     "ckpt-patch {archive} -o patched.tar --cdi TARGET.yaml"},
    {"mount.cannot_bind", LogStage::restore, cause,
     "Can't bind-mount at %p: No such file or directory\n"
     "Can't bind-mount at %p: %s",
     "CRIU could not put a bind on {path}: its source or the place itself is missing.",
     "Look for the source on this node and for the place in the image; ckpt-patch re-points the source.", "",
     "ckpt-inspect mounts {archive}\n"
     "ckpt-patch {archive} -o patched.tar --cdi TARGET.yaml"},
    {"mount.broken_tree", LogStage::restore, cause,
     "No parent found for mountpoint\n"
     "No root found for tree\n"
     "No root found for mountpoint",
     "The mount tree in the image does not hang together: it is truncated, badly edited, or was taken "
     "outside a mount namespace of its own.",
     "Take the unedited archive, or make a new checkpoint.", "", "ckpt-inspect mounts {archive}"},
    {"mount.twice", LogStage::restore, cause, "has two children with same mountpoint",
     "Two mounts of the image stand on the same place below one parent, as after a bad edit.",
     "Take the unedited archive and patch that one.", "", "ckpt-inspect mounts {archive}"},
    {"mount.copy_sharing", LogStage::restore, cause,
     "Failed to copy sharing from %s: Invalid argument\n"
     "Failed to copy sharing from %s",
     "CRIU cannot give a mount the propagation of its source ({text}), which is not a shared mount of its "
     "own on this node.",
     "Make the source a shared mount point, or restore with the older mount engine.",
     "mntns-compat-mode", ""},
    {"mount.deleted", LogStage::restore, cause,
     "Can't re-create deleted %p\n"
     "Can't re-create deleted",
     "The source of the bind {path} had been deleted when the checkpoint was made, and cannot be made "
     "again.",
     "Leave that mount out.", "", "ckpt-patch {archive} -o patched.tar --drop-mount {path}"},
    {"mount.plugin", LogStage::restore, cause, "Can't restore ext mount (-95)",
     "A CRIU plugin dumped this mount, and no plugin here takes it back.",
     "Install the plugin of the dump's node in CRIU's plugin directory.", "", "ckpt-inspect show {archive}"},
    {"mount.no_root_option", LogStage::restore, cause, "--root option is required to restore a mount namespace",
     "CRIU was called without the container's root directory.",
     "Restore through the runtime (runc, crun, podman), which passes it.", "", ""},
    {"mount.fs_unavailable", LogStage::restore, cause,
     "FS mnt %p dev %s unsupported id\n"
     "unsupported id %s\n"
     "Unable to mount %p %s\n"
     "Unable to mount %p",
     "A file system that the container has mounted cannot be mounted on this node.",
     "Load the kernel module of that file system, or leave the mount out.", "", "ckpt-inspect mounts {archive}"},
    {"mount.tmpfs_content", LogStage::restore, cause, "Can't restore tmpfs content",
     "The content of a tmpfs could not be unpacked: tar is missing on this node, or that member of the "
     "archive is damaged.",
     "Install tar and gzip where CRIU finds them.", "", "ckpt-inspect ls {archive}"},
    {"mount.readonly_sb", LogStage::dump, cause, "The mount %m has readonly sb",
     "Mount {mnt_id}, {path}, lies on a file system that is read-only as a whole, which autodetection "
     "cannot express.",
     "Declare that mount external by its mountpoint.", "external=mnt[{path}]:{path}", ""},
    {"mount.no_device", LogStage::dump, cause,
     "No device for %p mount\n"
     "No device for",
     "CRIU does not find the device that the mount {path} comes from.",
     "Declare that mount external by its mountpoint.", "external=mnt[{path}]:{path}", ""},
};

}  // namespace

std::vector<FailureKind> mount_kinds() { return {std::begin(kKinds), std::end(kKinds)}; }

}  // namespace ckpt::criu_log
