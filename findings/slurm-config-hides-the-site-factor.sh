#!/usr/bin/env bash
# Slurm 22.05.8 (Debian 12's packages 22.05.8-4+deb12u3).
#
# Guess: `scontrol show config` prints the settings that slurmctld runs with, so a program can ask
# it whether the site has a plug-in for site factors.
# Seen: PrioritySiteFactorPlugin and PrioritySiteFactorParameters are (null) though slurm.conf sets
# both and slurmctld has loaded the plug-in. PriorityType, beside them, is right.
. "$(dirname "$0")/lib-slurm.sh"
controller PriorityType=priority/multifactor PrioritySiteFactorPlugin=site_factor/none \
    PrioritySiteFactorParameters=some-words
seen=$(
    grep -o 'site_factor plugin loaded' controller.log
    scontrol show config | grep -E '^Priority(SiteFactor|Type)' | sed 's/ *= */ = /' | sort
)
compare 'site_factor plugin loaded
PrioritySiteFactorParameters = (null)
PrioritySiteFactorPlugin = (null)
PriorityType = priority/multifactor' "$seen"
