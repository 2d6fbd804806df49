#!/usr/bin/env bash
# Spin 6.5.2 (Debian's package spin 6.5.2+dfsg-1), the model checker; needs gcc.
#
# Guess: an option of a `do` whose first statement is `if :: false -> ... :: else -> ... fi` can
# always be taken, for one of the two branches of that `if` can.
# Seen: the inner `else` counts as the `else` of the `do`, and is taken only where no other option of
# the `do` can go on. So a model that should try to break off at each step never does, and the search
# reports no error. With `true ->` before the `if` the break is tried, and the error is found. A model
# that finds nothing must therefore be shown to find a fault that was put in.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
apt-get download --quiet spin=6.5.2+dfsg-1 >/dev/null
dpkg-deb -x spin_*.deb unpacked

errors() {
    mkdir "$1"
    (
        cd "$1"
        cat >model.pml
        ../unpacked/usr/bin/spin -a model.pml
        gcc -o pan pan.c
        ./pan | sed -n 's/.*errors: //p'
    )
}
model() {
    cat <<PML
active proctype P() {
    int n = 0;
    do
    :: n < 3 -> n++
    :: $1 if :: false -> skip :: else -> break fi
    od;
    assert(n == 3)
}
PML
}
first=$(model "" | errors first)
behind=$(model "true ->" | errors behind)
echo "if first in the option: errors $first; behind true ->: errors $behind"
[ "$first" = 0 ] && [ "$behind" = 1 ]
