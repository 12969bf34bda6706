// SPDX-License-Identifier: Apache-2.0
#include <iterator>

#include "criu_log/catalogue.h"

namespace ckpt::criu_log {

using enum FailureWeight;

namespace {

constexpr FailureKind kKinds[] = {
    {"file.size_differs", LogStage::restore, cause, "File %p has bad size %n (expect %s)",
     "{path} is not the file that a process had mapped or open at the dump: it has {number} bytes, not "
     "{text}",
     "Supply the very same build of the file. For a driver library that is the same driver version; no "
     "patch can replace code that runs.",
     "", "ckpt-inspect check --cdi TARGET.yaml --root / {archive}"},
    {"file.build_id_differs", LogStage::restore, cause, "File %p has bad build-ID",
     "{path} has the size that it had at the dump but is another build.",
     "Supply the very same build of the file: the same package or driver version from the same "
     "distribution.",
     "", "ckpt-inspect check --cdi TARGET.yaml --root / {archive}"},
    {"file.mode_differs", LogStage::restore, cause, "File %p has bad mode",
     "{path} is there with another type or other permissions than at the dump.", "Give it the mode of the dump's node.",
     "", ""},
    {"file.checksum_differs", LogStage::restore, cause, "File %p has bad checksum",
     "{path} has another content than at the dump.", "Supply the very same file.", "", ""},
    {"file.missing", LogStage::restore, cause,
     "Can't open file %p on restore: No such file or directory\n"
     "Can't open file %p on restore",
     "A process had {path} open or mapped, and it does not exist in the restored container: a volume or a "
     "mount is missing, or the file was outside the checkpoint.",
     "Bring the volume along, or mount what held the file.", "", "ckpt-inspect mounts {archive}"},
    {"file.inconsistent", LogStage::restore, cause,
     "Can't find regfile for\n"
     "Can't find file for ID\n"
     "ID mismatch\n"
     "No entry for %s",
     "The images of this checkpoint contradict one another, as after an edit of files.img alone.",
     "Take the unedited archive.", "", "ckpt-inspect show {archive}"},
    {"file.mount_unknown", LogStage::dump, cause, "Can't lookup mount=%m for fd=%n path=%p",
     "An open file, {path}, lies on mount {mnt_id}, which CRIU does not see: it was unmounted lazily, or "
     "the kernel reports overlay files wrongly.",
     "Close the file before the dump, or use a newer kernel.", "", ""},
    {"file.hidden", LogStage::dump, cause,
     "Unaccessible path opened %n\n"
     "Unaccessible path opened\n"
     "Open files on overmounted mounts are not supported yet",
     "A process holds a file that another mount hides now.",
     "Do not mount over a directory that is in use, or close the file before the dump.", "", ""},
    {"file.link_remap", LogStage::dump, cause, "Can't create link remap for %p. Use",
     "{path} was deleted while it is open and another name of it still exists.", "Allow CRIU to make a temporary link.",
     "link-remap", ""},
    {"file.link_remap_lost", LogStage::restore, cause,
     "Can't link %p -> %s: No such file or directory\n"
     "Can't link %p",
     "The temporary link {path} that the dump made is gone: it lay on a file system whose content is not "
     "in the archive (an external mount such as /dev/shm).",
     "Keep the files of that mount with the checkpoint, or do not make it external.", "",
     "ckpt-inspect mounts {archive}"},
    {"file.ghost_limit", LogStage::dump, cause, "Can't dump ghost file %p of %n size, increase limit",
     "A deleted file that is still open, {path}, has {number} bytes, above CRIU's limit (1 MiB unless "
     "set).",
     "Raise the limit above that size.", "ghost-limit={number}", ""},
    {"file.locks", LogStage::dump, cause, "Some file locks are hold by dumping tasks", "A process holds a file lock.",
     "Allow file locks, at the dump and at the restore (podman: --file-locks).", "file-locks", ""},
    {"image.magic", LogStage::restore, cause,
     "Magic doesn't match for %s\n"
     "Head magic doesn't match",
     "An image does not begin as an image of its kind does: the archive is damaged, or its members were "
     "mixed up.",
     "Copy the archive again; compare its checksum with the original.", "", "ckpt-inspect show {archive}"},
    {"image.version", LogStage::any, cause,
     "Not supported images version\n"
     "Too old image, no longer supported",
     "The images were written by a CRIU whose format this one does not read.",
     "Use the CRIU version of the dump or a newer one.", "", "ckpt-inspect show {archive}"},
    {"image.short", LogStage::restore, cause, "Unexpected EOF on %s", "An image ends in the middle: {text}",
     "Copy the archive again; it was cut off.", "", "ckpt-inspect show {archive}"},
    {"image.uprobes", LogStage::restore, cause, "Dumped with --allow-uprobes. Need to set it on restore as well",
     "The checkpoint was made with --allow-uprobes.", "Repeat the option.", "allow-uprobes", ""},
    {"image.no_parent", LogStage::restore, cause,
     "No parent image found, though parent directory is set\n"
     "in parent pagemap",
     "This is one step of a chain of incremental checkpoints, and the earlier step is not there.",
     "Keep the earlier checkpoints where the parent link points, or make a full one (podman: without "
     "--with-previous).",
     "", "ckpt-inspect ls {archive}"},
    {"image.pages", LogStage::restore, cause, "Can't read pages data",
     "The memory pages are incomplete: a pages image is cut off or missing.", "Copy the archive again.", "",
     "ckpt-inspect ls {archive}"},
    {"image.inventory", LogStage::restore, cause,
     "Can't open image inventory\n"
     "Can't open dir %p\n"
     "Can't open %s inventory.img",
     "There are no images where CRIU looks for them, or the dump was never completed: inventory.img is "
     "written last.",
     "Check the image directory, and images-dir in the CRIU configuration.", "", "ckpt-inspect ls {archive}"},
};

}  // namespace

std::vector<FailureKind> file_kinds() { return {std::begin(kKinds), std::end(kKinds)}; }

}  // namespace ckpt::criu_log
