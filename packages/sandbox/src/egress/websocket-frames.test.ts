/** Frames of a program: data is told by its first byte, however the bytes are cut. */
import { expect, test } from "vitest";
import { frame } from "../testing/websocket-server.ts";
import { FrameWatch } from "./websocket-frames.ts";

const PING = frame(0x9, "still here");
const TEXT = frame(0x1, "secret");

function watched(bytes: Buffer, step: number): readonly string[] {
  const frames = new FrameWatch();
  const found: string[] = [];
  for (let at = 0; at < bytes.length; at += step) found.push(frames.take(bytes.subarray(at, at + step)));
  return found;
}

test("control frames are no data, cut anywhere", () => {
  for (let step = 1; step <= PING.length * 2; step++)
    expect(new Set(watched(Buffer.concat([PING, PING]), step))).toEqual(new Set(["control"]));
});

test("attack: data behind a control frame, in one piece or byte by byte, is told before any of it passes", () => {
  const both = Buffer.concat([PING, TEXT]);
  expect(watched(both, both.length)).toEqual(["data"]);
  const single = watched(both, 1);
  expect(single.indexOf("data")).toBe(PING.length);
});

test("attack: a continuation, a fragment and a long frame are data too", () => {
  for (const first of [0x00, 0x80, 0x01, 0x02, 0x82])
    expect(watched(Buffer.from([first]), 1)).toEqual(["data"]);
});

test("attack: reserved kinds, unmasked frames and long control frames are broken", () => {
  for (const bytes of [[0x83], [0x8b], [0x89, 0x01], [0x89, 0xfe], [0x89, 0xff]])
    expect(watched(Buffer.from(bytes), bytes.length)).toEqual(["broken"]);
});
