# Shared by the findings: a temporary folder with a virtual environment, and the comparison.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

# install PACKAGE==VERSION...
install() {
    python3 -m venv "$folder/venv"
    "$folder/venv/bin/pip" install --quiet --disable-pip-version-check "$@"
}

# Runs the Python program on standard input; its output must be the text of the first argument.
expect() {
    local seen
    seen=$("$folder/venv/bin/python" -)
    compare "$1" "$seen"
}

# compare EXPECTED SEEN
compare() {
    if [ "$2" != "$1" ]; then
        printf 'CHANGED. Expected:\n%s\nSeen:\n%s\n' "$1" "$2" >&2
        exit 1
    fi
    printf 'As found:\n%s\n' "$2"
}
