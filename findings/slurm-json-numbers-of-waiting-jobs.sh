#!/usr/bin/env bash
# Slurm 22.05.8 (Debian 12's packages 22.05.8-4+deb12u3): `squeue --json` of jobs that wait.
#
# Guess: the numbers are those of `scontrol show job`, as numbers: nice -50 is -50, no nice is 0,
# --cpus-per-task=2 is 2, and null is what nobody asked for.
# Seen: nice -50 is 4294967246 and nice 0 is null; cpus_per_task is null where 2 were asked for,
# while scontrol prints -50, 0 and 2. A job that may begin in an hour and has no time limit ends
# 4294967236 s (136 years) after its begin, and a job that was cancelled while it waited has a
# start.
. "$(dirname "$0")/lib-slurm.sh"
controller
submit before --nice=-50 --wrap=true
submit wide --cpus-per-task=2 --wrap=true
submit later --begin=now+1hour --wrap=true
submit gone --hold --wrap=true
scancel --name=gone
until_so eval "squeue --noheader --states=CANCELLED | grep -q gone"
seen=$(
    of_jobs nice cpus_per_task
    scontrol show job | grep -oE '^JobId=[0-9]+|Nice=[-0-9]+|CPUs/Task=[0-9]+' | paste -d' ' - - -
    squeue --json | python3 -c '
import json, sys
for job in sorted(json.load(sys.stdin)["jobs"], key=lambda job: job["job_id"]):
    if job["start_time"]:
        name, state, took = job["name"], job["job_state"], job["end_time"] - job["start_time"]
        print(f"{name}: {state}, ends {took} s after its start")'
)
compare 'before: nice 4294967246, cpus_per_task null
wide: nice null, cpus_per_task null
later: nice null, cpus_per_task null
gone: nice null, cpus_per_task null
JobId=1 Nice=-50 CPUs/Task=1
JobId=2 Nice=0 CPUs/Task=2
JobId=3 Nice=0 CPUs/Task=1
JobId=4 Nice=0 CPUs/Task=1
later: PENDING, ends 4294967236 s after its start
gone: CANCELLED, ends 0 s after its start' "$seen"
