// The second stage.
#define TINY_PREFIX release_
#define NDEBUG
#define TINY_LISTS 1
#define TINY_FRONT_CACHE 1
#define TINY_WRONG_HINTS 1
#define TINY_CONFIG 2

#include "../tiny.c"
