# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
# What every case stands on: the outcome of a case, the machine made of ROOT, bounded commands and assertions.
# `run` exports E2E_DIR, ROOT, NODES, CASE_DIR and CKPT_BIN; each case is a process of its own.
set -euo pipefail

readonly TOOL_SECONDS=60

note() { printf '%(%T)T -- %s\n' -1 "$*"; }

fail() {
    echo "$*" >"$CASE_DIR/reason"
    note "FAIL: $*"
    exit 1
}

skip() {
    echo "$*" >"$CASE_DIR/reason"
    note "skip: $*"
    exit 77
}

# The ERR trap gives a command that failed without an assertion a reason too.
trap 'fail "line $LINENO of ${BASH_SOURCE[0]##*/}: $BASH_COMMAND"' ERR
set -E

# machine_start [hybrid|unified] [private|shared]: boots ROOT as a machine without network, see enter.
machine_start() {
    local waited=0
    node_leave
    mkdir -p "$ROOT/etc/criu"
    # Dies with this shell, however the shell dies.
    setpriv --pdeathsig KILL unshare --mount --pid --net --ipc --uts --fork --kill-child \
        "$E2E_DIR/enter" "$ROOT" "$CASE_DIR" "${1:-hybrid}" "${2:-private}" 9>&- &
    MACHINE=$!
    trap machine_stop EXIT
    # Where the unified hierarchy is only stacked on the old ones, CRIU would restore the old ones' cpuset, which it may not.
    CRIU_BASE=
    [[ ${1:-hybrid} == hybrid || $(stat -f -c %T /sys/fs/cgroup) == cgroup2fs ]] || CRIU_BASE='manage-cgroups=ignore'
    criu_conf_none
    until [[ -s $CASE_DIR/ready ]]; do
        if [[ ! -d /proc/$MACHINE ]]; then
            [[ ${1:-hybrid} == hybrid ]] || skip "no unified cgroup hierarchy can be had here"
            fail "the namespaces of the test machine could not be set up"
        fi
        ((waited += 1))
        ((waited < 100)) || fail "the test machine did not come up"
        sleep 0.1
    done
    INIT=$(cat "$CASE_DIR/ready")
}

# Process 1 takes every process and mount of the machine with it.
machine_stop() {
    kill -KILL "$MACHINE" 2>/dev/null || true
    wait "$MACHINE" 2>/dev/null || true
    find /sys/fs/cgroup -depth -type d -path '*/ckpt-e2e*' -exec rmdir {} + 2>/dev/null || true
    node_leave
    rm -rf "$CASE_DIR/storage"
}

# in_root SECONDS COMMAND...: runs it in the machine; 124 or 137 when it had to be killed.
in_root() {
    local seconds=$1
    shift
    timeout --kill-after=5 "$seconds" \
        nsenter --target "$INIT" --mount --pid --net --ipc --uts --root -- \
        env -i --chdir=/ PODMAN_IGNORE_CGROUPSV1_WARNING=1 PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LANG=C.UTF-8 "$@" 9>&-
}

# try COMMAND...: runs it with its output in $OUT and its exit code in $RC; a time-out fails the case.
try() {
    local out=$CASE_DIR/out
    note "\$ $*"
    RC=0
    "$@" >"$out" 2>&1 </dev/null || RC=$?
    cat "$out"
    OUT=$(tr -d '\0' <"$out")
    [[ $RC != 124 && $RC != 137 ]] || fail "hung: $*"
}

# must COMMAND...: try, and it has to succeed.
must() {
    try "$@"
    [[ $RC == 0 ]] || fail "exit $RC from $*: $(tail -n 1 <<<"$OUT")"
}

# expect_exit CODES WHAT: the last try ended with one of CODES.
expect_exit() {
    [[ " $1 " == *" $RC "* ]] || fail "$2: exit $RC, expected ${1// / or }"
}

# expect_text REGEX TEXT WHAT
expect_text() {
    grep -Eq -- "$1" <<<"$2" || fail "$3 does not say /$1/"
}

