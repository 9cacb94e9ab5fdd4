/* Streams of records in files of shared memory, which the lab reads while the program runs.
 *
 * A record looks at nothing: memory behind the area that cannot be written stops it, and the handler here turns to another area, which
 * the lab has emptied. An emptied area is 0, which is what a branch that was taken leaves: it only moves the pointer on. A loop of such
 * branches may move it far behind the area before something is stored, so what cannot be written is as long as such a loop may take.
 * What is left in an area when the process ends, however it ends, is read from the file. A handler of signals writes a stream of its
 * own, so what it interrupts loses nothing: hence the link wraps (--wrap) what installs handlers, and what could block the signal of a
 * full area. The layout is described in assay-trace (logged/areas.rs), whose test holds the numbers below against its own. */
#include <fcntl.h>
#include <linux/futex.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#define ASSAY_AREA_BYTES 262144L
#define ASSAY_PAGE 4096L
#define ASSAY_AREAS 8
#define ASSAY_FILE_BYTES (ASSAY_PAGE + ASSAY_AREAS * ASSAY_AREA_BYTES)
/* From one area to the next: a loop that is never left moves over it in 15 s at 4 GHz. Less where there is not that much. */
#define ASSAY_MOST_STRIDE (1UL << 36)
#define ASSAY_LEAST_STRIDE (1UL << 24)
#define ASSAY_MAGIC 0x70737363
#define ASSAY_DEPTHS 8
/* No record is longer, but for a mark's. */
#define ASSAY_RECORD 16

struct assay_stream {
    _Atomic uint32_t magic; /* written last */
    uint32_t process, parent, thread;
    uint64_t anchor;
    _Atomic uint32_t closed; /* the lab reads no more */
    uint32_t lost;           /* records were written over, or are missing */
    /* By turn, modulo their number. The lab reads one after the other. */
    _Atomic uint32_t full[ASSAY_AREAS]; /* bytes that wait to be read; the lab sets them to 0 */
    uint64_t beyond[ASSAY_AREAS];       /* bytes behind the area that were left 0 */
    uint32_t areas[ASSAY_AREAS];        /* which area */
    uint32_t turn;                      /* the one that is written */
    uint64_t handed_on;                 /* bytes of all turns before */
    uint64_t stride;                    /* bytes from one area to the next */
    uint64_t reserved;                  /* bytes of addresses */
};

#define ASSAY_IS_AT(member, offset) \
    _Static_assert(__builtin_offsetof(struct assay_stream, member) == (offset), "as assay-trace has it")
ASSAY_IS_AT(anchor, 16);
ASSAY_IS_AT(closed, 24);
ASSAY_IS_AT(full, 32);
ASSAY_IS_AT(beyond, 64);
ASSAY_IS_AT(areas, 128);

/* Whether the lab is to read it. */
enum assay_reader { ASSAY_READ, ASSAY_UNREAD };

/* A stream for each depth of handlers of signals. */
static __thread struct assay_stream *assay_streams[ASSAY_DEPTHS];
static __thread uint8_t *assay_ends[ASSAY_DEPTHS];
static __thread int assay_depth;

static const char *assay_folder;
static atomic_int assay_made;
static struct sigaction assay_handlers[65];
int __real_sigaction(int, const struct sigaction *, struct sigaction *);
int __real_sigprocmask(int, const sigset_t *, sigset_t *);
int __real_pthread_sigmask(int, const sigset_t *, sigset_t *);
extern const char __assay_anchor[];

/* What log.c or program.c says: who reads the streams that begin by themselves, and what a handler of signals means. */
static const enum assay_reader assay_by_itself;
static void assay_interrupted(void);

/* Calls of the system that leave errno alone. */
static long assay_call(long number, long a, long b, long c, long d, long e, long f)
{
    long result;
    register long r10 __asm__("r10") = d;
    register long r8 __asm__("r8") = e;
    register long r9 __asm__("r9") = f;
    __asm__ volatile("syscall"
                     : "=a"(result)
                     : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
                     : "rcx", "r11", "memory");
    return result;
}

