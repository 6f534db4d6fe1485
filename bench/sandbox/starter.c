/*
 * Stands in for the launcher: takes what the library would tell it, and starts `launcher` beside it with just that, again
 * and again, in turns with other commands. So a start is timed without the library, and bwrap in the same way.
 *   stdin: ROUNDS, CALLS, then commands, one word a line, each ended by an empty line
 *   stdout: of each, the launcher first, the microseconds of the smallest median of a round, one a line
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { COMMANDS_MAX = 8, WORDS_MAX = 64, CALLS_MAX = 1000, LINE_BYTES = 4096, CHANNEL = 3, DESCRIPTION = 4 };

static char launcher[LINE_BYTES];
static int description;

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec * 1e6 + (double)time.tv_nsec / 1e3;
}

static int ascending(const void *left, const void *right) {
  double difference = *(const double *)left - *(const double *)right;
  return difference < 0 ? -1 : difference > 0;
}

/*
 * From before its start until it has ended. Both kinds get the same descriptors, so that neither has less to do. The
 * launcher ends when everything that it said was read.
 */
static double taken(char *const words[]) {
  static char *const NOTHING[] = {NULL};
  int ends[2], status;
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) exit(1);
  lseek(description, 0, SEEK_SET);
  double start = now();
  pid_t child = vfork();
  if (child == 0) {
    if (dup2(ends[1], CHANNEL) < 0 || dup2(description, DESCRIPTION) < 0) _exit(1);
    execve(words[0], words, NOTHING);
    _exit(1);
  }
  close(ends[1]);
  char said[LINE_BYTES];
  while (child > 0 && read(ends[0], said, sizeof said) > 0) continue;
  if (child < 0 || waitpid(child, &status, 0) != child || status != 0) exit(1);
  double end = now();
  close(ends[0]);
  return end - start;
}

static double median(char *const words[], int calls) {
  static double times[CALLS_MAX];
  for (int call = 0; call < calls; call++) times[call] = taken(words);
  qsort(times, (size_t)calls, sizeof times[0], ascending);
  return times[calls / 2];
}

int main(int argc, char **argv) {
  char *own = strdup(argv[0]), line[LINE_BYTES];
  snprintf(launcher, sizeof launcher, "%s/launcher", dirname(own));
  if (argc != 4) {
    execv(launcher, argv);
    return 1;
  }
  /* WHY so high: the numbers that a started program is given must be free. */
  description = fcntl(memfd_create("description", MFD_CLOEXEC), F_DUPFD_CLOEXEC, 20);
  for (ssize_t size; (size = read(atoi(argv[2]), line, sizeof line)) > 0;)
    if (write(description, line, (size_t)size) != size) return 1;
  char *commands[COMMANDS_MAX][WORDS_MAX] = {{launcher, "3", "4", "3"}};
  int rounds = 0, calls = 0, count = 1, words = 0;
  if (scanf("%d %d\n", &rounds, &calls) != 2 || calls < 1 || calls > CALLS_MAX) return 1;
  while (fgets(line, sizeof line, stdin) != NULL && count < COMMANDS_MAX) {
    line[strcspn(line, "\n")] = 0;
    if (line[0] != 0 && words < WORDS_MAX - 1) commands[count][words++] = strdup(line);
    else count++, words = 0;
  }
  double best[COMMANDS_MAX];
  for (int round = -1; round < rounds; round++)
    for (int index = 0; index < count; index++) {
      double found = median(commands[index], calls);
      if (round <= 0 || found < best[index]) best[index] = found;
    }
  for (int index = 0; index < count; index++) printf("%.0f\n", best[index]);
  return 0;
}
