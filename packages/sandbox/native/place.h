/*
 * Where a path of the program leads: its real path, and the object there. Found in the view of the program, held by a
 * descriptor, and reached again from outside for the act, where it must be the same object.
 */
#pragma once
#include <sys/stat.h>
#include "trapped-call.h"

struct place {
  char real[PATH_BYTES_MAX];
  bool exists;
  struct stat facts;
  /* In the view: the object, or where there is none its folder. Held while a person decides. */
  int held;
  /* Outside: set by reach_place. */
  int folder;
  int object;
  char name[256];
};

/* The path leads through the program's own entries in /proc: only the kernel can follow it. */
enum { LEADS_TO_ITSELF = 4096 };
/* The text of a path from the root on, by the folder that the program gave. 0, or an error. `out`: PATH_BYTES_MAX. */
int absolute_text(pid_t pid, const struct named_path *path, char *out);
/* Whether no link is on the way to what a plain path names, or would name: then the text is its real path. */
bool leads_straight(int straight, const char *text);
/* Something was done that may have put a link somewhere. */
void forget_straight(void);
/* 0, an error, or LEADS_TO_ITSELF. `view`: the root of the program. */
int find_place(int view, pid_t pid, const struct named_path *path, struct place *place);
/* Opens the same place outside; EACCES where it is not the same any more. */
int reach_place(struct place *place);
void leave_place(struct place *place);
