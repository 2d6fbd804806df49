#!/usr/bin/env bash
# Slurm 24.11.5 (Debian 13): `sacct --json` of a run that was put back, and of a job that was
# cancelled before it started.
#
# Guess: the first word of `state.current` is the state that sacct prints as text, so what is
# PENDING there has not run; and `time.start` is 0, or not set, where sacct prints None.
# Seen: a run that was put back is PENDING with the flag REQUEUED, and has a start and an end; text
# says REQUEUED. The start of what never started is 4294967294, a day of the year 2106.
. "$(dirname "$0")/lib-slurm-accounting.sh"
cluster trixie 24.11.5
submit() { slurm sbatch --uid=games --account=lab --output=/dev/null --parsable "$@"; }
again=$(submit --job-name=again --requeue --wrap='sleep 600')
held=$(submit --job-name=never --begin=now+1hour --wrap=true)
until_so eval 'slurm squeue --noheader --states=R --format=%A | grep -q "$again"'
sleep 3
slurm scontrol requeue "$again"
slurm scancel "$held" "$again"
ask="slurm sacct --jobs=$again,$held --duplicates --allocations"
rows="$ask --noheader --parsable2"
until_so eval '[ "$($rows --format=State | grep -c CANCELLED)" = 2 ]'
compare 'again|REQUEUED
never|CANCELLED by 0|None
again: PENDING REQUEUED, ran True
never: CANCELLED, start 4294967294' "$(
    $rows --format=JobName,State | grep REQUEUED
    $rows --format=JobName,State,Start | grep never
    $ask --json | python3 -c '
import json, sys
for job in sorted(json.load(sys.stdin)["jobs"], key=lambda job: job["time"]["submission"]):
    state, time = " ".join(job["state"]["current"]), job["time"]
    if "REQUEUED" in state:
        print("again: " + state + ", ran", 0 < time["start"] < time["end"])
    if job["name"] == "never":
        print("never: " + state + ", start", time["start"])'
)"
