#!/usr/bin/env bash
# Slurm 22.05.8 of Debian 12, JobCompType=jobcomp/filetxt: a line for each job that has ended, for
# sites without slurmdbd. The node has 8 cores and 8000 MB; memory is not allocated (CR_Core).
#
# Guess: Tres is what the job held, as AllocTRES is in sacct; EndTime less StartTime is how long
# it ran; a job that was cancelled while it waited has no StartTime.
# Seen: Tres is what was asked for. A job that asked for 1 core of a node for itself held 8
# (ProcCnt) and has cpu=1; one that asked for no memory has all memory of the node. The time
# between includes what the job was suspended. A job that never ran has a StartTime, that of its
# end, and cpu=1; only ProcCnt=0 tells that it held nothing.
. "$(dirname "$0")/lib-slurm.sh"
controller JobCompType=jobcomp/filetxt "JobCompLoc=$folder/completed"
node
of() { scontrol show job "$1" --oneliner | grep -o "\b$2=[^ ]*" | cut -d= -f2; }
submit exclusive --exclusive --wrap='sleep 1'
until_so eval '[ "$(of 1 JobState)" = COMPLETED ]'
submit suspended --wrap='sleep 4'
until_so eval '[ "$(of 2 JobState)" = RUNNING ]'
scontrol suspend 2
sleep 6
scontrol resume 2
submit cancelled --begin=now+3600 --wrap=true
scancel 3
until_so eval '[ "$(of 2 JobState)" = COMPLETED ]'
until_so eval '[ "$(wc -l <completed)" = 3 ]'
ran=$(of 2 RunTime)
seen=$(python3 - "$ran" <<'PY'
import datetime
import sys

jobs = []
for line in open("completed"):
    jobs.append(dict(word.split("=", 1) for word in line.split() if "=" in word))
for job in sorted(jobs, key=lambda job: job["JobId"]):
    start, end = (datetime.datetime.fromisoformat(job[key]) for key in ("StartTime", "EndTime"))
    took = int((end - start).total_seconds())
    if job["Name"] == "suspended":
        hours, minutes, seconds = map(int, sys.argv[1].split(":"))
        more = took - seconds - 60 * minutes - 3600 * hours >= 5
        ended = "EndTime with suspension" if more else "EndTime without suspension"
    else:
        ended = "EndTime after StartTime" if took else "EndTime is StartTime"
    print(f"{job['Name']}: ProcCnt={job['ProcCnt']} Tres={job['Tres']}; {ended}")
PY
)
compare 'exclusive: ProcCnt=8 Tres=cpu=1,mem=8000M,node=1,billing=1; EndTime after StartTime
suspended: ProcCnt=1 Tres=cpu=1,mem=8000M,node=1,billing=1; EndTime with suspension
cancelled: ProcCnt=0 Tres=cpu=1,mem=8000M,node=1,billing=1; EndTime is StartTime' "$seen"
