/* What every instrumented program is linked with, ahead of stream.c and of log.c or program.c. */
#define _GNU_SOURCE
#include <stddef.h>
#include <stdint.h>

/* Compilers call these for copies of structs. The program may define them itself, and its own write records. */
__attribute__((used)) static void *assay_copy(void *to, const void *from, size_t n)
{
    void *result = to;
    __asm__ volatile("rep movsb" : "+D"(to), "+S"(from), "+c"(n) : : "memory");
    return result;
}
__attribute__((used)) static void *assay_fill(void *to, int value, size_t n)
{
    void *result = to;
    __asm__ volatile("rep stosb" : "+D"(to), "+c"(n) : "a"(value) : "memory");
    return result;
}
__asm__(".set memcpy, assay_copy\n.set memset, assay_fill\n");

/* Of each thread: where the next record goes, and what the record's code has taken out of its way. Nothing of a process is ever mapped
 * where a new thread begins, in the kernel's half, however far it moves: its first store meets no memory. */
#define ASSAY_NOWHERE 0xffff900000000000
__thread uint8_t *__assay_at = (uint8_t *)ASSAY_NOWHERE;
__thread uint64_t __assay_kept;
__thread uint64_t __assay_target;
