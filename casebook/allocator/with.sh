#!/bin/sh
# Runs a command with another malloc: with.sh jemalloc|mimalloc|tcmalloc|PATH COMMAND...
# Exit code 3, with a reason, where it is not installed (the dynamic linker would go on with the system's).
set -eu
case $1 in
    jemalloc) library=libjemalloc.so.2 ;;
    mimalloc) library=libmimalloc.so.2 ;;
    tcmalloc) library=libtcmalloc_minimal.so.4 ;;
    *) library=$1 ;;
esac
shift
if [ -n "$(LD_PRELOAD=$library /bin/true 2>&1)" ]; then
    echo "with.sh: no $library here: scripts/setup.sh allocator" >&2
    exit 3
fi
LD_PRELOAD=$library exec "$@"
