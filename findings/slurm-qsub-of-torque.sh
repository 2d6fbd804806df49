#!/usr/bin/env bash
# The qsub that comes with Slurm 22.05.8 (Debian's package slurm-wlm-torque), for those who come
# from Torque; it prints what it would give to sbatch.
#
# Guess: a job asks Slurm for what the same words mean in Torque. `-p 100` is more urgent than no
# `-p`; 1 node with 2 processors and 1 with 4 are 6 tasks; mem is memory of the whole job, also
# where it stands in bytes; cput is not the time by the clock.
# Seen: `-p 100` is `--nice=100`, which makes the job less urgent. 1:ppn=2+1:ppn=4 are 12 tasks,
# for sums of nodes and processors are multiplied. mem is asked for on each node, so twice on 2
# nodes, and is left out where it stands in bytes; pmem and vmem are left out too. cput becomes
# the time limit. Nothing is said of all that.
. "$(dirname "$0")/lib-slurm.sh"
for package in {slurm-wlm-torque,libslurm-perl,libslurm38}=$version; do
    apt-get download --quiet "$package" >/dev/null
done
for package in {slurm-wlm-torque,libslurm}*.deb; do dpkg-deb -x "$package" unpacked; done
printf '%s\n' ClusterName=lab "SlurmctldHost=$(hostname)" "PluginDir=$libraries/slurm-wlm" \
    AuthType=auth/none >slurm.conf

# asked WORD...: the words of qsub, and those that sbatch is given beside the names of files.
asked() {
    local line
    line=$(perl -I"$libraries/perl5/5.36" unpacked/usr/bin/qsub --sbatchline "$@" job.sh)
    echo "$*:$(sed 's/.* -o job[.]sh[.]o%A//; s/ job[.]sh$//' <<<"$line")"
}

seen=$(
    asked -p 100
    asked -l nodes=1:ppn=2+1:ppn=4
    asked -l nodes=2:ppn=4,mem=8gb
    asked -l mem=8589934592b
    asked -l nodes=2:ppn=4,pmem=2gb,vmem=4gb
    asked -l cput=8:00:00
)
compare '-p 100: --nice=100
-l nodes=1:ppn=2+1:ppn=4: -N2 -n12
-l nodes=2:ppn=4,mem=8gb: -N2 -n8 --mem=8192M
-l mem=8589934592b:
-l nodes=2:ppn=4,pmem=2gb,vmem=4gb: -N2 -n8
-l cput=8:00:00: -t480' "$seen"
