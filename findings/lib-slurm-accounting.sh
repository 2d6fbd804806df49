# Shared by the findings on Slurm's accounting: a cluster of one node with slurmdbd, of the Debian
# release that the first argument of `cluster` names, in a folder (mmdebstrap), and in a network
# namespace of its own. It needs root. All files are in the folder.
. "$(dirname "$0")/lib.sh"
trap leave EXIT

# The processes of the folder end with it; what is mounted there is seen in the namespace alone.
leave() {
    if [ -n "${keeper:-}" ]; then kill -- -"$keeper" 2>/dev/null || true; sleep 2; fi
    rm -rf --one-file-system "$folder"
}

# cluster RELEASE VERSION: Slurm of that release, which must be that version.
cluster() {
    root=$folder/root
    mmdebstrap --quiet --variant=apt --mode=root --aptopt='APT::Install-Recommends "false"' \
        --aptopt='Acquire::Check-Valid-Until "false"' \
        --include=slurm-wlm,slurm-wlm-basic-plugins,slurmdbd,mariadb-server,munge,iproute2 \
        "$1" "$root" >"$folder/make.log" 2>&1
    compare "slurm-wlm $2" "$(chroot "$root" slurmctld -V)"
    cp /etc/hosts "$root/etc/hosts"
    mkdir -p "$root"/lab/{state,spool,db,run}
    head --bytes=64 /dev/urandom >"$root/lab/munge.key"
    chmod 400 "$root/lab/munge.key"
    settings
    # A process that holds the namespaces, in a group of its own with all that is started there.
    setsid unshare --net --mount --pid --fork bash -c "
        ip link set lo up && ip address add 192.0.2.1/32 dev lo
        mount -t proc proc '$root/proc'
        mount --rbind /dev '$root/dev' && mount --rbind /sys '$root/sys'
        chroot '$root' bash /lab/servers.sh; sleep infinity" >"$folder/servers.log" 2>&1 &
    keeper=$!
    until_so slurm sinfo --noheader --format=%T
    until_so eval 'slurm sinfo --noheader --format=%T | grep -q idle'
    slurm sacctmgr --immediate --quiet add account lab >/dev/null
    slurm sacctmgr --immediate --quiet add user games account=lab >/dev/null
    sleep 2
}

# slurm COMMAND...: a command of that Slurm.
slurm() {
    local inside
    inside=$(pgrep --parent "$keeper" | head -1)
    nsenter --target "$inside" --net --mount --pid --root="$root" --wd="$root" \
        env PATH=/usr/sbin:/usr/bin:/sbin:/bin SLURM_CONF=/lab/slurm.conf LC_ALL=C "$@"
}

# until_so COMMAND...: waits until it succeeds, 90 s at most.
until_so() {
    for _ in {1..180}; do
        if "$@" >/dev/null 2>&1; then return; fi
        sleep 0.5
    done
    echo "not so within 90 s: $*" >&2
    tail --lines=20 "$folder/servers.log" >&2
    exit 1
}

settings() {
    local host
    host=$(hostname)
    cat >"$root/lab/slurmdbd.conf" <<CONF
AuthType=auth/munge
AuthInfo=socket=/lab/run/munge
DbdHost=localhost
DbdAddr=127.0.0.1
SlurmUser=root
PidFile=/lab/run/slurmdbd.pid
StorageType=accounting_storage/mysql
StorageHost=127.0.0.1
StorageUser=slurm
StoragePass=x
CommitDelay=1
CONF
    chmod 600 "$root/lab/slurmdbd.conf"
    cat >"$root/lab/slurm.conf" <<CONF
ClusterName=lab
SlurmctldHost=$host(127.0.0.1)
SlurmUser=root
AuthType=auth/munge
AuthInfo=socket=/lab/run/munge
MpiDefault=none
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SlurmctldPidFile=/lab/run/slurmctld.pid
SlurmdPidFile=/lab/run/slurmd.pid
StateSaveLocation=/lab/state
SlurmdSpoolDir=/lab/spool
SlurmdParameters=config_overrides
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
AccountingStorageType=accounting_storage/slurmdbd
AccountingStorageHost=127.0.0.1
AccountingStoragePass=/lab/run/munge
JobAcctGatherType=jobacct_gather/none
NodeName=n1 NodeHostname=$host NodeAddr=127.0.0.1 CPUs=8 RealMemory=8000
PartitionName=main Nodes=n1 Default=YES MaxTime=INFINITE State=UP
CONF
    cat >"$root/lab/servers.sh" <<'SERVERS'
export PATH=/usr/sbin:/usr/bin:/sbin:/bin SLURM_CONF=/lab/slurm.conf LC_ALL=C
cd /lab
munged --force --foreground --key-file=/lab/munge.key --socket=/lab/run/munge \
    --pid-file=/lab/run/munge.pid --seed-file=/lab/run/munge.seed &
mariadb-install-db --no-defaults --datadir=/lab/db --user=root --skip-test-db \
    --auth-root-authentication-method=normal >/dev/null
mariadbd --no-defaults --user=root --datadir=/lab/db --socket=/lab/run/db --port=3306 \
    --bind-address=127.0.0.1 --pid-file=/lab/run/db.pid &
until mariadb-admin --no-defaults -S run/db ping >/dev/null 2>&1; do sleep 0.5; done
mariadb --no-defaults -S run/db -u root -e "create user slurm@'127.0.0.1' identified by 'x';
    create user slurm@localhost identified by 'x'; create database slurm_acct_db;
    grant all on slurm_acct_db.* to slurm@'127.0.0.1';
    grant all on slurm_acct_db.* to slurm@localhost"
slurmdbd -D &
until timeout 5 sacctmgr --noheader show cluster >/dev/null 2>&1; do sleep 0.5; done
sacctmgr --immediate --quiet add cluster lab
# From 23.11 on slurmd ends where it finds no control groups, and may be told to do without.
case $(slurmctld -V) in *\ 22.*) ;; *) echo CgroupPlugin=disabled >cgroup.conf ;; esac
slurmctld -D &
slurmd -D -N n1 &
SERVERS
}
