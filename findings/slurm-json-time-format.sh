#!/usr/bin/env bash
# Slurm 22.05.8 (Debian 12): `sacct --json` of a time, where the environment has SLURM_TIME_FORMAT.
#
# Guess: SLURM_TIME_FORMAT says how times are printed, so --json, which prints numbers, is the same
# with and without it.
# Seen: sacct writes the time of its own question in this format, and reads it again. With %s, which
# sacct's manual names, it does not understand itself: it prints a document without `jobs` that
# holds an error, and ends with exit code 0.
. "$(dirname "$0")/lib-slurm-accounting.sh"
cluster bookworm 22.05.8
told() {
    slurm env "$@" sacct --allusers --starttime=2026-01-01 --endtime=now --json 2>"$folder/errors" \
        >"$folder/said" && echo "exit code $?"
    python3 -c '
import json, sys
said = json.load(open(sys.argv[1]))
print("jobs:", "jobs" in said, [error["description"] for error in said["errors"]])' "$folder/said"
    grep -o "Invalid time specification" "$folder/errors" | sort -u || true
}
slurm sbatch --uid=games --account=lab --output=/dev/null --wrap=true >/dev/null
until_so eval 'slurm sacct --allusers --noheader --format=State | grep -q COMPLETED'
compare "exit code 0
jobs: True []
exit code 0
jobs: False ['Unable to parse time format']
Invalid time specification" "$(told && told SLURM_TIME_FORMAT=%s)"
