// The C library's names for the functions of whoever includes this, by which LD_PRELOAD takes its place. IN_PLACE_OF(name)
// says which function is meant.

void *malloc(size_t size) IN_PLACE_OF(malloc);
void free(void *block) IN_PLACE_OF(free);
void *calloc(size_t count, size_t size) IN_PLACE_OF(calloc);
void *realloc(void *block, size_t size) IN_PLACE_OF(realloc);
void *memalign(size_t alignment, size_t size) IN_PLACE_OF(memalign);
void *aligned_alloc(size_t alignment, size_t size) IN_PLACE_OF(aligned_alloc);
int posix_memalign(void **result, size_t alignment, size_t size) IN_PLACE_OF(posix_memalign);
void *valloc(size_t size) IN_PLACE_OF(valloc);
void *pvalloc(size_t size) IN_PLACE_OF(pvalloc);
