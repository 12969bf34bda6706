// SPDX-License-Identifier: Apache-2.0
#include <iterator>

#include "criu_log/catalogue.h"

namespace ckpt::criu_log {

using enum FailureWeight;

namespace {

constexpr FailureKind kKinds[] = {
    {"pid.in_use", LogStage::restore, cause,
     "Pid %n do not match expected %s\n"
     "Can't fork for %n: File exists",
     "A process must get its old number back, and {number} is taken: the checkpoint does not have a pid "
     "namespace of its own.",
     "Restore into a pid namespace of its own, or free that number.", "", "ckpt-inspect show {archive}"},
    {"pid.shared_namespace", LogStage::any, cause,
     "Can't dump a pid namespace without the process init\n"
     "Can't restore pid namespace without the process init\n"
     "This process tree can only be restored in a new pid namespace\n"
     "Unable to find an external pidns",
     "The container shares its pid namespace with others (a pod), so its tree has no init of its own.",
     "Do not share process namespaces in the pod (shareProcessNamespace, pid mode POD); the restore needs "
     "the same mode.",
     "", "ckpt-inspect show {archive}"},
    {"cgroup.move", LogStage::restore, cause,
     "Can't move %n into %p\n"
     "Can't move %s into %p\n"
     "No cg_controller_entry found for %s\n"
     "Cgroup dir %p doesn't exist",
     "The cgroup that a process was in cannot be entered here: a controller is missing, or one node has "
     "cgroup v1 and the other v2.",
     "Let CRIU leave cgroups to the runtime.", "manage-cgroups=ignore", ""},
    {"cgroup.write", LogStage::restore, cause,
     "Failed writing %s to %p: Permission denied\n"
     "Failed writing %s to %p: %s",
     "A cgroup property of the checkpoint cannot be set here.", "Let CRIU leave cgroups to the runtime.",
     "manage-cgroups=ignore", ""},
    {"cgroup.inventory", LogStage::restore, cause, "Corrupted root cgset",
     "inventory.img names a cgroup set that is not in the images, as after a bad edit.", "Take the unedited archive.",
     "", ""},
    {"seccomp.filter", LogStage::restore, cause, "SECCOMP_SET_MODE_FILTER returned %s",
     "The kernel did not take the container's seccomp filter.",
     "Restore on a kernel with the same seccomp features and architecture.", "", ""},
    {"lsm.mismatch", LogStage::restore, cause,
     "mismatched lsm types and lsm profile specified\n"
     "can't render profile\n"
     "can't write lsm profile %s\n"
     "apparmor parsing failed",
     "The container ran under a security profile (AppArmor or SELinux) that this node does not have.",
     "Load the profile here, or name another with lsm-profile.", "lsm-profile=apparmor:PROFILE", ""},
    {"cpu.less_capable", LogStage::restore, cause,
     "CPU instruction capabilities do not match run time\n"
     "CPU xfeatures has unsupported bits\n"
     "CPU xsave size mismatch\n"
     "CPU capabilities do not match run time\n"
     "FPU xsave area present, but host cpu doesn't support it",
     "This CPU lacks a feature that the processes may use.",
     "Restore on a CPU of the same or a newer generation. cpu-cap only relaxes what cpuinfo.img says.", "", ""},
    {"cpu.architecture", LogStage::restore, cause, "Core march mismatch %s",
     "The checkpoint was made on another processor architecture.", "Restore on a node of that architecture.", "",
     "ckpt-inspect show {archive}"},
    {"cpu.no_image", LogStage::restore, cause, "No cpuinfo image",
     "cpu-cap asks for a check of cpuinfo.img, and the dump did not write it.", "Leave cpu-cap out, or dump with it.",
     "", ""},
    {"vdso.layout", LogStage::restore, cause,
     "vDSO isn't provided by kernel, but exists in images\n"
     "Unexpected rt vDSO area bounds",
     "Kernel and CRIU are too far apart: the kernel's vDSO lies differently than this CRIU knows (kernels "
     "from 6.13 need CRIU 4.2).",
     "Update CRIU on this node.", "", ""},
    {"criu.assert", LogStage::any, cause, "BUG at %s",
     "CRIU met something that it takes for impossible, at {text}; a mount that files lie on may have been "
     "edited away.",
     "Take the unedited archive, or keep the mounts that processes use.", "", "ckpt-inspect mounts {archive}"},
    {"criu.config", LogStage::any, cause, "Unsupported configuration file format",
     "The CRIU configuration file has a line that CRIU does not read: a blank in a value, a stray quote, "
     "or CRLF line ends.",
     "Write one `external=mnt[KEY]:VALUE` a line, without blanks or quotes.", "",
     "ckpt-inspect check --criu-conf {conf} --cdi TARGET.yaml {archive}"},
    {"criu.option", LogStage::any, cause,
     "unrecognized option %s\n"
     "invalid option -- %s",
     "CRIU does not know the option {text}, from its command line or its configuration file.",
     "Take it out, or use the CRIU version that has it.", "", ""},
    {"criu.kerndat", LogStage::any, cause, "failed when initializing kerndat",
     "CRIU could not find out what this kernel can do, and gave up.",
     "Run `criu check` as root; a newer CRIU may be needed for this kernel.", "", "criu check"},
    {"criu.features", LogStage::any, cause, "criu is missing features: %s",
     "The kernel lacks what the request needs: {text}", "Leave out pre-checkpoints (memory tracking) on this kernel.",
     "", "criu check --all"},
    {"criu.privileges", LogStage::any, cause,
     "CRIU needs to have the CAP_SYS_ADMIN\n"
     "CRIU needs CAP_\n"
     "You need to be root to run this command",
     "CRIU does not have the privileges that it needs.",
     "Run it as root, or with CAP_CHECKPOINT_RESTORE and CAP_SYS_ADMIN.", "", ""},
};

}  // namespace

std::vector<FailureKind> process_kinds() { return {std::begin(kKinds), std::end(kKinds)}; }

}  // namespace ckpt::criu_log
