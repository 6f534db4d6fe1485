/*
 * The channel to the broker: lines of JSON over the descriptor that Node gave, one message a line. What comes in is an
 * answer or nothing; whatever else arrives ends the sandbox.
 */
#pragma once
#include "parts.h"

/* `fd`: from now on messages go there. */
void open_channel(int fd);
/* Waits until everything that was said is read, or nobody is there to read it. */
void be_heard(void);
void tell_started(pid_t pid);
/* From now on nothing is granted without a question. */
void tell_narrowed(void);
void tell_failed(const char *step, int error);
/* `word`: ask, violation, or granted, of what destroys. `false`: a path cannot be said in text, so nothing was sent. */
bool tell_parts(const char *word, unsigned long id, const struct trapped_call *call, const struct parts *parts,
                const struct launch *launch);
void tell_cancelled(unsigned long id);
/* Hands over a socket that catches: connections, questions for names, or datagrams; by the word it came with. */
void tell_caught(int word, int fd);
/* Reads what has come and hands every answer on. `false`: the broker is gone, or said what is no answer. */
bool hear_broker(void (*take)(struct answer answer));
