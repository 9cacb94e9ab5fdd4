# The hot path of `fnptr` as gcc 12 makes it, with the store at each byte of a line and with the loop at each byte: a sled of NOPs
# ahead of each, which nothing executes. Each store has a loop of its own at offset 0 (home), for a call that has seen several
# targets costs more. sled.c calls them by the tables at the end.
        .altmacro

# g1's store: 17 bytes.
        .macro store where
        .p2align 6
        .nops \where, 9
store_\where:
        movl (%rsi), %eax
        movl %eax, old_value(%rip)
        movl %edx, (%rsi)
        movl %edx, flag(%rip)
        ret
        .endm

# calls(count, store, cells): the loop of 24 bytes.
        .macro loop name, where, sled
        .p2align 4
\name\()_\where:
        pushq %rbx
        pushq %rbp
        pushq %r12
        pushq %r13
        pushq %r14
        movq %rdi, %rbp
        movq %rsi, %r12
        movq %rdx, %r13
        xorl %ebx, %ebx
        jmp \name\()_body_\where
        .p2align 6
        .nops \sled, 9
\name\()_body_\where:
        movq %rbx, %rax
        movl %ebx, %edx
        addq $1, %rbx
        andl $0x3f, %eax
        leaq (%r13,%rax,4), %rsi
        call *%r12
        cmpq %rbx, %rbp
        jne \name\()_body_\where
        popq %r14
        popq %r13
        popq %r12
        popq %rbp
        popq %rbx
        ret
        .endm

        .macro entry kind, where
        .quad \kind\()_\where
        .endm

        .text
        .set n, 0
        .rept 64
        store %n
        .set n, n + 1
        .endr
        .set n, 0
        .rept 64
        loop loop, %n, %n
        .set n, n + 1
        .endr
        .set n, 0
        .rept 64
        loop home, %n, 0
        .set n, n + 1
        .endr
        loop shared, 0, 0

        .bss
        .balign 64
old_value: .zero 4
        .balign 64
flag:   .zero 4

        .section .data.rel.ro, "aw"
        .globl sled_stores, sled_loops, sled_homes, sled_shared
        .balign 8
sled_stores:
        .set n, 0
        .rept 64
        entry store, %n
        .set n, n + 1
        .endr
sled_loops:
        .set n, 0
        .rept 64
        entry loop, %n
        .set n, n + 1
        .endr
sled_homes:
        .set n, 0
        .rept 64
        entry home, %n
        .set n, n + 1
        .endr
sled_shared:
        .quad shared_0
        .section .note.GNU-stack, "", @progbits
