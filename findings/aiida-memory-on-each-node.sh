#!/usr/bin/env bash
# aiida-core 2.9.4, which submits jobs to batch systems.
#
# Guess: max_memory_kb is what a job may use on each node, as its documentation says; so a job
# that takes 2 nodes with 8 GiB on each asks each system for 8 GiB a node.
# Seen: Slurm and PBS are asked for that. Torque is asked for 8 GiB for the job, so for half of it
# on each node; LSF for 8 GiB for each process; Grid Engine for no memory at all. Nothing is said.
. "$(dirname "$0")/lib.sh"
install aiida-core==2.9.4
cd "$folder"
export AIIDA_PATH=$folder
expect 'Slurm: #SBATCH --mem=8192
PBS: #PBS -l select=2:mpiprocs=4:mem=8388608kb
Torque: #PBS -l nodes=2:ppn=4,mem=8388608kb
LSF: #BSUB -M 8388608
Grid Engine: nothing' <<'PY'
import logging
import warnings

warnings.simplefilter("ignore")
logging.disable()
from aiida.schedulers.datastructures import JobTemplate
from aiida.schedulers.plugins.lsf import LsfScheduler
from aiida.schedulers.plugins.pbspro import PbsproScheduler
from aiida.schedulers.plugins.sge import SgeScheduler
from aiida.schedulers.plugins.slurm import SlurmScheduler
from aiida.schedulers.plugins.torque import TorqueScheduler

nodes = {"num_machines": 2, "num_mpiprocs_per_machine": 4}
slots = {"parallel_env": "mpi", "tot_num_mpiprocs": 8}
systems = [("Slurm", SlurmScheduler, nodes), ("PBS", PbsproScheduler, nodes),
           ("Torque", TorqueScheduler, nodes), ("LSF", LsfScheduler, slots),
           ("Grid Engine", SgeScheduler, slots)]
for name, system, size in systems:
    job = JobTemplate()
    job.shebang, job.uuid, job.job_name, job.codes_info = "#!/bin/sh", "u", "a", []
    job.max_memory_kb = 8 * 1024 * 1024
    job.job_resource = system.create_job_resource(**size)
    lines = system()._get_submit_script_header(job).splitlines()
    asked = [line for line in lines if "mem" in line or line.startswith("#BSUB -M")]
    print(f"{name}: {', '.join(asked) or 'nothing'}")
PY
