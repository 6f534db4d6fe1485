/*
 * Pid 1 of the sandbox: builds the view, starts the program under its confinement, reaps, hands signals on, and tells
 * how the program ended. When it ends the kernel ends everything else in the sandbox; it ends when the launcher does.
 */
#pragma once
#include "launch-description.h"

enum word { WORD_VIEW = 'v', WORD_STRAIGHT = 'r', WORD_SIGNAL = 's', WORD_END = 'x', WORD_FAILED = 'e', WORD_LISTENER = 'l', WORD_STREAMS = 't', WORD_NAMES = 'n', WORD_DATAGRAMS = 'd' };

struct notice {
  int32_t word, number;
  char step[24];
};

struct ways {
  /* To the launcher: pid 1 by the one, the program until its exec by the other. */
  int control, handover;
  /* How many descriptors, from 0, the program keeps. */
  int kept;
};

_Noreturn void run_first_process(const struct launch *launch, const struct ways *ways);
/* Bytes, with a descriptor where `fd` is not -1. 0, or -1 with errno. */
int send_with(int way, const void *bytes, size_t size, int fd);
/* A notice, with a descriptor where `fd` is not -1. */
int send_notice(int way, struct notice notice, int fd);
/* The size of the notice that came, 0 at the end, -1 with errno. `fd` may be NULL. */
int receive_notice(int way, struct notice *notice, int *fd);
