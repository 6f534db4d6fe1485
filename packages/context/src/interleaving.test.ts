import { EventEmitter } from "node:events";
import http from "node:http";
import net, { type AddressInfo } from "node:net";
import { PassThrough } from "node:stream";
import { afterAll, beforeAll, expect, it } from "vitest";
import { ContextKeeper } from "./context-keeper.ts";
import { type Following, followListeners } from "./follow-listeners.ts";
import { activeName, sampleCaller } from "./testing/sample-caller.ts";

const SUBJECTS = 50;
const OPERATIONS = 100_000;

const keeper = new ContextKeeper();
const contexts = Array.from({ length: SUBJECTS }, (_, index) =>
  keeper.root(sampleCaller(`subject_${index}`)),
);
const agent = new http.Agent({ keepAlive: true, maxSockets: 4 });
const emitters: EventEmitter[] = [];
const streams: PassThrough[] = [];
const connections: net.Socket[] = [];
const waiting: EventEmitter[][] = [];
let following: Following;
let server: http.Server;
let echo: net.Server;
let servedAs: unknown[] = [];

/** What each operation is, in turn; a request over HTTP is the rarest. */
const KINDS = [
  "timer",
  "immediate",
  "tick",
  "microtask",
  "promise",
  "emitter",
  "once",
  "stream",
  "pool",
] as const;

beforeAll(async () => {
  following = followListeners(keeper);
  server = http.createServer((_, response) => {
    if (keeper.current() !== undefined) servedAs.push(keeper.current());
    response.end("ok");
  });
  echo = net.createServer((socket) => void socket.pipe(socket));
  await Promise.all([listening(server), listening(echo)]);
  for (let index = 0; index < SUBJECTS; index++) {
    emitters.push(new EventEmitter().setMaxListeners(0));
    streams.push(new PassThrough().setMaxListeners(0));
  }
  // A pool of four connections, each opened by one subject and used by all of them.
  for (let index = 0; index < 4; index++) {
    const queue: EventEmitter[] = [];
    waiting.push(queue);
    connections.push(
      keeper.enter(contexts[index] as never, () => {
        const socket = net.connect((echo.address() as AddressInfo).port, "127.0.0.1");
        socket.on("data", (bytes: Buffer) => bytes.forEach(() => queue.shift()?.emit("answer")));
        return socket;
      }),
    );
  }
});

afterAll(() => {
  following.stop();
  agent.destroy();
  connections.forEach((socket) => socket.destroy());
  server.closeAllConnections();
  server.close();
  echo.close();
});

it("100 000 interleaved operations of 50 subjects: none is attributed to the wrong one", async () => {
  const wrong: string[] = [];
  let done = 0;
  const perSubject = OPERATIONS / SUBJECTS;
  const act = async (subject: number): Promise<void> => {
    for (let step = 0; step < perSubject; step++) {
      const kind = kindOf(step);
      const seen = await operation(kind, subject, (subject * 7 + step) % SUBJECTS);
      done++;
      if (seen !== `subject_${subject}`) wrong.push(`${kind}: ${seen} instead of subject_${subject}`);
      if (activeName(keeper) !== `subject_${subject}`) wrong.push(`after ${kind}`);
    }
  };
  await Promise.all(contexts.map((context, subject) => keeper.enter(context, () => act(subject))));
  expect(wrong.slice(0, 10)).toEqual([]);
  expect(done).toBe(OPERATIONS);
  expect(servedAs).toEqual([]);
});

function kindOf(step: number): (typeof KINDS)[number] | "agent" | "fetch" {
  if (step % 40 === 0) return "agent";
  if (step % 100 === 1) return "fetch";
  return KINDS[step % KINDS.length] as (typeof KINDS)[number];
}

/** Who the callback ran as. `other` is the subject that sets it off where one can. */
function operation(
  kind: ReturnType<typeof kindOf>,
  subject: number,
  other: number,
): Promise<string | undefined> {
  return new Promise((resolve, reject) => {
    const tell = (): void => resolve(activeName(keeper));
    const byOther = (fn: () => void): void => keeper.enter(contexts[other] as never, fn);
    const url = { port: (server.address() as AddressInfo).port, host: "127.0.0.1" };
    switch (kind) {
      case "timer":
        return void setTimeout(tell, 0);
      case "immediate":
        return void setImmediate(tell);
      case "tick":
        return process.nextTick(tell);
      case "microtask":
        return queueMicrotask(tell);
      case "promise":
        return void Promise.resolve().then(tell);
      case "emitter": {
        const emitter = emitters[subject] as EventEmitter;
        emitter.on("x", function listener() {
          emitter.off("x", listener);
          tell();
        });
        return byOther(() => void emitter.emit("x"));
      }
      case "once":
        (emitters[other] as EventEmitter).once(`for_${subject}`, tell);
        return byOther(() => void (emitters[other] as EventEmitter).emit(`for_${subject}`));
      case "stream": {
        const stream = streams[subject] as PassThrough;
        stream.once("data", tell);
        return byOther(() => void stream.write("x"));
      }
      case "pool": {
        const place = other % connections.length;
        const answer = new EventEmitter().once("answer", tell);
        waiting[place]?.push(answer);
        return void connections[place]?.write("x");
      }
      case "agent":
        return void http
          .get({ ...url, agent }, (response) => response.resume().on("end", tell))
          .on("error", reject);
      case "fetch":
        return void fetch(`http://127.0.0.1:${url.port}/`)
          .then((response) => response.text())
          .then(tell, reject);
    }
  });
}

function listening(listener: net.Server): Promise<void> {
  return new Promise((resolve) => void listener.listen(0, "127.0.0.1", resolve));
}