expect_no_text() {
    ! grep -Eq -- "$1" <<<"$2" || fail "$3 says /$1/"
}

# skip_unless_offered TEXT: what an engine says when its build cannot checkpoint at all is no failure of ours.
skip_unless_offered() {
    local said
    said=$(grep -iE 'not (supported|compiled|built)|unsupported|unknown command|without CRIU|libcriu' <<<"$1") || return 0
    skip "not offered: $(head -n 1 <<<"$said")"
}

# inspect ARGS..., patch ARGS...: the tools under test, as on the target node.
inspect() { try timeout --kill-after=5 "$TOOL_SECONDS" "$CKPT_BIN/ckpt-inspect" "$@"; }
patch() { try timeout --kill-after=5 "$TOOL_SECONDS" "$CKPT_BIN/ckpt-patch" "$@"; }

# expect_check VERDICT ARCHIVE NODE [OPTION...]
expect_check() {
    local verdict=$1 archive=$2 node=$3
    local -A codes=([restores]=0 [patchable]=1 [blocked]=3)
    shift 3
    inspect check "$archive" --cdi "$(node_cdi_file "$node")" --root "$ROOT" --json "$@"
    expect_exit "${codes[$verdict]}" "ckpt-inspect check ${archive##*/}"
    [[ $(jq -r '.verdict // .archives[0].verdict' <<<"$OUT") == "$verdict" ]] ||
        fail "ckpt-inspect check ${archive##*/}: the verdict is not $verdict"
}

# patch_for NODE IN OUT [OPTION...]: the rewrite, which has to be complete: what it made needs no decision any more.
patch_for() {
    local node=$1 in=$2 out=$3
    shift 3
    patch "$in" -o "$out" --cdi "$(node_cdi_file "$node")" --root "$ROOT" "$@"
    expect_exit 0 "ckpt-patch ${in##*/}"
    expect_check restores "$out" "$node"
    patch "$out" -o "$out.again" --cdi "$(node_cdi_file "$node")" --root "$ROOT"
    expect_exit 0 "a second ckpt-patch"
    expect_same_members "$out" "$out.again"
}

# patch_wants_drop_hooks NODE IN: the driver's hook would run again there, so nothing is written without a decision.
patch_wants_drop_hooks() {
    expect_check patchable "$2" "$1"
    patch "$2" -o "$CASE_DIR/undecided" --cdi "$(node_cdi_file "$1")" --root "$ROOT"
    expect_exit 1 "ckpt-patch without --drop-hooks"
    expect_text /usr/libexec/driver-hook "$OUT" "ckpt-patch without --drop-hooks"
    expect_text --drop-hooks "$OUT" "ckpt-patch without --drop-hooks"
    [[ ! -e $CASE_DIR/undecided ]] || fail "ckpt-patch without --drop-hooks wrote an archive"
}

# members ARCHIVE: "HASH NAME" for each member, sorted.
members() {
    local tree=$CASE_DIR/members
    rm -rf "$tree"
    mkdir "$tree"
    tar -xf "$1" -C "$tree"
    (cd "$tree" && find . -type f -exec sha256sum {} + && find . ! -type f -printf '%y %p\n') | sort
    rm -rf "$tree"
}

expect_same_members() {
    members "$1" >"$CASE_DIR/members.1"
    members "$2" >"$CASE_DIR/members.2"
    diff "$CASE_DIR/members.1" "$CASE_DIR/members.2" || fail "a second patch still changed something"
}

# criu_conf [FILE]: standard input becomes the CRIU configuration of the node, by default runc.conf, which crun reads too.
criu_conf() {
    local file=$ROOT/etc/criu/${1:-runc.conf}
    { cat && [[ -z $CRIU_BASE ]] || echo "$CRIU_BASE"; } >"$file"
    note "${file#"$ROOT"}:"
    cat "$file"
}

# criu_conf_none: a node on which nobody configured CRIU.
criu_conf_none() {
    rm -f "$ROOT"/etc/criu/*
    [[ -z $CRIU_BASE ]] || echo "$CRIU_BASE" >"$ROOT/etc/criu/runc.conf"
}
