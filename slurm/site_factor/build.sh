#!/bin/sh
# Builds Slurm's plug-in site_factor/meed for one version of Slurm, from the headers of that
# version's source: build.sh SOURCE FOLDER leaves FOLDER/site_factor_meed.so. SOURCE is the unpacked
# source package; it is neither configured nor built.
set -eu

refuse() {
    echo "site_factor/meed: $1" >&2
    exit 1
}

[ $# = 2 ] || refuse "usage: build.sh SOURCE FOLDER"
source=$1
folder=$2
here=$(cd "$(dirname "$0")" && pwd)
[ -f "$source/META" ] || refuse "$source is no source of Slurm: it has no META"
version=$(sed -n 's/^ *Version:[[:space:]]*//p' "$source/META")
running=$(slurmctld -V | sed 's/.* //')
[ "$version" = "$running" ] ||
    refuse "the source is of Slurm $version, and slurmctld here is of $running, which refuses a \
plug-in of another version: take the source of $running"
case $version in
22.05.8 | 24.11.5) ;;
*) echo "site_factor/meed: was loaded by Slurm 22.05.8 and 24.11.5 only" >&2 ;;
esac

# What configure would have found out, as far as the headers ask.
made=$(mktemp -d)
trap 'rm -r "$made"' EXIT
number=$(echo "$version" | awk -F. '{ printf "0x%02x%02x%02x", $1, $2, $3 }')
mkdir "$made/slurm"
sed "s/#undef SLURM_VERSION_NUMBER/#define SLURM_VERSION_NUMBER $number/" \
    "$source/slurm/slurm_version.h.in" >"$made/slurm/slurm_version.h"
cat >"$made/config.h" <<END
#define SLURM_VERSION_NUMBER $number
#define SLURM_VERSION_STRING "$version"
#define HAVE_CONFIG_H 1
#define HAVE_INTTYPES_H 1
#define HAVE_STDINT_H 1
#define HAVE_SYS_PRCTL_H 1
#define HAVE_UNISTD_H 1
#define SIZEOF_UNSIGNED_LONG 8
#define WITH_PTHREADS 1
END
"${CC:-cc}" -shared -fPIC -O2 -Wall -Wextra -Werror -Wno-unused-parameter -D_GNU_SOURCE \
    -DHAVE_CONFIG_H -I"$made" -isystem "$source" -o "$folder/site_factor_meed.so" \
    "$here/site_factor_meed.c"
