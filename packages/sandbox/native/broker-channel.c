/* Writes whole lines or ends; reads bounded lines. */
#include "kernel-interface.h"
#include "broker-channel.h"
#include "first-process.h"

enum { MESSAGE_BYTES_MAX = 1 << 18, LINE_BYTES_MAX = 256, SHORT_BYTES_MAX = 128 };

static int channel = -1;

/* WHY: Node takes the end of its channel for the end of what is still in it. A broker that is gone reads nothing more. */
void be_heard(void) {
  struct pollfd broker = {.fd = channel};
  struct timespec pause = {.tv_nsec = 20000};
  for (int unread; ioctl(channel, SIOCOUTQ, &unread) == 0 && unread > 0 && ppoll(&broker, 1, &pause, NULL) == 0;) continue;
}

void open_channel(int fd) { channel = fd; }

/* INVARIANT: a broker that cannot be told anything is gone, and nothing goes on without it. */
static void send_line(const char *line, size_t length) {
  for (size_t sent = 0; sent < length;) {
    ssize_t step = write(channel, line + sent, length - sent);
    if (step < 0 && errno == EINTR) continue;
    if (step <= 0) _exit(125);
    sent += (size_t)step;
  }
}

void tell_narrowed(void) { send_line("{\"kind\":\"narrowed\"}\n", 20); }

static void send_number(const char *kind, const char *name, unsigned long number) {
  char line[SHORT_BYTES_MAX];
  send_line(line, append_text(line, 0, sizeof line, "{\"kind\":\"%s\",\"%s\":%lu}\n", kind, name, number));
}

void tell_started(pid_t pid) { send_number("started", "pid", (unsigned long)pid); }
void tell_cancelled(unsigned long id) { send_number("cancel", "id", id); }

void tell_failed(const char *step, int error) {
  char line[SHORT_BYTES_MAX];
  send_line(line, append_text(line, 0, sizeof line, "{\"kind\":\"failed\",\"step\":\"%s\",\"error\":%d}\n", step, error));
}

/* As Node's own channel passes descriptors; it answers each with an acknowledgement. */
void tell_caught(int word, int fd) {
  const char *kind = word == WORD_STREAMS ? "streams" : word == WORD_NAMES ? "names" : "datagrams";
  const char *type = word == WORD_STREAMS ? "net.Server" : "dgram.Native";
  char line[SHORT_BYTES_MAX];
  size_t length = append_text(line, 0, sizeof line, "{\"cmd\":\"NODE_HANDLE\",\"type\":\"%s\",\"msg\":{\"kind\":\"%s\"}}\n", type, kind);
  if (send_with(channel, line, length, fd) != 0) _exit(125);
}

enum parts_list { PARTS_ASKED, PARTS_GAINED, PARTS_GRANTED, PARTS_LISTS };

static bool belongs(const struct part *part, enum parts_list list, const struct launch *launch) {
  bool is_granted = granted(launch, part->place->real, part->operation) != 0;
  if (list == PARTS_GRANTED) return is_granted && (part->operation & OPERATIONS_DESTRUCTIVE) != 0;
  return !is_granted && (part->gained_at != NULL) == (list == PARTS_GAINED);
}

/* The new length, or `size` where it does not fit. WHY only what is asked must be text: what is granted is not decided by it. */
static size_t append_parts(char *line, size_t length, size_t size, const struct parts *parts, enum parts_list list,
                           const struct launch *launch) {
  const char *separator = "";
  for (size_t index = 0; index < parts->count; index++) {
    const struct part *part = &parts->list[index];
    if (!belongs(part, list, launch)) continue;
    if (list != PARTS_GRANTED && !is_utf8(part->place->real)) return size;
    length = append_text(line, length, size, "%s{\"operation\":\"%s\",\"exists\":%s,\"target\":\"", separator,
                         operation_word(part->operation), part->place->exists ? "true" : "false");
    length = append_json(line, length, size, part->place->real);
    if (list == PARTS_GAINED) {
      if (!is_utf8(part->gained_at->real)) return size;
      length = append_text(line, length, size, "\",\"gained_at\":\"");
      length = append_json(line, length, size, part->gained_at->real);
    }
    length = append_text(line, length, size, "\"}");
    separator = ",";
  }
  return length;
}

bool tell_parts(const char *word, unsigned long id, const struct trapped_call *call, const struct parts *parts,
                const struct launch *launch) {
  static const char *const LISTS[PARTS_LISTS] = {"\",\"parts\":[", "],\"gains\":[", "],\"granted\":["};
  static char line[MESSAGE_BYTES_MAX];
  if (id != 0 && !is_utf8(call->first.text)) return false;
  size_t length = append_text(line, 0, sizeof line, "{\"kind\":\"%s\",\"id\":%lu,\"pid\":%d,\"call\":\"%s\",\"requested\":\"", word,
                              id, call->pid, call->name);
  length = append_json(line, length, sizeof line, call->first.text);
  for (enum parts_list list = PARTS_ASKED; list < PARTS_LISTS; list++) {
    length = append_text(line, length, sizeof line, "%s", LISTS[list]);
    length = append_parts(line, length, sizeof line, parts, list, launch);
  }
  length = append_text(line, length, sizeof line, "]}\n");
  if (length == sizeof line) return false;
  send_line(line, length);
  return true;
}

bool hear_broker(void (*take)(struct answer answer)) {
  static char buffer[4096];
  static size_t filled = 0;
  ssize_t length = read(channel, buffer + filled, sizeof buffer - filled);
  if (length < 0) return errno == EINTR || errno == EAGAIN;
  if (length == 0) return false;
  filled += (size_t)length;
  size_t start = 0;
  for (char *end; (end = memchr(buffer + start, '\n', filled - start)) != NULL; start = (size_t)(end - buffer) + 1) {
    struct answer answer = parse_answer(buffer + start, (size_t)(end - buffer) - start);
    if (answer.kind == ANSWER_NONE) return false;
    take(answer);
  }
  memmove(buffer, buffer + start, filled - start);
  filled -= start;
  return filled < LINE_BYTES_MAX;
}
