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

median() { printf '%s\n' "$@" | sort -n | sed -n "$((($# + 1) / 2))p"; }
ratio() { awk -v a="$1" -v b="$2" 'BEGIN { if (b > 0) printf "%.2f", a / b; else printf "-" }'; }

# bench_case LABEL YARDSTICK
bench_case() {
    local round bare_out=() bare_in=() ours_out=() ours_in=()
    # One round that does not count: host memory gets backed, files get cached.
    "$2" suspend && "$2" resume
    for ((round = 0; round < ROUNDS; ++round)); do
        "$2" suspend && bare_out+=("$MS")
        "$2" resume && bare_in+=("$MS")
        ours suspend && ours_out+=("$MS")
        ours resume && ours_in+=("$MS")
    done
    printf '%-44s suspend %s  resume %s\n' "$1" "$(ratio "$(median "${ours_out[@]}")" "$(median "${bare_out[@]}")")" \
        "$(ratio "$(median "${ours_in[@]}")" "$(median "${bare_in[@]}")")"
}

run_bench() {
    local size word
    BENCH_DIR=$(mktemp -d "${TMPDIR:-/tmp}/ckpt-gpu-bench.XXXXXX")
    THP_BEFORE=$(grep -oE '\[[a-z]+\]' "$THP" | tr -d '[]')
    trap bench_end EXIT
    for word in madvise always; do
        echo "$word" >"$THP"
        for size in ${SIZES//,/ }; do
            bench_start 1 "$size"
            bench_case "$size MiB, transparent_hugepage=$word" bare
            bench_stop
        done
    done
    echo "$THP_BEFORE" >"$THP"
    bench_start "$MANY" 256
    bench_case "$MANY processes, bare calls in threads" bare
    bench_case "$MANY processes, one program each" bare_each
    bench_stop
}
