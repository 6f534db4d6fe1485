/*
 * Answers the trapped calls of the program. What is granted and held by Landlock too goes on by itself; what is granted
 * otherwise is done on behalf; the rest is asked of the broker and waits. Trusts nothing in the program's memory.
 */
#ifndef SALLYPORT_SUPERVISOR_H
#define SALLYPORT_SUPERVISOR_H

#include "path-text.h"
#include "view.h"

void open_supervisor(const struct launch *launch, int listener, struct roots roots);

/* One notification is waiting. `false`: the listener is over. */
bool serve_notice(void);

/* An answer of the broker. */
void take_answer(struct answer answer);

/* Whether calls wait; those whose program has gone are given up. */
bool check_waiting(void);

#endif
