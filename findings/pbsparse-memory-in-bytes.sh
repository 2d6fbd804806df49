#!/usr/bin/env bash
# pbsparse 0.2.6, which reads accounting files of PBS.
#
# Guess: amounts of memory are read in each unit that PBS writes: b, kb, mb, gb, tb. PBS writes what
# somebody asked for, so `-l mem=1073741824` stands there as 1073741824b, and `-l mem=1gb` as 1gb.
# Seen: what stands there in bytes is 0, with no word of it. All others are GiB.
. "$(dirname "$0")/lib.sh"
install pbsparse==0.2.6
expect '1073741824b: 0
1048576kb: 1.0
1024mb: 1.0
1gb: 1.0' <<'PY'
from pbsparse import PbsRecord

for memory in ["1073741824b", "1048576kb", "1024mb", "1gb"]:
    record = PbsRecord(
        f"11/30/2026 12:00:00;E;1.pbs;user=a ctime=1 Resource_List.mem={memory} "
        "Resource_List.ncpus=1 Resource_List.walltime=01:00:00", process=True)
    print(f"{memory}: {record.Resource_List['mem']}")
PY
