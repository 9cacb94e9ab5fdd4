// The fifth stage.
#define TINY_PREFIX hints_
#define NDEBUG
#define TINY_LISTS 1
#define TINY_CONFIG 1

#include "../tiny.c"
