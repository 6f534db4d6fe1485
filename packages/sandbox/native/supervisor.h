/*
 * Answers the trapped calls of the program. What is granted and held by Landlock too goes on by itself; what is granted
 * otherwise is done on behalf; the rest is asked of the broker and waits. Trusts nothing in the program's memory.
 */
#pragma once
#include "path-text.h"
#include "view.h"

void open_supervisor(const struct launch *launch, int listener, struct roots roots);
/* One notification is waiting. `false`: the program makes many calls, and from now on a thread of its own answers them. */
bool serve_notice(void);
/* INVARIANT: one turn at a time: a call, or whatever else uses what is below or the broker's channel. */
void take_turn(void);
void end_turn(void);
/* An answer of the broker. */
void take_answer(struct answer answer);
/* Calls whose program has gone are given up. */
void check_waiting(void);
