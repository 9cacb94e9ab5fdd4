// The last stage.
#define TINY_PREFIX final_
#define NDEBUG

#include "../tiny.c"
