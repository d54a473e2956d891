#!/usr/bin/env bash
# Measure the GPUs of one machine: examples/calibrate_torchrun.sh [GPUS] [options of the command]
set -euo pipefail
gpus=${1:-8}
torchrun --standalone --nproc-per-node "$gpus" -m collsim calibrate run --backend nccl \
    -b 8 -e 1G -f 4 --graph 5 -o machine.toml "${@:2}"
