/* What an instrumented program of regions is linked with besides: one stream is read, that of the thread which meets the marks of the
 * harness, and only between them. What else is logged is written over.
 * The records are described in assay-pure (outcomes.rs), whose test holds the numbers below against its own. */

#define ASSAY_LOG_MARK 0x61737379

static const enum assay_reader assay_by_itself = ASSAY_UNREAD;

static struct assay_stream *assay_regions; /* what is read; NULL: nobody asked */
static uint8_t *assay_regions_at;          /* where its next record goes, outside of regions */
static struct assay_stream *assay_outside; /* what is written over, while a region is open; else NULL */
static uint8_t *assay_outside_at;
static __thread int assay_is_main;
static uint8_t assay_before[12]; /* the last record ahead of a region, or its end */

/* Registers at a call of the system, as the code below pushes them. */
struct assay_registers {
    uint64_t r10, r9, r8, rdx, rsi, rdi, rax;
};

struct __attribute__((packed)) assay_mark_record {
    uint8_t before[12];
    uint64_t anchor, position;
    uint32_t what, variant, input, pass, word;
};

/* What a handler executes in a region is not in its log. */
static void assay_interrupted(void)
{
    if (assay_outside != NULL && assay_is_main) {
        assay_regions->lost = 1;
    }
}

/* A region begins: from here on the thread's records are read. */
static uint8_t *assay_enter(uint8_t *at)
{
    struct assay_stream *own = assay_streams[0];
    if (at > assay_area(own, 0) + ASSAY_AREA_BYTES) {
        at = assay_again(own, at);
    }
    assay_copy(assay_before, at - sizeof assay_before, sizeof assay_before);
    /* Nothing was stored for a branch that was taken. But ahead of the first record there is none. */
    assay_before[sizeof assay_before - 1] |= at > assay_start(own) && assay_before[sizeof assay_before - 1] == 0;
    assay_outside = own;
    assay_outside_at = at;
    assay_streams[0] = assay_regions;
    return assay_regions_at;
}

/* A region ended with the record ahead of `at`, which is also what comes before the next one if no branch does. */
static uint8_t *assay_leave(uint8_t *at)
{
    uint8_t *next = assay_outside_at;
    assay_regions_at = at;
    assay_streams[0] = assay_outside;
    assay_outside = NULL;
    if (next > assay_area(assay_streams[0], 0) + ASSAY_AREA_BYTES - ASSAY_RECORD) {
        next = assay_again(assay_streams[0], next);
    }
    assay_copy(next, at - sizeof(uint32_t), sizeof(uint32_t));
    return next + sizeof(uint32_t);
}

/* Ahead of each call of the system in the program's own code, of which `word` is the site. */
__attribute__((used)) void __assay_mark(uint32_t word, const struct assay_registers *registers)
{
    int marks = registers->rax == SYS_prctl && registers->rdi == ASSAY_LOG_MARK;
    uint32_t what = marks ? (uint32_t)registers->rsi : 0;
    uint8_t *at = __assay_at, *area;
    struct assay_mark_record record = {.anchor = (uint64_t)(uintptr_t)__assay_anchor,
                                       .what = what,
                                       .variant = (uint32_t)registers->rdx,
                                       .input = (uint32_t)registers->r10,
                                       .pass = (uint32_t)registers->r8,
                                       .word = word};
    if (assay_regions == NULL || !assay_is_main || assay_depth != 0 ||
        /* A child that was forked has the same memory. */
        assay_call(SYS_getpid, 0, 0, 0, 0, 0, 0) != assay_regions->process) {
        return;
    }
    if (what == 1 && assay_outside == NULL) {
        at = assay_enter(at);
    }
    if (assay_outside == NULL) {
        return;
    }
    area = assay_written(assay_regions);
    if (area + ASSAY_AREA_BYTES - at < (long)sizeof record) {
        at = assay_turn(assay_regions, at);
        area = assay_written(assay_regions);
    }
    record.position = assay_regions->handed_on + (uint64_t)(at - area);
    assay_copy(record.before, assay_before, sizeof record.before);
    assay_copy(at, &record, sizeof record);
    at += sizeof record;
    __assay_at = what == 2 ? assay_leave(at) : at;
}

/* The first stream of the process is the main thread's. */
__attribute__((constructor(101))) static void assay_read(void)
{
    assay_is_main = 1;
    if (assay_folder != NULL) {
        assay_regions = assay_new(ASSAY_READ);
        assay_regions_at = assay_start(assay_regions);
    }
}

/* The flags, rcx and r11 are the call's own to change; the rest is put back. No vector register is touched. */
__asm__(".text\n"
        ".globl __assay_system_call\n"
        ".hidden __assay_system_call\n"
        ".type __assay_system_call, @function\n"
        "__assay_system_call:\n"
        ".globl __assay_anchor\n"
        ".hidden __assay_anchor\n"
        "__assay_anchor:\n"
        "    pushq %rbp\n"
        "    movq %rsp, %rbp\n"
        "    pushq %rbx\n"
        "    pushq %rax\n"
        "    pushq %rdi\n"
        "    pushq %rsi\n"
        "    pushq %rdx\n"
        "    pushq %r8\n"
        "    pushq %r9\n"
        "    pushq %r10\n"
        "    movq %rsp, %rsi\n"
        "    movl %ecx, %edi\n"
        "    andq $-16, %rsp\n"
        "    call __assay_mark\n"
        "    leaq -64(%rbp), %rsp\n"
        "    popq %r10\n"
        "    popq %r9\n"
        "    popq %r8\n"
        "    popq %rdx\n"
        "    popq %rsi\n"
        "    popq %rdi\n"
        "    popq %rax\n"
        "    popq %rbx\n"
        "    popq %rbp\n"
        "    ret\n"
        ".size __assay_system_call, . - __assay_system_call\n"
        ".section .debug_assay,\"\",@progbits\n"
        ".quad __assay_anchor\n"
        ".quad 5\n"
        ".text\n");
