#!/usr/bin/env bash
# python-hostlist 2.3.0 and ClusterShell 1.10.1, the two libraries for Slurm's host lists.
#
# Guess: both read the same lists, for both follow Slurm's notation.
# Seen: a range whose ends are padded differently is n8, n9, n10 in one and an error in the other; a
# step is read by one only; a comma at the end is nothing in one and an error in the other. Both fold
# n1 and n01 into one bracket, n[1,01], which each of them expands again to two hosts.
. "$(dirname "$0")/lib.sh"
install python-hostlist==2.3.0 ClusterShell==1.10.1
expect 'n[8-010]: hostlist n8 n9 n10; ClusterShell refuses
n[1-10/3]: hostlist refuses; ClusterShell n1 n4 n7 n10
a[1-2],: hostlist a1 a2; ClusterShell refuses
n[1,01]: hostlist n1 n01; ClusterShell n1 n01' <<'PY'
import hostlist
from ClusterShell.NodeSet import NodeSet

def read(expand, text):
    try:
        return " ".join(str(host) for host in expand(text))
    except Exception:
        return "refuses"

for text in ["n[8-010]", "n[1-10/3]", "a[1-2],", "n[1,01]"]:
    one, other = read(hostlist.expand_hostlist, text), read(NodeSet, text)
    print(f"{text}: hostlist {one}; ClusterShell {other}")
PY
