// The allocator of this study, under names of its own. Built with -DTINY_PRELOAD it is malloc, free and the rest.
//
// All functions keep the promises of their namesakes in the C library: blocks are aligned to 16 bytes, a size of 0
// gives a block of its own, what cannot be had gives NULL with errno ENOMEM, and freeing changes no errno.

#ifndef TINY_H
#define TINY_H

#include <stddef.h>

// Several builds of the allocator fit into one program when each has a prefix of its own.
#ifndef TINY_PREFIX
#define TINY_PREFIX tiny_
#endif
#define TINY_PASTE_(a, b) a##b
#define TINY_PASTE(a, b) TINY_PASTE_(a, b)
#define TINY(name) TINY_PASTE(TINY_PREFIX, name)

void *TINY(malloc)(size_t size);
void TINY(free)(void *block);
void *TINY(calloc)(size_t count, size_t size);
void *TINY(realloc)(void *block, size_t size);
void *TINY(aligned_alloc)(size_t alignment, size_t size);
int TINY(posix_memalign)(void **result, size_t alignment, size_t size);
void *TINY(memalign)(size_t alignment, size_t size);
void *TINY(valloc)(size_t size);
void *TINY(pvalloc)(size_t size);
size_t TINY(malloc_usable_size)(void *block);

// Bytes in blocks that were handed out and not given back, rounded up to the blocks' sizes. Exact while no other
// thread is inside the allocator; blocks in the caches of other living threads count as handed out.
size_t TINY(live_bytes)(void);

#endif
