/* What a whole instrumented program is linked with: a stream of records for each thread, in files of shared memory.
 *
 * As in log.c a record looks at nothing: a page behind the area that cannot be written stops it, and the handler here turns to the
 * thread's other area, which the lab has emptied meanwhile. What is left in an area when the process ends, however it ends, is read
 * from the file. A handler of signals writes a stream of its own, so what it interrupts loses nothing: hence the link wraps
 * (--wrap) what installs handlers, and what could block the signal of a full area. The layout is described in assay-trace
 * (logged/streams.rs), whose test holds the numbers below against its own. */
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#define ASSAY_AREA_BYTES 262144L
#define ASSAY_PAGE 4096L
#define ASSAY_FILE_BYTES (ASSAY_PAGE + 2 * (ASSAY_AREA_BYTES + ASSAY_PAGE))
#define ASSAY_MAGIC 0x70737361
#define ASSAY_DEPTHS 8

struct assay_stream {
    _Atomic uint32_t magic; /* written last */
    uint32_t process, parent, thread;
    uint64_t anchor;
    _Atomic uint32_t current;  /* the area that is written */
    _Atomic uint32_t closed;   /* the lab reads no more */
    _Atomic uint32_t full[2];  /* words of an area that waits to be read; the lab sets it to 0 */
    uint32_t lost;             /* records were written over */
};

/* A stream for each depth of handlers of signals. */
static __thread struct assay_stream *assay_streams[ASSAY_DEPTHS];
static __thread uint32_t *assay_ends[ASSAY_DEPTHS];
static __thread int assay_depth;

static const char *assay_folder;
static atomic_int assay_made;
static struct sigaction assay_handlers[65];
int __real_sigaction(int, const struct sigaction *, struct sigaction *);
int __real_sigprocmask(int, const sigset_t *, sigset_t *);
int __real_pthread_sigmask(int, const sigset_t *, sigset_t *);
extern const char __assay_anchor[];

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

static uint32_t *assay_area(struct assay_stream *stream, uint32_t area)
{
    return (uint32_t *)((char *)stream + ASSAY_PAGE + area * (ASSAY_AREA_BYTES + ASSAY_PAGE));
}

/* A new stream; without a file nobody reads it. */
static struct assay_stream *assay_new(void)
{
    char name[4200], *at = name;
    long file = -1, process = assay_call(SYS_getpid, 0, 0, 0, 0, 0, 0);
    struct assay_stream *stream;
    if (assay_folder != NULL) {
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
    }
    stream = (struct assay_stream *)assay_call(SYS_mmap, 0, ASSAY_FILE_BYTES, PROT_READ | PROT_WRITE,
                                               file < 0 ? MAP_PRIVATE | MAP_ANONYMOUS : MAP_SHARED, file, 0);
    if ((unsigned long)stream > -4096UL) {
        assay_call(SYS_exit_group, 127, 0, 0, 0, 0, 0);
    }
    if (file >= 0) {
        assay_call(SYS_close, file, 0, 0, 0, 0, 0);
    }
    for (uint32_t area = 0; area < 2; area++) {
        long guard = (long)assay_area(stream, area) + ASSAY_AREA_BYTES;
        assay_call(SYS_mprotect, guard, ASSAY_PAGE, PROT_NONE, 0, 0, 0);
    }
    stream->process = (uint32_t)process;
    stream->parent = (uint32_t)assay_call(SYS_getppid, 0, 0, 0, 0, 0, 0);
    stream->thread = (uint32_t)assay_call(SYS_gettid, 0, 0, 0, 0, 0, 0);
    stream->anchor = (uint64_t)(uintptr_t)__assay_anchor;
    stream->closed = file < 0;
    atomic_store_explicit(&stream->magic, ASSAY_MAGIC, memory_order_release);
    return stream;
}

