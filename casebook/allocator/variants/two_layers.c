// The fourth stage.
#define TINY_PREFIX two_layers_
#define NDEBUG
#define TINY_LISTS 1
#define TINY_WRONG_HINTS 1
#define TINY_CONFIG 1

#include "../tiny.c"
