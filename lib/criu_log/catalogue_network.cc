// SPDX-License-Identifier: Apache-2.0
#include <iterator>

#include "criu_log/catalogue.h"

namespace ckpt::criu_log {

using enum FailureWeight;

namespace {

constexpr FailureKind kKinds[] = {
    {"tcp.established", LogStage::dump, cause, "Connected TCP socket, consider using",
     "A process has an open TCP connection.",
     "Allow it, at the dump and at the restore (podman: --tcp-established), or close connections with "
     "tcp-close.",
     "tcp-established", ""},
    {"tcp.option_missing", LogStage::restore, cause,
     "Connected TCP socket in image\n"
     "Need to set the --tcp-close options",
     "The checkpoint holds open TCP connections, and the option that it was made with is not set now.",
     "Repeat the option of the dump: tcp-established with the same address here, or tcp-close to drop the "
     "connections.",
     "tcp-close", ""},
    {"tcp.connect", LogStage::restore, cause, "Can't connect inet socket back",
     "A TCP connection cannot be put back: the address is not reachable from the new network namespace.",
     "Restore with the same address, or drop the connections.", "tcp-close", ""},
    {"tcp.in_flight", LogStage::dump, cause, "In-flight connection",
     "A connection is being set up on a listening socket.", "Skip such connections.", "skip-in-flight", ""},
    {"net.lock", LogStage::any, cause,
     "Locking network failed\n"
     "iptables-restore returned %n",
     "CRIU could not hold network traffic back: iptables or nftables failed or is not installed.",
     "Install iptables and ip6tables (or a CRIU built with nftables). The method of the dump is repeated "
     "at the restore.",
     "network-lock=nftables", ""},
    {"net.ip_tool", LogStage::restore, cause, "IP tool failed on %s",
     "The `ip` program failed while the network was restored.",
     "Install iproute2 and look at its own message in the log.", "", ""},
    {"net.bind", LogStage::restore, cause, "Can't bind inet socket",
     "A listening address does not exist here: the container has another IP address now, or the port is "
     "taken.",
     "Restore with the same address, or free the port.", "", "ckpt-inspect show {archive}"},
    {"net.namespace", LogStage::restore, cause, "Unable to find an external netns",
     "The checkpoint expects a network namespace from outside, and the runtime did not pass one.",
     "Restore with the same kind of network as at the dump (for runc: the same namespace paths in "
     "config.json).",
     "", "ckpt-inspect show {archive}"},
    {"socket.external", LogStage::dump, cause, "External socket is used. Consider using",
     "A process is connected to a Unix socket whose other end is outside the container.",
     "Close it before the dump, or allow it.", "ext-unix-sk=yes", ""},
    {"socket.external_in_image", LogStage::restore, cause, "External socket found in image",
     "The checkpoint holds a Unix socket whose other end is outside the container.",
     "Repeat the option of the dump and have the socket there.", "ext-unix-sk=yes", ""},
    {"socket.protocol", LogStage::dump, cause, "Unsupported proto %n for socket",
     "A process has a socket of protocol {number}, which CRIU cannot dump; 262 is MPTCP, which Go "
     "programs since 1.24 listen with.",
     "For a Go program set GODEBUG=multipathtcp=0 in its environment.", "", ""},
    {"tty.dangling", LogStage::dump, cause, "Found dangling tty with sid",
     "The container's terminal belongs to a session outside it.",
     "Allow it, or run the container without a terminal of yours.", "shell-job", ""},
    {"tty.no_terminal", LogStage::restore, cause, "Don't have tty to inherit session from, aborting",
     "The container had a terminal from outside, and there is none now.", "Restore from a terminal, in the foreground.",
     "shell-job", ""},
};

}  // namespace

std::vector<FailureKind> network_kinds() { return {std::begin(kKinds), std::end(kKinds)}; }

}  // namespace ckpt::criu_log
