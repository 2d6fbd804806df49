#!/usr/bin/env bash
# dask-jobqueue 0.9.0, which submits workers of Dask to Slurm, PBS and LSF.
#
# Guess: a worker with memory="16GB" asks Slurm for --mem=16G and PBS for mem=16GB, as people write
# it there; and what is asked of the three batch systems is one amount.
# Seen: GB is 10^9 bytes for Dask and 2^30 for Slurm and PBS, so 16GB asks for 15G and 15GB, and
# 1.5GB for 2G of Slurm and 1431MB of PBS. For LSF, whose units are binary too unless the site says
# otherwise, units of 10^9 are written: 16GiB asks for 18 of them.
. "$(dirname "$0")/lib.sh"
install dask-jobqueue==0.9.0
expect '16GB: Slurm 15G, PBS 15GB, LSF 16000 MB or 16 GB
16GiB: Slurm 16G, PBS 16GB, LSF 17180 MB or 18 GB
1.5GB: Slurm 2G, PBS 1431MB, LSF 1500 MB or 2 GB
500MB: Slurm 477M, PBS 477MB, LSF 500 MB or 1 GB' <<'PY'
from dask.utils import parse_bytes
from dask_jobqueue.lsf import lsf_format_bytes_ceil
from dask_jobqueue.pbs import pbs_format_bytes_ceil
from dask_jobqueue.slurm import slurm_format_bytes_ceil

for memory in ["16GB", "16GiB", "1.5GB", "500MB"]:
    amount = parse_bytes(memory)
    mega, giga = (lsf_format_bytes_ceil(amount, lsf_units=unit) for unit in ("mb", "gb"))
    print(f"{memory}: Slurm {slurm_format_bytes_ceil(amount)}, PBS {pbs_format_bytes_ceil(amount)},",
          f"LSF {mega} MB or {giga} GB")
PY
