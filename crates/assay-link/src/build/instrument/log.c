/* What an instrumented program is linked with: the log of its branches, and the way to the lab.
 *
 * The code that the rewriter puts at each branch appends a record behind the thread's own pointer and looks at nothing: a
 * page behind the buffer that cannot be written stops it, and the handler here sends the buffer on and moves the
 * pointer back. Only regions of the harness are sent, and only of the main thread; what else is logged is overwritten.
 * The records are described in assay-pure (outcomes.rs), whose test holds the numbers below against its own. */
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#define ASSAY_LOG_BYTES (1L << 20)
#define ASSAY_LOG_PAGE 4096L
#define ASSAY_LOG_MARK 0x61737379

static __thread uint32_t *assay_buffer;

static int assay_pipe = -1;
static long assay_process;
static uint32_t *assay_sent; /* the buffer of the thread that is sent */
static int assay_open;       /* between the marks of a region */
static uint32_t assay_before[3]; /* the last record before the buffer was taken anew */

/* Registers at a call of the system, as the code below pushes them. */
struct assay_registers {
    uint64_t r10, r9, r8, rdx, rsi, rdi, rax;
};

/* Calls of the system that leave errno alone. */
static long assay_call(long number, long first, long second, long third)
{
    long result;
    __asm__ volatile("syscall"
                     : "=a"(result)
                     : "a"(number), "D"(first), "S"(second), "d"(third)
                     : "rcx", "r11", "memory");
    return result;
}

/* What was executed last stays known. */
static void assay_keep(const uint32_t *end)
{
    if (end - assay_sent >= 3) {
        for (int i = 0; i < 3; i++) {
            assay_before[i] = end[i - 3];
        }
    } else if (end != assay_sent) {
        assay_before[2] = end[-1];
    }
}

static void assay_send(const uint32_t *end)
{
    const char *from = (const char *)assay_sent;
    long left = (const char *)end - from;
    /* A child that was forked has the same descriptor. */
    if (assay_pipe < 0 || assay_call(SYS_getpid, 0, 0, 0) != assay_process) {
        return;
    }
    while (left > 0) {
        long written = assay_call(SYS_write, assay_pipe, (long)from, left);
        if (written == -4 /* EINTR */) {
            continue;
        }
        if (written <= 0) {
            assay_pipe = -1;
            return;
        }
        from += written;
        left -= written;
    }
}

static uint32_t *assay_map(void)
{
    char *made = mmap(NULL, ASSAY_LOG_BYTES + ASSAY_LOG_PAGE, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (made == MAP_FAILED || mprotect(made + ASSAY_LOG_BYTES, ASSAY_LOG_PAGE, PROT_NONE) != 0) {
        _exit(127);
    }
    return (uint32_t *)made;
}

/* A record met the page behind the buffer, or it is the first of a new thread. */
static void assay_full(int signal_number, siginfo_t *info, void *context)
{
    greg_t *registers = ((ucontext_t *)context)->uc_mcontext.gregs;
    uint32_t *at = (uint32_t *)registers[REG_R11];
    uintptr_t end = (uintptr_t)assay_buffer + ASSAY_LOG_BYTES, fault = (uintptr_t)info->si_addr;
    int full = assay_buffer != NULL && fault >= end && fault < end + ASSAY_LOG_PAGE && (uintptr_t)at <= end &&
               (uintptr_t)at > end - 16;
    int first = assay_buffer == NULL && at == NULL && fault < 16;
    if (!full && !first) {
        signal(signal_number, SIG_DFL); /* a fault of the program's own: it happens again, and ends it */
        return;
    }
    if (first) {
        assay_buffer = assay_map();
    } else if (assay_buffer == assay_sent) {
        assay_keep(at);
        if (assay_open) {
            assay_send(at);
        }
    }
    __assay_at = assay_buffer;
    registers[REG_R11] = (greg_t)assay_buffer;
}

/* Ahead of each call of the system in the program's own code, of which `word` is the site. */
extern const char __assay_system_call[];
__attribute__((used)) void __assay_mark(uint32_t word, const struct assay_registers *registers)
{
    int marks = registers->rax == SYS_prctl && registers->rdi == ASSAY_LOG_MARK;
    uint32_t what = marks ? (uint32_t)registers->rsi : 0;
    uint64_t anchor = (uint64_t)(uintptr_t)__assay_system_call;
    uint32_t *at = __assay_at, *end;
    if (assay_buffer == NULL || assay_buffer != assay_sent) {
        return;
    }
    end = assay_sent + ASSAY_LOG_BYTES / 4;
    if (what == 1 && !assay_open) {
        assay_keep(at);
        at = assay_sent;
        assay_open = 1;
    }
    if (!assay_open) {
        return;
    }
    if (end - at < 10) {
        assay_send(at);
        at = assay_sent;
    }
    at[0] = assay_before[0];
    at[1] = assay_before[1];
    at[2] = (uint32_t)anchor;
    at[3] = (uint32_t)(anchor >> 32);
    at[4] = assay_before[2];
    at[5] = what;
    at[6] = (uint32_t)registers->rdx;
    at[7] = (uint32_t)registers->r10;
    at[8] = (uint32_t)registers->r8;
    at[9] = word;
    at += 10;
    if (what == 2) {
        assay_send(at);
        assay_before[2] = word; /* what comes before the next mark, if no branch does */
        at = assay_sent;
        assay_open = 0;
    }
    __assay_at = at;
}

/* The flags, rcx and r11 are the call's own to change; the rest is put back. No vector register is touched. */
__asm__(".text\n"
        ".globl __assay_system_call\n"
        ".hidden __assay_system_call\n"
        ".type __assay_system_call, @function\n"
        "__assay_system_call:\n"
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
        ".quad __assay_system_call\n"
        ".quad 5\n"
        ".text\n");

/* Ahead of all constructors, which may be instrumented. */
static void assay_begin(int count, char **words, char **environment)
{
    struct sigaction full = {.sa_sigaction = assay_full, .sa_flags = SA_SIGINFO | SA_NODEFER};
    const char name[] = "ASSAY_OUTCOMES=", *path = NULL;
    (void)count, (void)words;
    /* The C library does not know its environment yet. */
    for (; *environment != NULL && path == NULL; environment++) {
        size_t at = 0;
        while (at < sizeof name - 1 && (*environment)[at] == name[at]) {
            at++;
        }
        path = at == sizeof name - 1 ? *environment + at : NULL;
    }
    assay_sent = assay_buffer = __assay_at = assay_map();
    assay_process = assay_call(SYS_getpid, 0, 0, 0);
    if (path != NULL) {
        assay_pipe = open(path, O_WRONLY | O_CLOEXEC);
    }
    sigaction(SIGSEGV, &full, NULL);
}
__attribute__((section(".preinit_array"), used)) static void (*const assay_first)(int, char **, char **) = assay_begin;
