#!/usr/bin/env bash
# Slurm 22.05.8 (Debian 12's packages 22.05.8-4+deb12u3): `sinfo --json` of a node that takes no
# jobs.
#
# Guess: idle_cpus are the cores that jobs can have, as the second number of `sinfo --format=%C`;
# what is not known is null.
# Seen: idle_cpus is 8 for a node that is down or drained, where %C says 0 idle and 8 other; the
# drained one has the state "idle", and DRAIN is a flag beside it. So a sum over idle nodes counts
# cores that nobody gets. What a node has not told yet is 4294967294 as cpu_load and -2 as
# free_memory.
. "$(dirname "$0")/lib-slurm.sh"
controller

# of_node KEY...
of_node() {
    sinfo --json | python3 -c '
import json, sys
[node] = json.load(sys.stdin)["nodes"]
print(", ".join(f"{key} {json.dumps(node[key])}" for key in sys.argv[1:]))' "$@"
    sinfo --noheader --Node --format='%T: allocated/idle/other/all %C'
}

scontrol update NodeName=n1 State=DOWN Reason=repair
down=$(of_node state state_flags idle_cpus cpu_load free_memory)
scontrol update NodeName=n1 State=RESUME
node
scontrol update NodeName=n1 State=DRAIN Reason=repair
drained=$(of_node state state_flags idle_cpus)
compare 'state "down", state_flags [], idle_cpus 8, cpu_load 4294967294, free_memory -2
down: allocated/idle/other/all 0/0/8/8
state "idle", state_flags ["DRAIN"], idle_cpus 8
drained: allocated/idle/other/all 0/0/8/8' "$down
$drained"
