#!/bin/sh
# Counts what one decision about a harmless command costs: instructions (callgrind) and allocations (memcheck), beside
# the floor. Counts do not depend on what else the machine does. Needs valgrind. Run from the root of the repository.
set -eu

cargo build --quiet --release -p vanta-benches --bin assess_once
once="${CARGO_TARGET_DIR:-target}/release/assess_once"

# What ran before the first decision is in both counts, so the difference is the decisions alone.
instructions() {
    valgrind --tool=callgrind --callgrind-out-file=/dev/null "$once" "$@" 2>&1 | sed -n 's/.*Collected : //p'
}
allocations() {
    valgrind --tool=memcheck "$once" "$@" 2>&1 | sed -n 's/.*total heap usage: \([0-9,]*\) allocs.*/\1/p' | tr -d ,
}
per_decision() {
    echo $((($("$1" "$2" "$3" $((1 + $4))) - $("$1" "$2" "$3" 1)) / $4))
}

printf '%8s %14s %14s %14s\n' bytes instructions allocations 'floor instr.'
for size in 50 1024 65536 1048576; do
    times=$((262144 / size + 1))
    printf '%8s %14s %14s %14s\n' "$size" "$(per_decision instructions vanta "$size" "$times")" \
        "$(per_decision allocations vanta "$size" "$times")" "$(per_decision instructions floor "$size" "$times")"
done
