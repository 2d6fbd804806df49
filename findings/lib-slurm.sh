# Shared by the findings on Slurm: a controller 22.05.8 of Debian 12 on the loopback interface,
# which knows one node of 8 cores, without MUNGE and without accounting. All files are in the
# folder.
. "$(dirname "$0")/lib.sh"
servers=()
trap 'kill "${servers[@]}" 2>/dev/null && wait; rm -rf "$folder"' EXIT
cd "$folder"

version=22.05.8-4+deb12u3
packages=({slurmctld,slurmd,slurm-client,slurm-wlm-basic-plugins}=$version libjson-c5=0.16-2)
for package in "${packages[@]}"; do
    apt-get download --quiet "$package" >/dev/null
done
for package in *.deb; do dpkg-deb -x "$package" unpacked; done
libraries=$folder/unpacked/usr/lib/x86_64-linux-gnu
export LD_LIBRARY_PATH=$libraries/slurm-wlm:$libraries
export PATH=$folder/unpacked/usr/bin:$folder/unpacked/usr/sbin:$PATH
export SLURM_CONF=$folder/slurm.conf

# until_so COMMAND...: waits until it succeeds, 30 s at most.
until_so() {
    for _ in {1..150}; do
        if "$@" >/dev/null 2>&1; then return; fi
        sleep 0.2
    done
    echo "not so within 30 s: $*" >&2
    tail --lines=3 ./*.log >&2
    exit 1
}

# controller LINE...: starts slurmctld; the lines are put into slurm.conf.
controller() {
    local port=$((20000 + RANDOM % 10000)) host user
    host=$(hostname) user=$(id -un)
    mkdir state spool
    cat >slurm.conf <<CONF
ClusterName=lab
SlurmctldHost=$host(127.0.0.1)
SlurmctldPort=$port
CommunicationParameters=NoInAddrAny,NoCtldInAddrAny
SlurmUser=$user
SlurmdUser=$user
AuthType=auth/none
CredType=cred/none
PluginDir=$libraries/slurm-wlm
MpiDefault=none
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SwitchType=switch/none
JobAcctGatherType=jobacct_gather/none
SlurmctldPidFile=$folder/slurmctld.pid
SlurmdPidFile=$folder/slurmd.pid
StateSaveLocation=$folder/state
SlurmdSpoolDir=$folder/spool
SlurmdParameters=config_overrides
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
NodeName=n1 NodeHostname=$host NodeAddr=127.0.0.1 Port=$((port + 1)) CPUs=8 RealMemory=8000
PartitionName=main Nodes=n1 Default=YES MaxTime=INFINITE State=UP
CONF
    if [ $# -gt 0 ]; then printf '%s\n' "$@" >>slurm.conf; fi
    slurmctld-wlm -D -vv >controller.log 2>&1 &
    servers+=($!)
    until_so eval 'timeout 5 scontrol ping | grep -q "is UP"'
}

# node: starts the slurmd of the node.
node() {
    slurmd-wlm -D -N n1 -d "$folder/unpacked/usr/sbin/slurmstepd-wlm" >node.log 2>&1 &
    servers+=($!)
    until_so eval 'sinfo --noheader --format=%T | grep -q idle'
}

# submit NAME WORD...: a job that prints nothing anywhere.
submit() {
    sbatch --parsable --output=/dev/null --job-name="$1" "${@:2}" >/dev/null
}

# of_jobs KEY...: what `squeue --json` says of each job.
of_jobs() {
    squeue --json | python3 -c '
import json, sys
for job in sorted(json.load(sys.stdin)["jobs"], key=lambda job: job["job_id"]):
    said = [f"{key} {json.dumps(job[key])}" for key in sys.argv[1:]]
    print(job["name"] + ": " + ", ".join(said))' "$@"
}
