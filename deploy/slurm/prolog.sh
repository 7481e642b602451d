#!/bin/sh
# Prolog of slurmd: writes down which job has which GPU, for knotwatch-exporter (allocation.job_folders). With
# PrologFlags=Alloc it runs as soon as a job has its GPUs, so one that holds them and runs nothing is seen, too.
# Slurm numbers GPUs as their device files are: the file `nvidia2` is the GPU of /dev/nvidia2. UUIDs stand for themselves.
# It never fails: a prolog that does takes the node out of service.
folder=${KNOTWATCH_JOB_FOLDER:-/run/gpustat}
mkdir -p "$folder" || exit 0
for gpu in $(printf '%s' "${SLURM_JOB_GPUS:-}" | tr ',' ' '); do
    case $gpu in
        GPU-* | MIG-*) name=$gpu ;;
        *[!0-9]*) continue ;;
        *) name=nvidia$gpu ;;
    esac
    case $name in */*) continue ;; esac
    # More than one job may have a GPU (shards, MPS), so each has a line.
    printf '%s %s\n' "$SLURM_JOB_ID" "$SLURM_JOB_UID" >>"$folder/$name"
done
exit 0
