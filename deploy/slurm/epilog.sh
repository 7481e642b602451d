#!/bin/sh
# Epilog of slurmd: takes back what prolog.sh wrote. It never fails: an epilog that does takes the node out of service.
folder=${KNOTWATCH_JOB_FOLDER:-/run/gpustat}
for file in "$folder"/nvidia* "$folder"/GPU-* "$folder"/MIG-*; do
    [ -f "$file" ] || continue
    sed -i "/^$SLURM_JOB_ID /d" "$file"
    [ -s "$file" ] || rm -f "$file"
done
exit 0
