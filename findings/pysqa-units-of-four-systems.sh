#!/usr/bin/env bash
# pysqa 1.1.1, which submits jobs to batch systems.
#
# Guess: memory_max is in GB and run_time_max in seconds, as its documentation says, for each
# system.
# Seen: for Slurm and Torque they are. For LSF 16 GB are asked for as `-M 16`, which is 16 KB
# unless the site says otherwise, and 3600 s as `-W 3600`, which is 60 hours; for Grid Engine as
# h_vmem=16, which is 16 bytes for each slot.
. "$(dirname "$0")/lib.sh"
install pysqa==1.1.1 defusedxml==0.7.1
expect 'Slurm: --time=60, --mem=16G
Torque: mem=16GB, walltime=3600
LSF: -W 3600, -M 16
Grid Engine: h_vmem=16, h_rt=3600' <<'PY'
import re

from pysqa.wrapper.lsf import LsfCommands
from pysqa.wrapper.sge import SunGridEngineCommands
from pysqa.wrapper.slurm import SlurmCommands
from pysqa.wrapper.torque import TorqueCommands

systems = {"Slurm": SlurmCommands, "Torque": TorqueCommands, "LSF": LsfCommands,
           "Grid Engine": SunGridEngineCommands}
for name, system in systems.items():
    script = system().render_submission_template(
        command="true", cores=4, memory_max=16, run_time_max=3600, partition="p")
    asked = re.findall(r"--time=\S+|--mem=\S+|-[WM] \d+|\b(?:mem|walltime|h_vmem|h_rt)=\S+", script)
    print(f"{name}: {', '.join(asked)}")
PY
