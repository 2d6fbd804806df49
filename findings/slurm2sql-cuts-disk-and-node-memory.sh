#!/usr/bin/env bash
# slurm2sql 0.9.9, which puts what sacct tells into a database.
#
# Guess: what a job read and wrote (`MaxDiskRead`, which sacct prints as 1.99G or 0.75M) is kept to
# the digits that sacct printed, as `ReqMem` is; and `ReqMem` of Slurm before 21.08, 4Gn for 4 GiB
# on each node and 4Gc for 4 GiB with each core, is memory of a node and of a core.
# Seen: amounts of disks are cut to a whole number before the unit counts, so 1.99G is 1 GiB and
# 0.75M is nothing. Of 2 nodes with 4Gn, or with 4Gc and 8 cores, each node has 2 GiB, and a core
# half a GiB: both letters are passed over, and the amount is divided as if it were the job's.
. "$(dirname "$0")/lib.sh"
install slurm2sql==0.9.9
expect 'ReqMem 1.50G: 1536 MiB
MaxDiskRead 1.99G: 1024 MiB
AveDiskWrite 0.75M: 0 MiB
4Gn on 2 nodes, 8 cores: 2 GiB a node, 0.5 GiB a core
4Gc on 2 nodes, 8 cores: 2 GiB a node, 0.5 GiB a core' <<'PY'
import slurm2sql

for column, text in [("ReqMem", "1.50G"), ("MaxDiskRead", "1.99G"), ("AveDiskWrite", "0.75M")]:
    print(f"{column} {text}: {slurm2sql.COLUMNS[column](text) / 2**20:g} MiB")
for memory in ["4Gn", "4Gc"]:
    row = {"ReqMem": memory, "NNodes": "2", "NCPUS": "8"}
    node, core = (f.calc(row) / 2**30 for f in (slurm2sql.slurmMemNode, slurm2sql.slurmMemCPU))
    print(f"{memory} on 2 nodes, 8 cores: {node:g} GiB a node, {core:g} GiB a core")
PY
