#!/usr/bin/env bash
# pbsacct 3.4.6, which reads accounting logs of Torque.
#
# Guess: `nodes=2:ppn=4:blue` and `nodes=2:blue:ppn=4` are one request (properties and ppn stand in
# any order behind the number of nodes; Torque's own guide has the property first), so both jobs had
# 8 processors. exec_host, which tells what they had, says 8 as well.
# Seen: only the first part is looked at for ppn: the second job had 2 processors. GPUs are read in
# any order, so the third one had 2 of each. Nothing is said.
. "$(dirname "$0")/lib.sh"
install pbsacct==3.4.6
hosts=exec_host=n1/0-3+n2/0-3
cat >"$folder/log" <<LOG
11/30/2026 12:00:00;E;1.pbs;user=a Resource_List.nodes=2:ppn=4:blue $hosts
11/30/2026 12:00:00;E;2.pbs;user=a Resource_List.nodes=2:blue:ppn=4 $hosts
11/30/2026 12:00:00;E;3.pbs;user=a Resource_List.nodes=2:gpus=1:ppn=4 $hosts
LOG
cd "$folder"
expect '2:ppn=4:blue: 8 processors, 0 GPUs
2:blue:ppn=4: 2 processors, 0 GPUs
2:gpus=1:ppn=4: 2 processors, 2 GPUs' <<'PY'
import warnings

warnings.simplefilter("ignore")
import pbsacct

for job in pbsacct.jobs_from_file("log").values():
    print(f"{job.nodes()}: {job.num_processors()} processors, {job.num_gpus()} GPUs")
PY
