#!/usr/bin/env bash
# PSI/J 0.9.11 (psij-python), which writes one job for Slurm, PBS and LSF.
#
# Guess: the three scripts of one job ask for the same time; where a batch system counts minutes, the
# time is rounded up, so that the job is not ended early.
# Seen: for LSF seconds are cut off: 30 s are -W 0:0, and 90 s are a minute.
. "$(dirname "$0")/lib.sh"
install psij-python==0.9.11
expect '30 s, slurm: --mem=1536000K --time=0:0:30
30 s, pbs: mem=1572864000 walltime=0:0:30
30 s, lsf: -M 1536000KB -W 0:0
90 s, slurm: --mem=1536000K --time=0:1:30
90 s, pbs: mem=1572864000 walltime=0:1:30
90 s, lsf: -M 1536000KB -W 0:1' <<'PY'
import io, re
from datetime import timedelta
from psij import Job, JobAttributes, JobExecutor, JobSpec, ResourceSpecV1

ASKED = r"--mem=\S+|--time=\S+|\bmem=\d+|walltime=\S+|-W \S+|-M \S+|rusage\S+"
for seconds in [30, 90]:
    for batch in ["slurm", "pbs", "lsf"]:
        job = Job(JobSpec(
            executable="/bin/true",
            attributes=JobAttributes(duration=timedelta(seconds=seconds)),
            resources=ResourceSpecV1(process_count=2, memory=1500 * 1024 * 1024)))
        executor, script = JobExecutor.get_instance(batch), io.StringIO()
        executor.generate_submit_script(job, executor._create_script_context(job), script)
        lines = [line for line in script.getvalue().splitlines() if line.startswith("#")]
        asked = [word for line in lines for word in re.findall(ASKED, line)]
        print(f"{seconds} s, {batch}:", *asked)
PY
