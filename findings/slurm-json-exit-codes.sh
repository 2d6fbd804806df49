#!/usr/bin/env bash
# Slurm 22.05.8 (Debian 12's packages 22.05.8-4+deb12u3): `squeue --json` of jobs that have ended.
#
# Guess: exit_code is the number that the job's script ended with, as the first number of ExitCode
# in `scontrol show job`.
# Seen: exit_code is a status of wait(2): a script that ends by `exit 9` has 2304, and one that
# signal 9 has killed has 9. scontrol prints 9:0 and 0:9.
. "$(dirname "$0")/lib-slurm.sh"
controller
node
submit right --wrap='exit 0'
submit nine --wrap='exit 9'
submit killed --wrap='kill -KILL $$'
until_so eval '[ -z "$(squeue --noheader)" ]'
compare 'right: job_state "COMPLETED", exit_code 0
nine: job_state "FAILED", exit_code 2304
killed: job_state "FAILED", exit_code 9
ExitCode=0:0
ExitCode=9:0
ExitCode=0:9' "$(
    of_jobs job_state exit_code
    scontrol show job | grep -oE 'ExitCode=[0-9:]+'
)"
