/** The gate of a started program inside another gate: whole, in order, bounded, and ended by what has no place. */
import { once } from "node:events";
import { expect, it } from "vitest";
import { BRANCH_CHUNK_BYTES, BRANCH_TEXT_MAX } from "../protocol/bounds.ts";
import type { BranchMessage } from "../protocol/message.ts";
import { BranchDuplex } from "./branch-duplex.ts";

function pair() {
  const posted: BranchMessage[] = [];
  const near: BranchDuplex = new BranchDuplex(1, (message) => {
    posted.push(message);
    setImmediate(() => far.hear(message));
  });
  const far: BranchDuplex = new BranchDuplex(1, (message) => void setImmediate(() => near.hear(message)));
  return { near, far, posted };
}

it("carries bytes whole and in order, both ways, in chunks that a frame takes, and its end", async () => {
  const { near, far, posted } = pair();
  const sent = Array.from({ length: 20 }, (_, index) => Buffer.alloc(20_000 + index * 7000, index));
  for (const chunk of sent) near.write(chunk);
  near.end();
  const received: Buffer[] = [];
  for await (const chunk of far) received.push(chunk as Buffer);
  expect(Buffer.concat(received).equals(Buffer.concat(sent))).toBe(true);
  const texts = posted.flatMap((message) => (message.kind === "branch_bytes" ? [message.bytes] : []));
  expect(Math.max(...texts.map((text) => text.length))).toBeLessThanOrEqual(BRANCH_TEXT_MAX);
  expect(Math.max(...texts.map((text) => Buffer.from(text, "base64").length))).toBe(BRANCH_CHUNK_BYTES);
});

it("keeps what is not taken on the side of whoever sends", async () => {
  const { near, far, posted } = pair();
  far.pause();
  for (let index = 0; index < 100; index++) near.write(Buffer.alloc(16_384));
  for (let round = 0; round < 50; round++) await new Promise((resolve) => setImmediate(resolve));
  expect(posted.filter(({ kind }) => kind === "branch_bytes").length).toBeLessThan(10);
  expect(near.writableLength).toBeGreaterThan(80 * 16_384);
  far.resume();
  await once(near, "drain");
});

it("attack: whoever sends a second chunk before the first was taken loses the branch", async () => {
  const { far } = pair();
  far.pause();
  const bytes = Buffer.alloc(40_000).toString("base64");
  for (let index = 0; index < 8; index++) far.hear({ kind: "branch_bytes", branch: 1, bytes });
  await once(far, "close");
  expect(far.destroyed).toBe(true);
});

it("says once that it has ended", async () => {
  const { near, far, posted } = pair();
  near.destroy();
  far.resume();
  await once(far, "end");
  near.destroy();
  expect(posted).toEqual([{ kind: "branch_end", branch: 1 }]);
});
