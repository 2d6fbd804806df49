#!/usr/bin/env bash
# pbsacct 3.4.6, which reads accounting logs of Torque.
#
# Guess: `nodes=2:ppn=4:gpus=1` and `nodes=2:gpus=1:ppn=4` are one request (Torque takes the parts
# behind the number of nodes in any order), so both jobs had 8 processors and 2 GPUs. exec_host,
# which tells what they had, says 8 as well.
# Seen: only the first part is looked at for ppn. The second job had 2 processors; its GPUs are
# right. Nothing is said.
. "$(dirname "$0")/lib.sh"
install pbsacct==3.4.6
cat >"$folder/log" <<'LOG'
11/30/2026 12:00:00;E;1.pbs;user=a Resource_List.nodes=2:ppn=4:gpus=1 exec_host=n1/0-3+n2/0-3
11/30/2026 12:00:00;E;2.pbs;user=a Resource_List.nodes=2:gpus=1:ppn=4 exec_host=n1/0-3+n2/0-3
LOG
cd "$folder"
expect '1.pbs, 2:ppn=4:gpus=1: 8 processors, 2 GPUs
2.pbs, 2:gpus=1:ppn=4: 2 processors, 2 GPUs' <<'PY'
import warnings

warnings.simplefilter("ignore")
import pbsacct

for job in pbsacct.jobs_from_file("log").values():
    print(f"{job.jobid()}, {job.nodes()}: {job.num_processors()} processors, {job.num_gpus()} GPUs")
PY
