// SPDX-License-Identifier: Apache-2.0
#include <iterator>

#include "criu_log/catalogue.h"

namespace ckpt::criu_log {

using enum FailureWeight;

namespace {

constexpr FailureKind kKinds[] = {
    {"criu.failed", LogStage::any, wrapper,
     "criu failed: type %s errno %n\n"
     "CRIU restoring failed %s\n"
     "CRIU checkpointing failed %s",
     "The runtime only says that CRIU failed ({text}).",
     "Look at CRIU's own log, dump.log or restore.log in the bundle or work directory; engines delete it "
     "with the bundle, so set log-file.",
     "log-file=/var/log/criu-restore.log", "ckpt-inspect explain restore.log --archive {archive}"},
    {"runtime.exit", LogStage::any, wrapper, "did not terminate successfully: exit status %n",
     "The engine only says that the runtime failed.", "Look at the log of CRIU or of the runtime.", "",
     "ckpt-inspect explain restore.log --archive {archive}"},
    {"end.failed", LogStage::any, fallout,
     "Restoring FAILED\n"
     "Dumping FAILED\n"
     "Pre-dumping FAILED",
     "CRIU gives up.", "", "", ""},
    {"end.exited", LogStage::any, fallout,
     "exited, status=%n\n"
     "killed by signal %n\n"
     "stopped by signal %n",
     "A task of the restore ended early.", "", "", ""},
    {"file.vma", LogStage::restore, fallout,
     "Can't open vma\n"
     "Unable to open fd=%n id=%s",
     "Follows from the file named above it.", "", "", ""},
    {"action.script", LogStage::any, fallout,
     "One of more action scripts failed\n"
     "One or more action scripts failed",
     "A step of the runtime failed; its own line says which.", "", "", ""},
    {"cgroup.daemon", LogStage::restore, noise, "cgroupd: recv req error", "Printed whenever a restore fails.", "", "",
     ""},
    {"rlimit.nofile", LogStage::any, noise, "Can't setup RLIMIT_NOFILE for self",
     "CRIU may not raise its limit of open files, and goes on.", "", "", ""},
    {"kernel.features", LogStage::any, noise,
     "CRIU was built without libnftables support\n"
     "Hardware breakpoints don't seem to work\n"
     "criu/kerndat.c:",
     "A feature that this kernel or CRIU lacks; CRIU goes on without it.", "", "", ""},
    {"clone.flags", LogStage::restore, noise, "Set CLONE_PARENT | CLONE_NEWPID but it might cause restore problem",
     "A reminder about old kernels.", "", "", ""},
    {"binfmt.misc", LogStage::any, noise,
     "binfmt_misc: Operation not permitted\n"
     "binfmt_misc",
     "Handlers of foreign executables are not part of a container.", "", "", ""},
    {"syscall.interrupted", LogStage::dump, noise, "Will restore %n with interrupted system call",
     "The system call is started again at the restore.", "", "", ""},
};

}  // namespace

std::vector<FailureKind> fallout_kinds() { return {std::begin(kKinds), std::end(kKinds)}; }

}  // namespace ckpt::criu_log