static char *assay_number(char *at, unsigned long number)
{
    char digits[24];
    int length = 0;
    do {
        digits[length++] = (char)('0' + number % 10);
        number /= 10;
    } while (number > 0);
    while (length > 0) {
        *at++ = digits[--length];
    }
    return at;
}

static uint8_t *assay_area(struct assay_stream *stream, uint32_t area)
{
    return (uint8_t *)stream + ASSAY_PAGE + area * stream->stride;
}

/* The area that is written. */
static uint8_t *assay_written(struct assay_stream *stream)
{
    return assay_area(stream, stream->areas[stream->turn]);
}

/* Memory, at an address or anywhere; 0 where there is none. */
static uint8_t *assay_map(uint8_t *at, size_t bytes, int access, int flags, long file, size_t offset)
{
    long placed = at == NULL ? 0 : MAP_FIXED;
    long mapped = assay_call(SYS_mmap, (long)at, (long)bytes, access, flags | placed, file, (long)offset);
    return (unsigned long)mapped > -4096UL ? NULL : (uint8_t *)mapped;
}

/* The file of a new stream, or -1. */
static long assay_file(long process)
{
    char name[4200], *at = name;
    long file;
    for (const char *from = assay_folder; *from != 0 && at < name + 4096; from++) {
        *at++ = *from;
    }
    *at++ = '/';
    at = assay_number(at, (unsigned long)process);
    *at++ = '-';
    at = assay_number(at, (unsigned long)atomic_fetch_add(&assay_made, 1));
    *at = 0;
    file = assay_call(SYS_open, (long)name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600, 0, 0, 0);
    if (file >= 0) {
        assay_call(SYS_ftruncate, file, ASSAY_FILE_BYTES, 0, 0, 0, 0);
    }
    return file;
}

