#!/usr/bin/env bash
# Several NCCL ranks on one GPU: examples/calibrate_one_gpu.sh [options of the command]
# Needs NCCL 2.30.3 or newer. Messages between pairs, NCCL's own collectives, and MST and
# ring as schedules, in CUDA graphs; then both crossovers as measured and as predicted.
set -euo pipefail
for ranks in 2 4 8; do
    collsim calibrate run broadcast all_reduce \
        --algorithm library --algorithm mst --algorithm ring \
        --backend nccl4py --ranks "$ranks" --ranks-per-gpu "$ranks" \
        --graph 5 -b 8 -e 64M -f 4 -o "one-gpu-$ranks.toml" "$@"
    for collective in broadcast all_reduce; do
        collsim plot crossover "$collective" mst ring --measured "one-gpu-$ranks.jsonl" \
            -o "one-gpu-$ranks-$collective.png"
    done
done
# NCCL's ring and tree by protocol, one process per rank.
collsim calibrate measure all_reduce --backend nccl --ranks 2 --ranks-per-gpu 2 --graph 5 \
    --force ring/ll --force ring/ll128 --force ring/simple \
    --force tree/ll --force tree/ll128 --force tree/simple \
    -b 8 -e 64M -f 4 -o one-gpu-forced.jsonl
