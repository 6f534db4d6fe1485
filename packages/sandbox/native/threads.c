/* The first instructions of the process and of each thread. */
#include "kernel-interface.h"
#include "threads.h"
#include <elf.h>

_Static_assert(offsetof(struct block, guard) == 40 && offsetof(struct block, error) == ERROR_AT, "as instructions name them");

int main(int argc, char **argv);
_Noreturn void begin(unsigned long *words);
long start_at(unsigned long flags, void *top, void (*run)(void *), void *argument, struct block *block, int *runs);

/* `_start` hands on what the kernel left on the stack. `start_at` is clone; whoever is new finds on its stack what to run. */
#ifdef __x86_64__
__asm__(".text\n.globl _start\n_start: xor %ebp, %ebp\nmov %rsp, %rdi\nand $-16, %rsp\ncall begin\n"
        "start_at: and $-16, %rsi\nsub $16, %rsi\nmov %rdx, (%rsi)\nmov %rcx, 8(%rsi)\nmov %r9, %r10\nmov $56, %eax\nsyscall\n"
        "test %rax, %rax\njnz leave_kernel\n"
        "xor %ebp, %ebp\npop %rax\npop %rdi\ncall *%rax\nxor %edi, %edi\nmov $60, %eax\nsyscall\n");

static struct block *own_block(void) {
  struct block *block;
  __asm__("mov %%fs:0, %0" : "=r"(block));
  return block;
}

static void set_block(struct block *block) { syscall(__NR_arch_prctl, 0x1002 /* where %fs leads */, block); }
#else
unsigned long __stack_chk_guard;

__asm__(".text\n.globl _start\n_start: mov x29, #0\nmov x0, sp\nbl begin\n"
        "start_at: and x1, x1, #-16\nstp x2, x3, [x1, #-16]!\nmov x3, x4\nmov x4, x5\nmov x8, #220\nsvc #0\n"
        "cbnz x0, leave_kernel\n"
        "mov x29, #0\nldp x1, x0, [sp], #16\nblr x1\nmov x0, #0\nmov x8, #93\nsvc #0\n");

static struct block *own_block(void) { return __builtin_thread_pointer(); }
static void set_block(struct block *block) {
  __stack_chk_guard = block->guard;
  __asm__("msr tpidr_el0, %0" : : "r"(block));
}
#endif

int *__errno_location(void) { return &own_block()->error; }
_Noreturn void __stack_chk_fail(void) { __builtin_trap(); }

void begin(unsigned long *words) {
  static struct block first = {.own = &first};
  int count = (int)words[0];
  unsigned long *at = words + count + 2;
  while (*at != 0) at++;
  for (at++; *at != AT_NULL; at += 2)
    if (*at == AT_RANDOM) first.guard = *(unsigned long *)at[1] & ~0xfful;
  set_block(&first);
  _exit(main(count, (char **)(words + 1)));
}

pid_t start_within(struct thread *thread, unsigned long kind, void (*run)(void *), void *argument) {
  thread->runs = 1;
  thread->block = (struct block){.own = &thread->block, .guard = own_block()->guard};
  unsigned long flags = CLONE_VM | CLONE_FILES | CLONE_SETTLS | CLONE_CHILD_CLEARTID | kind;
  return (pid_t)start_at(flags, thread->stack + sizeof thread->stack, run, argument, &thread->block, &thread->runs);
}

void wait_while(int *word, int value) { syscall(__NR_futex, word, FUTEX_WAIT, value, NULL); }
void wake_one(int *word) { syscall(__NR_futex, word, FUTEX_WAKE, 1); }
