#!/usr/bin/env bash
# Slurm 22.05.8 of Debian 12: when a job was submitted and since when it could run, as `scontrol
# show job` tells it (sacct's Submit and Eligible are the same two).
#
# Guess: SubmitTime is when the job was submitted, whatever happens to it. What it waited is the
# time from EligibleTime to StartTime; a hold takes out of it what it lasted.
# Seen: a job that is requeued has SubmitTime, and AccrueTime (from which its age counts), anew:
# that it was submitted before is forgotten. It can run 2 minutes later. A job that waited for 4
# s, was held for 2 and released is eligible since it was released, so the 4 s are no wait.
. "$(dirname "$0")/lib-slurm.sh"
controller JobRequeue=1
node
of() { scontrol show job "$1" --oneliner | grep -o "\b$2=[^ ]*" | cut -d= -f2; }
seconds() { date --date="$(of "$1" "$2")" +%s; }

submit first --ntasks=8 --wrap='sleep 300'
until_so eval '[ "$(of 1 JobState)" = RUNNING ]'
submitted=$(seconds 1 SubmitTime) accrued=$(seconds 1 AccrueTime)
sleep 2
scontrol requeue 1
until_so eval '[ "$(of 1 JobState)" = PENDING ]'
later() { [ "$2" -gt "$1" ] && echo "$3 is later" || echo "$3 is as before"; }
requeued="requeued: $(later "$submitted" "$(seconds 1 SubmitTime)" SubmitTime), \
$(later "$accrued" "$(seconds 1 AccrueTime)" AccrueTime), eligible \
$((($(seconds 1 EligibleTime) - $(seconds 1 SubmitTime)) / 60)) min later"
scancel 1

submit second --ntasks=8 --wrap='sleep 300'
until_so eval '[ "$(of 2 JobState)" = RUNNING ]'
submit held --ntasks=8 --wrap=true
sleep 4
waited=$(($(seconds 3 EligibleTime) - $(seconds 3 SubmitTime)))
scontrol hold 3
sleep 2
released=$(date +%s)
scontrol release 3
scancel 2
until_so eval '[ "$(of 3 JobState)" = COMPLETED ]'
eligible=$(seconds 3 EligibleTime)
held="held: eligible $waited s after SubmitTime, and $( ((eligible >= released)) &&
    echo 'since its release' || echo 'as before'), once it was released"
compare 'requeued: SubmitTime is later, AccrueTime is later, eligible 2 min later
held: eligible 0 s after SubmitTime, and since its release, once it was released' "$requeued
$held"
