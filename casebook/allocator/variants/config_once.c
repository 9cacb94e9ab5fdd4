// The third stage.
#define TINY_PREFIX config_once_
#define NDEBUG
#define TINY_LISTS 1
#define TINY_FRONT_CACHE 1
#define TINY_WRONG_HINTS 1
#define TINY_CONFIG 1

#include "../tiny.c"
