// The first stage, but optimised: flags of one program are the same for all its variants.
#define TINY_PREFIX debug_
#define TINY_LISTS 1
#define TINY_FRONT_CACHE 1
#define TINY_WRONG_HINTS 1
#define TINY_CONFIG 2
#define TINY_GUARDS 1
#define TINY_PROFILE 1
#define TINY_STATISTICS 1

#include "../tiny.c"
