#!/usr/bin/env bash
# maestrowf 1.2.1 (Maestro), which runs one study under Slurm, LSF or Flux.
#
# Guess: a step's `walltime` is one time, whichever scheduler runs the study.
# Seen: a walltime of two parts is handed to Slurm and LSF as it stands, and turned into seconds for
# Flux. So 30:00 is half an hour under Slurm and Flux, where parts are minutes and seconds, and 30
# hours under LSF, where they are hours and minutes; 1-00:00:00, a day under Slurm, is an error.
. "$(dirname "$0")/lib.sh"
install maestrowf==1.2.1
expect '30:00: #BSUB -W 30:00, #SBATCH --time=30:00, Flux 1800 s
00:30:00: #BSUB -W 00:30, #SBATCH --time=00:30:00, Flux 1800 s
1-00:00:00: ValueError, #SBATCH --time=1-00:00:00, ValueError' <<'PY'
import logging

from maestrowf.datastructures.core import StudyStep
from maestrowf.interfaces.script.fluxscriptadapter import FluxScriptAdapter
from maestrowf.interfaces.script.lsfscriptadapter import LSFScriptAdapter
from maestrowf.interfaces.script.slurmscriptadapter import SlurmScriptAdapter

logging.disable(logging.CRITICAL)


def line(adapter, key, walltime):
    step = StudyStep()
    step.name = "step"
    step.run.update({"cmd": "true", "walltime": walltime, "nodes": 1, "procs": 1})
    try:
        header = adapter(host="host", bank="bank", queue="queue").get_header(step)
    except ValueError:
        return "ValueError"
    return next(line for line in header.split("\n") if key in line)


def flux(walltime):
    try:
        return f"Flux {FluxScriptAdapter._convert_walltime_to_seconds(None, walltime):g} s"
    except ValueError:
        return "ValueError"


for walltime in ["30:00", "00:30:00", "1-00:00:00"]:
    lsf = line(LSFScriptAdapter, "-W", walltime)
    slurm = line(SlurmScriptAdapter, "--time", walltime)
    print(f"{walltime}: {lsf}, {slurm}, {flux(walltime)}")
PY
