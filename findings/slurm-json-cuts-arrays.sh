#!/usr/bin/env bash
# Slurm 22.05.8 (Debian 12's packages 22.05.8-4+deb12u3): `squeue --json` of a job array that waits.
#
# Guess: JSON is for programs, so array_task_string names all tasks, and only tables are cut to
# their columns.
# Seen: the text has 63 characters at most. The cut goes through a number, and three points follow.
# With --array (-r) the array stays one job, as the manual says. SLURM_BITSTR_LEN=0 in the
# environment, which the manual has for columns, gives the whole text.
. "$(dirname "$0")/lib-slurm.sh"
controller
submit odd --array=1,103,105,108,111,114,117,120,123,125,128,131,133,136,138,141,143 --wrap=true
compare 'odd: array_task_string "1,103,105,108,111,114,117,120,123,125,128,131,133,136,138,14..."
with --array: 1 job
odd: array_task_string "1,103,105,108,111,114,117,120,123,125,128,131,133,136,138,141,143"' "$(
    of_jobs array_task_string
    echo "with --array: $(squeue --json --array | grep -c '"job_id"') job"
    SLURM_BITSTR_LEN=0 of_jobs array_task_string
)"
