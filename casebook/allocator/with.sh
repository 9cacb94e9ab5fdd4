#!/bin/sh
# Runs a command with another malloc, in an environment that is the same everywhere:
#
#     with.sh system|no-tcache|jemalloc|mimalloc|tcmalloc|PATH COMMAND...
#
# no-tcache is the system's without its cache of freed blocks in front of the arenas (glibc).
# Exit code 3, with a reason, where it is not installed (the dynamic linker would go on with the system's). The
# environment has 20 variables, as many as an ordinary session: how many branches getenv takes depends on them.
set -eu
library=$1
tunables=
shift
case $library in
    system) library= ;;
    no-tcache) library= tunables=GLIBC_TUNABLES=glibc.malloc.tcache_count=0 ;;
    jemalloc) library=libjemalloc.so.2 ;;
    mimalloc) library=libmimalloc.so.2 ;;
    tcmalloc) library=libtcmalloc_minimal.so.4 ;;
esac
if [ -n "$library" ] && [ -n "$(LD_PRELOAD=$library /bin/true 2>&1)" ]; then
    echo "with.sh: no $library here: scripts/setup.sh allocator" >&2
    exit 3
fi
exec env -i PATH=/usr/bin:/bin HOME=/ USER=user LOGNAME=user SHELL=/bin/sh PWD=/ OLDPWD=/ TERM=xterm LANG=C LC_ALL=C \
    EDITOR=vi PAGER=less MAIL=/var/mail/user DISPLAY=:0 HOSTNAME=host TZ=UTC SHLVL=1 COLUMNS=80 LINES=24 \
    LD_PRELOAD="$library" ${tunables:+"$tunables"} "$@"
