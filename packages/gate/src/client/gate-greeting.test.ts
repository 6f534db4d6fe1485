/** The first words of a gate in a real process, over a real descriptor; the service is played word by word. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { type Socket, connect, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { PROTOCOL_VERSION } from "../protocol/bounds.ts";
import { FrameDecoder, encodeFrame } from "../protocol/frame.ts";
import {
  type ChildMessage,
  FRAME_BYTES_MAX,
  MessageWriter,
  type ServiceMessage,
  childMessages,
} from "../protocol/message.ts";
import { HELLO_TEXT } from "./say-hello.ts";

const tools = new URL("../../../../tools/build-realm.mjs", import.meta.url).href;
let folder: string;
let program: string;
const started: ChildProcess[] = [];

beforeAll(async () => {
  const { bundleProgram } = (await import(tools)) as {
    readonly bundleProgram: (entry: string, output: string) => Promise<void>;
  };
  folder = mkdtempSync(join(tmpdir(), "sallyport-greeting-"));
  program = join(folder, "greeting.mjs");
  await bundleProgram(fileURLToPath(new URL("../testing/greeting-program.ts", import.meta.url)), program);
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));
afterEach(() => {
  for (const child of started.splice(0)) child.kill();
});

type Spoken = readonly ServiceMessage[] | "end";
/** What the service says to each kind of message of the child, in one piece. */
type Script = Partial<Record<ChildMessage["kind"], Spoken>>;

const HELLO: ServiceMessage = {
  kind: "hello",
  protocol: PROTOCOL_VERSION,
  nonce: "n",
  leaseMs: 2000,
  heartbeatMs: 500,
  memory: "allowlist",
};
const part = (changes: string, isLast: boolean) => ({ changes, count: 0, isLast });
const SNAPSHOT: ServiceMessage = { kind: "snapshot", revision: 7, ...part("[1]", true) };
const BEATEN: ServiceMessage = { kind: "heartbeat", beat: 1, live: true };
const delta = (from: number, to: number, changes: string): ServiceMessage => ({
  kind: "delta",
  from,
  to,
  ...part(changes, true),
});

/** A connected pair whose far end does not block, as another guarded program hands it on. */
async function openPair(): Promise<readonly [near: Socket, far: Socket]> {
  const server = createServer().listen(join(folder, `pair-${Math.random()}`));
  await once(server, "listening");
  const far = connect({ path: server.address() as string });
  const [[near]] = (await Promise.all([once(server, "connection"), once(far, "connect")])) as [
    [Socket],
    unknown,
  ];
  server.close();
  return [near, far];
}

async function start(kind: "blocking" | "not blocking"): Promise<readonly [ChildProcess, Socket]> {
  if (kind === "blocking") {
    const child = spawn(process.execPath, [program], { stdio: ["ignore", "pipe", "inherit", "pipe"] });
    return [child, child.stdio[3] as Socket];
  }
  const [near, far] = await openPair();
  const child = spawn(process.execPath, [program], { stdio: ["ignore", "pipe", "inherit", far] });
  far.destroy();
  return [child, near];
}

interface Played {
  readonly heard: readonly ChildMessage[];
  readonly said: unknown;
}

async function play(script: Script, kind: "blocking" | "not blocking" = "blocking"): Promise<Played> {
  const [child, socket] = await start(kind);
  const heard: ChildMessage[] = [];
  const decoder = new FrameDecoder(FRAME_BYTES_MAX.child);
  const reader = childMessages();
  const writer = new MessageWriter();
  socket.on("error", () => undefined);
  socket.on("data", (chunk: Buffer) => {
    for (const frame of decoder.push(chunk)) {
      const message = reader.read(frame);
      heard.push(message);
      const spoken = script[message.kind] ?? [];
      if (spoken === "end") socket.end();
      else
        socket.write(
          Buffer.concat(spoken.map((one) => encodeFrame(writer.write(one), FRAME_BYTES_MAX.service))),
        );
    }
  });
  started.push(child);
  const said = JSON.parse(await text(child.stdout as NonNullable<ChildProcess["stdout"]>)) as unknown;
  socket.destroy();
  return { heard, said };
}

it("hello is what a writer of messages writes first", () => {
  expect(HELLO_TEXT).toBe(new MessageWriter().write({ kind: "hello", protocol: PROTOCOL_VERSION }));
});

describe.each(["blocking", "not blocking"] as const)("at a descriptor that is %s", (kind) => {
  it("the facts are heard in their parts, with what changes before the lease, and no message beyond it", async () => {
    const { heard, said } = await play(
      {
        hello: [HELLO, { kind: "snapshot", revision: 7, ...part("[0]", false) }, SNAPSHOT],
        heartbeat: [delta(7, 9, "[2]"), BEATEN, delta(9, 10, "[3]")],
      },
      kind,
    );
    expect(said).toEqual({
      memory: "allowlist",
      changes: ["[0]", "[1]", "[2]"],
      isLeased: true,
      link: { leaseMs: 2000, heartbeatMs: 500, revision: 9, lastBeat: 1, read: 5, written: 4 },
      left: new MessageWriter(5).write(delta(9, 10, "[3]")),
    });
    expect(heard.map(({ kind: one }) => one)).toEqual(["hello", "confirm", "heartbeat", "confirm"]);
    expect(heard.filter((one) => one.kind === "confirm")).toEqual([
      { kind: "confirm", revision: 7 },
      { kind: "confirm", revision: 9 },
    ]);
  });
});

it("a service that does not vouch for its view gives no lease", async () => {
  const { said } = await play({
    hello: [HELLO, SNAPSHOT],
    heartbeat: [{ ...BEATEN, live: false }, delta(7, 8, "[]")],
  });
  expect(said).toMatchObject({ isLeased: false, changes: ["[1]"] });
});

it.each<[title: string, script: Script, fault: string]>([
  ["the service ends it", { hello: "end" }, "closed"],
  ["the service ends it before the lease", { hello: [HELLO, SNAPSHOT], heartbeat: "end" }, "closed"],
  ["the service refuses it", { hello: [{ kind: "close", code: "x", message: "no" }] }, "closed"],
  [
    "the service is of another version",
    { hello: [{ ...HELLO, protocol: PROTOCOL_VERSION + 1 }, SNAPSHOT], heartbeat: [BEATEN] },
    "wrong_version",
  ],
  ["facts come before hello", { hello: [SNAPSHOT] }, "out_of_state"],
  ["a lease comes before facts", { hello: [HELLO, BEATEN] }, "out_of_state"],
  [
    "a change is of other facts",
    { hello: [HELLO, SNAPSHOT], heartbeat: [delta(6, 8, "[]")] },
    "out_of_state",
  ],
  [
    "a lease is for another beat",
    { hello: [HELLO, SNAPSHOT], heartbeat: [{ ...BEATEN, beat: 2 }] },
    "out_of_state",
  ],
  [
    "an answer comes that nobody asked for",
    { hello: [HELLO, SNAPSHOT], heartbeat: [{ kind: "answer", id: 1, check: {} }] },
    "out_of_state",
  ],
])("no gate is open where %s", async (_title, script, fault) => {
  expect((await play(script)).said).toEqual({ fault });
});
