/* What a whole instrumented program is linked with besides: the lab reads the streams of all threads, and of children. */
#include <pthread.h>

static const enum assay_reader assay_by_itself = ASSAY_READ;

/* A handler's stream is read as any other. */
static void assay_interrupted(void)
{
}

/* A child that was forked has streams of its own; its parent's are unmapped. */
static void assay_child(void)
{
    for (int depth = 0; depth < ASSAY_DEPTHS; depth++) {
        if (assay_streams[depth] != NULL) {
            assay_call(SYS_munmap, (long)assay_streams[depth], (long)assay_streams[depth]->reserved, 0, 0, 0, 0);
        }
        assay_streams[depth] = NULL;
    }
    assay_streams[assay_depth] = assay_new(ASSAY_READ);
    __assay_at = assay_start(assay_streams[assay_depth]);
}

__attribute__((constructor(101))) static void assay_forks(void)
{
    pthread_atfork(NULL, NULL, assay_child);
}

__asm__(".text\n"
        ".globl __assay_anchor\n"
        ".hidden __assay_anchor\n"
        "__assay_anchor:\n"
        "    nop\n"
        ".section .debug_assay,\"\",@progbits\n"
        ".quad __assay_anchor\n"
        ".quad 5\n"
        ".text\n");