/* Hands the full area on and turns to the other. */
static uint32_t *assay_turn(struct assay_stream *stream, const uint32_t *end)
{
    uint32_t own = stream->current, other = 1 - own;
    struct {
        long seconds, nanoseconds;
    } nap = {0, 50000};
    if (stream->closed) {
        return assay_area(stream, own);
    }
    atomic_store_explicit(&stream->full[own], (uint32_t)(end - assay_area(stream, own)), memory_order_release);
    while (atomic_load_explicit(&stream->full[other], memory_order_acquire) != 0 && !stream->closed) {
        assay_call(SYS_nanosleep, (long)&nap, 0, 0, 0, 0, 0);
    }
    stream->current = other;
    return assay_area(stream, other);
}

/* The program's own handler, with a stream of its own. */
static void assay_handle(int number, siginfo_t *info, void *context)
{
    struct sigaction handler = assay_handlers[number];
    uint32_t *at = __assay_at;
    uint64_t r11 = __assay_r11, r10 = __assay_r10;
    int depth = assay_depth;
    if (depth + 1 < ASSAY_DEPTHS) {
        assay_depth = depth + 1;
        if (assay_streams[assay_depth] == NULL) {
            assay_streams[assay_depth] = assay_new();
            assay_ends[assay_depth] = assay_area(assay_streams[assay_depth], 0);
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
    __assay_r11 = r11;
    __assay_r10 = r10;
}

/* A record met the page behind its area, or it is the first of a thread. */
static void assay_full(int number, siginfo_t *info, void *context)
{
    greg_t *registers = ((ucontext_t *)context)->uc_mcontext.gregs;
    uint32_t *at = (uint32_t *)registers[REG_R11];
    struct assay_stream *stream = assay_streams[assay_depth];
    uintptr_t fault = (uintptr_t)info->si_addr;
    if (stream == NULL && at == NULL && fault < 16) {
        stream = assay_streams[assay_depth] = assay_new();
        at = assay_area(stream, 0);
    } else {
        uintptr_t end = stream == NULL ? 0 : (uintptr_t)assay_area(stream, stream->current) + ASSAY_AREA_BYTES;
        if (stream == NULL || fault < end || fault >= end + ASSAY_PAGE || (uintptr_t)at > end ||
            (uintptr_t)at <= end - 16) {
            /* A fault of the program's own. */
            if (assay_handlers[number].sa_handler != SIG_DFL && assay_handlers[number].sa_handler != SIG_IGN) {
                assay_handle(number, info, context);
            } else {
                struct sigaction plain = {.sa_handler = SIG_DFL};
                __real_sigaction(number, &plain, NULL);
            }
            return;
        }
        at = assay_turn(stream, at);
    }
    __assay_at = at;
    registers[REG_R11] = (greg_t)at;
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

sighandler_t __wrap_signal(int number, sighandler_t handler)
{
    struct sigaction new = {.sa_handler = handler, .sa_flags = SA_RESTART}, old;
    return __wrap_sigaction(number, &new, &old) == 0 ? old.sa_handler : SIG_ERR;
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

/* A child that was forked has streams of its own; its parent's are mapped, but not for it. */
static void assay_child(void)
{
    for (int depth = 0; depth < ASSAY_DEPTHS; depth++) {
        assay_streams[depth] = NULL;
    }
    assay_streams[assay_depth] = assay_new();
    __assay_at = assay_area(assay_streams[assay_depth], 0);
}

__attribute__((constructor(101))) static void assay_forks(void)
{
    pthread_atfork(NULL, NULL, assay_child);
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
    assay_streams[0] = assay_new();
    __assay_at = assay_area(assay_streams[0], 0);
    __real_sigaction(SIGSEGV, &full, NULL);
}
__attribute__((section(".preinit_array"), used)) static void (*const assay_first)(int, char **, char **) = assay_begin;

__asm__(".text\n"
        ".globl __assay_anchor\n"
        ".hidden __assay_anchor\n"
        "__assay_anchor:\n"
        "    nop\n"
        ".section .debug_assay,\"\",@progbits\n"
        ".quad __assay_anchor\n"
        ".quad 5\n"
        ".text\n");