/* A new stream; without a file nobody reads it. */
static struct assay_stream *assay_new(enum assay_reader reader)
{
    long process = assay_call(SYS_getpid, 0, 0, 0, 0, 0, 0);
    long file = assay_folder != NULL && reader == ASSAY_READ ? assay_file(process) : -1;
    uint32_t areas = file < 0 ? 1 : ASSAY_AREAS;
    int flags = file < 0 ? MAP_PRIVATE | MAP_ANONYMOUS : MAP_SHARED, access = PROT_READ | PROT_WRITE;
    uint64_t stride = 2 * ASSAY_MOST_STRIDE;
    uint8_t *base = NULL;
    struct assay_stream *stream;
    while (base == NULL && stride > ASSAY_LEAST_STRIDE) {
        stride /= 2;
        base = assay_map(NULL, ASSAY_PAGE + areas * stride, PROT_NONE,
                         MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    }
    stream = (struct assay_stream *)base;
    if (base == NULL || assay_map(base, ASSAY_PAGE, access, flags, file, 0) == NULL) {
        assay_call(SYS_exit_group, 127, 0, 0, 0, 0, 0);
    }
    stream->stride = stride;
    stream->reserved = ASSAY_PAGE + areas * stride;
    for (uint32_t area = 0; area < areas; area++) {
        size_t offset = ASSAY_PAGE + area * ASSAY_AREA_BYTES;
        if (assay_map(assay_area(stream, area), ASSAY_AREA_BYTES, access, flags, file, offset) == NULL) {
            assay_call(SYS_exit_group, 127, 0, 0, 0, 0, 0);
        }
    }
    if (file >= 0) {
        assay_call(SYS_close, file, 0, 0, 0, 0, 0);
    }
    stream->process = (uint32_t)process;
    stream->parent = (uint32_t)assay_call(SYS_getppid, 0, 0, 0, 0, 0, 0);
    stream->thread = (uint32_t)assay_call(SYS_gettid, 0, 0, 0, 0, 0, 0);
    stream->anchor = (uint64_t)(uintptr_t)__assay_anchor;
    stream->closed = file < 0;
    atomic_store_explicit(&stream->magic, ASSAY_MAGIC, memory_order_release);
    return stream;
}

/* Where a stream's first record goes. Ahead of it there is room for a last one of before. */
static uint8_t *assay_start(struct assay_stream *stream)
{
    return assay_area(stream, 0) + (stream->closed ? ASSAY_RECORD : 0);
}

/* Waits for the lab where all areas are full: until half of them are free again, as each wait is felt. The lab wakes who waits. */
static void assay_wait(struct assay_stream *stream, uint32_t next)
{
    _Atomic uint32_t *half = &stream->full[(next + ASSAY_AREAS / 2) % ASSAY_AREAS];
    struct {
        long seconds, nanoseconds;
    } patience = {0, 10000000};
    uint32_t waits;
    if (atomic_load_explicit(&stream->full[next], memory_order_acquire) == 0) {
        return;
    }
    while ((waits = atomic_load_explicit(half, memory_order_acquire)) != 0 && !stream->closed) {
        assay_call(SYS_futex, (long)half, FUTEX_WAIT, waits, (long)&patience, 0, 0);
    }
}

/* The last record of a stream that nobody reads, ahead of where it goes on. */
static uint8_t *assay_again(struct assay_stream *stream, const uint8_t *end)
{
    uint8_t *area = assay_area(stream, 0), last[ASSAY_RECORD];
    if (end > area + ASSAY_AREA_BYTES) {
        assay_fill(last, 0, ASSAY_RECORD);
    } else {
        assay_copy(last, end - ASSAY_RECORD, ASSAY_RECORD);
    }
    /* A branch that was taken left nothing, and is no beginning of a stream. */
    last[ASSAY_RECORD - 1] |= last[ASSAY_RECORD - 1] == 0;
    assay_fill(area, 0, ASSAY_AREA_BYTES);
    assay_copy(area, last, ASSAY_RECORD);
    return assay_start(stream);
}

/* The first area that does not wait to be read: where the lab keeps up two are in use, which stay in this core's cache, and the others
 * are never touched. Also the first one where there is none, as nobody reads any more. */
static uint32_t assay_free(struct assay_stream *stream)
{
    uint32_t busy = 0;
    for (uint32_t turn = 0; turn < ASSAY_AREAS; turn++) {
        if (atomic_load_explicit(&stream->full[turn], memory_order_acquire) != 0) {
            busy |= 1U << stream->areas[turn];
        }
    }
    return (uint32_t)__builtin_ctz(~busy) % ASSAY_AREAS;
}

/* Hands the full area on and turns to another. */
static uint8_t *assay_turn(struct assay_stream *stream, const uint8_t *end)
{
    uint32_t own = stream->turn, next = (own + 1) % ASSAY_AREAS;
    uint64_t bytes = (uint64_t)(end - assay_written(stream));
    uint64_t within = bytes < ASSAY_AREA_BYTES ? bytes : ASSAY_AREA_BYTES;
    if (stream->closed && stream->areas[own] == 0) {
        return assay_again(stream, end);
    }
    stream->handed_on += bytes;
    stream->beyond[own] = bytes - within;
    atomic_store_explicit(&stream->full[own], (uint32_t)within, memory_order_release);
    assay_wait(stream, next);
    stream->areas[next] = assay_free(stream);
    stream->turn = next;
    return assay_written(stream);
}

/* A handler of the program's own, with a stream of its own. */
static void assay_deliver(struct sigaction handler, int number, siginfo_t *info, void *context)
{
    uint8_t *at = __assay_at;
    uint64_t kept = __assay_kept, target = __assay_target;
    int depth = assay_depth;
    /* Blocked while the program waits for others (sigsuspend), it would be blocked in their handlers, too. */
    uint64_t full = 1UL << (SIGSEGV - 1);
    assay_call(SYS_rt_sigprocmask, SIG_UNBLOCK, (long)&full, 0, sizeof full, 0, 0);
    assay_interrupted();
    if (depth + 1 < ASSAY_DEPTHS) {
        assay_depth = depth + 1;
        if (assay_streams[assay_depth] == NULL) {
            assay_streams[assay_depth] = assay_new(assay_by_itself);
            assay_ends[assay_depth] = assay_start(assay_streams[assay_depth]);
        }
        __assay_at = assay_ends[assay_depth];
    } else if (assay_streams[depth] != NULL) {
        assay_streams[depth]->lost = 1; /* handlers that were left by a jump, again and again */
    }
    if ((handler.sa_flags & SA_SIGINFO) != 0) {
        handler.sa_sigaction(number, info, context);
    } else {
        handler.sa_handler(number);
    }
    if (assay_depth > depth) {
        assay_ends[assay_depth] = __assay_at;
    }
    assay_depth = depth;
    __assay_at = at;
    __assay_kept = kept;
    __assay_target = target;
}

static void assay_handle(int number, siginfo_t *info, void *context)
{
    assay_deliver(assay_handlers[number], number, info, context);
}

/* The register that the pointer is in at a record's store (records.rs): `set`, or a `mov` of a constant. The pointer is at the record,
 * or one byte further. */
static int assay_register(const uint8_t *code, int *further)
{
    static const int registers[16] = {REG_RAX, REG_RCX, REG_RDX, REG_RBX, REG_RSP, REG_RBP, REG_RSI, REG_RDI,
                                      REG_R8,  REG_R9,  REG_R10, REG_R11, REG_R12, REG_R13, REG_R14, REG_R15};
    int high = 0, low, is_long;
    if ((*code & 0xf0) == 0x40) {
        high = (*code++ & 1) << 3;
    }
    code += *code == 0x0f ? 2 : 1;
    low = *code & 7;
    /* The stack pointer's number stands for one more byte. */
    is_long = low == 4;
    *further = (*code & 0xc0) == 0x40 && code[1 + is_long] == 0xff;
    return registers[high | (is_long ? code[1] & 7 : low)];
}

/* A fault of the program's own, or the signal as somebody sent it. */
static void assay_own_fault(int number, siginfo_t *info, void *context)
{
    struct sigaction own = assay_handlers[number], plain = {.sa_handler = SIG_DFL};
    int was_sent = info->si_code <= 0;
    if (own.sa_handler == SIG_IGN && was_sent) {
        return;
    }
    if (own.sa_handler == SIG_DFL || own.sa_handler == SIG_IGN) {
        __real_sigaction(number, &plain, NULL);
        if (was_sent) {
            /* A fault comes again by itself, this does not. */
            assay_call(SYS_tgkill, assay_call(SYS_getpid, 0, 0, 0, 0, 0, 0), assay_call(SYS_gettid, 0, 0, 0, 0, 0, 0), number, 0,
                       0, 0);
        }
        return;
    }
    if ((own.sa_flags & (int)SA_RESETHAND) != 0) {
        assay_handlers[number] = plain;
    }
    assay_deliver(own, number, info, context);
}

/* A record met the memory behind its area, or it is the first of a thread. */
static void assay_full(int number, siginfo_t *info, void *context)
{
    greg_t *registers = ((ucontext_t *)context)->uc_mcontext.gregs;
    struct assay_stream *stream = assay_streams[assay_depth];
    uintptr_t fault = (uintptr_t)info->si_addr;
    uintptr_t end = stream == NULL ? ASSAY_NOWHERE : (uintptr_t)assay_written(stream) + ASSAY_AREA_BYTES;
    uintptr_t stride = stream == NULL ? ASSAY_MOST_STRIDE : stream->stride;
    int pointer, further;
    uint8_t *at;
    if (info->si_code <= 0 || fault < end || fault - end >= stride - ASSAY_AREA_BYTES ||
        fault == (uintptr_t)registers[REG_RIP]) {
        assay_own_fault(number, info, context);
        return;
    }
    pointer = assay_register((const uint8_t *)registers[REG_RIP], &further);
    at = (uint8_t *)registers[pointer] - further;
    if (fault - (uintptr_t)at >= ASSAY_RECORD) {
        assay_own_fault(number, info, context);
        return;
    }
    if (stream == NULL) {
        stream = assay_streams[assay_depth] = assay_new(assay_by_itself);
        at = assay_start(stream) + ((uintptr_t)at - ASSAY_NOWHERE);
        end = (uintptr_t)assay_area(stream, 0) + ASSAY_AREA_BYTES;
    }
    if ((uintptr_t)at > end - ASSAY_RECORD) {
        at = assay_turn(stream, at);
    }
    __assay_at = at;
    registers[pointer] = (greg_t)(at + further);
}

int __wrap_sigaction(int number, const struct sigaction *new, struct sigaction *old)
{
    struct sigaction own, before, found;
    int result = 0;
    if (number < 1 || number > 64) {
        return __real_sigaction(number, new, old);
    }
    before = assay_handlers[number];
    if (new != NULL) {
        own = *new;
        assay_handlers[number] = *new;
    }
    if (number == SIGSEGV) {
        found = before;
    } else if (new != NULL && own.sa_handler != SIG_DFL && own.sa_handler != SIG_IGN) {
        own.sa_sigaction = assay_handle;
        own.sa_flags |= SA_SIGINFO;
        sigdelset(&own.sa_mask, SIGSEGV);
        result = __real_sigaction(number, &own, &found);
    } else {
        result = __real_sigaction(number, new, &found);
    }
    if (result == 0 && old != NULL) {
        *old = found.sa_sigaction == assay_handle ? before : found;
    }
    return result;
}

static sighandler_t assay_signal(int number, sighandler_t handler, int flags)
{
    struct sigaction new = {.sa_handler = handler, .sa_flags = flags}, old;
    return __wrap_sigaction(number, &new, &old) == 0 ? old.sa_handler : SIG_ERR;
}

sighandler_t __wrap_signal(int number, sighandler_t handler)
{
    return assay_signal(number, handler, SA_RESTART);
}

/* What `signal` is of a program that asks for X/Open's functions alone. */
sighandler_t __wrap___sysv_signal(int number, sighandler_t handler)
{
    return assay_signal(number, handler, (int)(SA_RESETHAND | SA_NODEFER));
}

static const sigset_t *assay_open(int how, const sigset_t *set, sigset_t *own)
{
    if (set == NULL || how == SIG_UNBLOCK) {
        return set;
    }
    *own = *set;
    sigdelset(own, SIGSEGV);
    return own;
}

int __wrap_sigprocmask(int how, const sigset_t *set, sigset_t *old)
{
    sigset_t own;
    return __real_sigprocmask(how, assay_open(how, set, &own), old);
}

int __wrap_pthread_sigmask(int how, const sigset_t *set, sigset_t *old)
{
    sigset_t own;
    return __real_pthread_sigmask(how, assay_open(how, set, &own), old);
}

/* Ahead of all constructors, which may be instrumented. */
static void assay_begin(int count, char **words, char **environment)
{
    struct sigaction full = {.sa_sigaction = assay_full, .sa_flags = SA_SIGINFO | SA_NODEFER | SA_ONSTACK};
    const char name[] = "ASSAY_OUTCOMES=";
    (void)count, (void)words;
    /* The C library does not know its environment yet. */
    for (; *environment != NULL && assay_folder == NULL; environment++) {
        size_t at = 0;
        while (at < sizeof name - 1 && (*environment)[at] == name[at]) {
            at++;
        }
        assay_folder = at == sizeof name - 1 ? *environment + at : NULL;
    }
    assay_streams[0] = assay_new(assay_by_itself);
    __assay_at = assay_start(assay_streams[0]);
    __real_sigaction(SIGSEGV, &full, NULL);
}
__attribute__((section(".preinit_array"), used)) static void (*const assay_first)(int, char **, char **) = assay_begin;
