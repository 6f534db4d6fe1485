/* Where the process begins, and threads of it: what a C library would do of that. */
#pragma once

/* Where `errno` is in the block of a thread: a number, since instructions name it. */
#define ERROR_AT 48

enum { STACK_BYTES = 1 << 18 };
/* INVARIANT: what processors and compilers look for in it is where they look: its own address, and the guard of the stack. */
struct block {
  struct block *own;
  unsigned long unused[4], guard;
  int error;
};

struct thread {
  /* 1 from its start on. The kernel clears it, and wakes one, when the thread has ended. */
  int runs;
  struct block block;
  _Alignas(16) char stack[STACK_BYTES];
};

/* Another thread, or where `kind` says so a child, that shares memory and descriptors until it execs or ends. Its number, or -1. */
#define KIND_THREAD (CLONE_FS | CLONE_SIGHAND | CLONE_THREAD | CLONE_SYSVSEM)
pid_t start_within(struct thread *thread, unsigned long kind, void (*run)(void *), void *argument);
/* Waits while the word is that; wakes one who waits. */
void wait_while(int *word, int value);
void wake_one(int *word);
