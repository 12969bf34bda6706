# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
# ckpt-gpu against the bare driver calls, in turn, on programs of several sizes. Prints ratios of medians: 1.00 is as fast
# as the driver alone; both times hold the start of the program.

readonly THP=/sys/kernel/mm/transparent_hugepage/enabled
BENCH_PIDS=()

bench_stop() {
    local pid
    for pid in "${BENCH_PIDS[@]}"; do kill -KILL "$pid" 2>/dev/null || true; done
    for pid in "${BENCH_PIDS[@]}"; do wait "$pid" 2>/dev/null || true; done
    BENCH_PIDS=()
}

bench_end() {
    bench_stop
    [[ -z ${THP_BEFORE:-} ]] || echo "$THP_BEFORE" >"$THP"
    [[ -z ${BENCH_DIR:-} ]] || rm -rf "$BENCH_DIR"
}

# bench_start COUNT MIB: programs that hold GPU memory and wait.
bench_start() {
    local at waited
    for ((at = 0; at < $1; ++at)); do
        : >"$BENCH_DIR/out.$at"
        GPU_COUNTER_LIBCUDA=$LIBCUDA "$BUNDLE/gpu-counter" "$2" hold >"$BENCH_DIR/out.$at" 2>&1 &
        BENCH_PIDS+=("$!")
    done
    for ((at = 0; at < $1; ++at)); do
        for ((waited = 0; waited < 1200; ++waited)); do
            [[ ! -s $BENCH_DIR/out.$at ]] || break
            sleep 0.1
        done
        grep -qE '^[0-9a-f]{16} 1$' "$BENCH_DIR/out.$at" || die "gpu-counter $2: $(cat "$BENCH_DIR/out.$at")"
    done
}

# timed COMMAND...: its wall time in $MS.
timed() {
    local start end
    start=$(date +%s%N)
    timeout 580 "$@" >"$BENCH_DIR/said" 2>&1 || die "$*: $(tail -n 3 "$BENCH_DIR/said")"
    end=$(date +%s%N)
    MS=$(((end - start) / 1000000))
}

bare() { timed "$BUNDLE/gpu-steps" "$LIBCUDA" "$1" "${BENCH_PIDS[@]}"; }
# The yardstick of tools that start one program for each process and step.
bare_each() {
    local pid start end
    start=$(date +%s%N)
    for pid in "${BENCH_PIDS[@]}"; do timed "$BUNDLE/gpu-steps" "$LIBCUDA" "$1" "$pid"; done
    end=$(date +%s%N)
    MS=$(((end - start) / 1000000))
}
ours() {
    local pid options=()
    for pid in "${BENCH_PIDS[@]}"; do options+=(--pid "$pid"); done
    # --force: a virtual machine whose memory grows with its use seems to have too little.
    timed "$BUNDLE/ckpt-gpu" --libcuda "$LIBCUDA" "$1" --force "${options[@]}"
}

# The same by another program, named with --peer: one process a call, as CRIU's plugin starts it.
peer() {
    local pid start end
    start=$(date +%s%N)
    for pid in "${BENCH_PIDS[@]}"; do
        timed env LD_LIBRARY_PATH="${LIBCUDA%/*}" "$PEER" --toggle --pid "$pid"
    done
    end=$(date +%s%N)
    MS=$(((end - start) / 1000000))
}

median() { printf '%s\n' "$@" | sort -n | sed -n "$((($# + 1) / 2))p"; }
ratio() { awk -v a="$1" -v b="$2" 'BEGIN { if (b > 0) printf "%.2f", a / b; else printf "-" }'; }

# bench_case LABEL YARDSTICK...: all in turn, each round.
bench_case() {
    local label=$1 round way
    local -A out=() in=()
    shift
    # One round that does not count: host memory gets backed, files get cached.
    "$1" suspend && "$1" resume
    for ((round = 0; round < ROUNDS; ++round)); do
        for way in "$@" ours; do
            "$way" suspend && out[$way]+=" $MS"
            "$way" resume && in[$way]+=" $MS"
        done
    done
    for way in "$@"; do
        # shellcheck disable=SC2086 # lists of numbers
        printf '%-34s %-9s suspend %s  resume %s\n' "$label" "$way" "$(ratio "$(median ${out[ours]})" "$(median ${out[$way]})")" \
            "$(ratio "$(median ${in[ours]})" "$(median ${in[$way]})")"
    done
}

run_bench() {
    local size word
    BENCH_DIR=$(mktemp -d "${TMPDIR:-/tmp}/ckpt-gpu-bench.XXXXXX")
    THP_BEFORE=$(grep -oE '\[[a-z]+\]' "$THP" | tr -d '[]')
    trap bench_end EXIT
    for word in ${PAGES//,/ }; do
        echo "$word" >"$THP"
        for size in ${SIZES//,/ }; do
            bench_start 1 "$size"
            bench_case "$size MiB, hugepages $word" bare ${PEER:+peer}
            bench_stop
        done
    done
    echo "$THP_BEFORE" >"$THP"
    ((MANY > 0)) || return 0
    bench_start "$MANY" 256
    bench_case "$MANY processes" bare bare_each ${PEER:+peer}
    bench_stop
}
