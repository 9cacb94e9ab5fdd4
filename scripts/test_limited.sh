#!/usr/bin/env bash
# Does a command that hangs say so, with what it left running, and leave nothing behind?
set -euo pipefail
cd "$(dirname "$0")/.."

failed=0
check() { # $1 what, then a command that must hold
    local what=$1
    shift
    if "$@"; then echo "ok: $what"; else echo "FAILED: $what" >&2; failed=$((failed + 1)); fi
}
ended() { # $1 seconds, then a command: its exit code into $code, what it says into $said
    code=0
    said=$(scripts/limited.py "$@" 2>&1) || code=$?
}
# Alive: there, and not only waiting to be taken note of.
alive() { [ -e "/proc/$1/stat" ] && ! grep -q ') Z ' "/proc/$1/stat"; }

ended 60 sh -c 'exit 3'
check "a command's own exit code is kept" [ "$code" = 3 ]
# One of the two is in a session of its own.
ended 1 sh -c 'sleep 601 & setsid sleep 602 & wait'
check "one that hangs ends with 124" [ "$code" = 124 ]
check "it is told what runs" grep -q 'sleep 601' <<< "$said"
check "in a session of its own, too" grep -q 'sleep 602' <<< "$said"
left=0
for number in $(sed -n 's/^ *\([0-9]*\) [A-Z] .*/\1/p' <<< "$said"); do
    # Killed is not gone at once.
    for _ in $(seq 100); do alive "$number" || break; sleep 0.05; done
    ! alive "$number" || left=$((left + 1))
done
check "nothing is left" [ "$left" = 0 ]
echo "$((5 - failed)) passed, $failed failed"
[ "$failed" = 0 ]
