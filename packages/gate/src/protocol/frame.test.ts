import { Buffer } from "node:buffer";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { FrameDecoder, encodeFrame } from "./frame.ts";
import { GateFault } from "./gate-fault.ts";

const MAX = 64 * 1024;
const decodeAll = (decoder: FrameDecoder, ...chunks: readonly Uint8Array[]): string[] =>
  chunks.flatMap((chunk) => [...decoder.push(chunk)]);

const code = (run: () => unknown): string | undefined => {
  try {
    run();
    return undefined;
  } catch (error) {
    return error instanceof GateFault ? error.code : `not a gate fault: ${String(error)}`;
  }
};

describe("a decoder", () => {
  it("gives back what was encoded, however the bytes are cut", () => {
    const texts = ["{}", "ünïcödé 😀", "x".repeat(5000), "\ufeffbom"];
    const bytes = Buffer.concat(texts.map((text) => encodeFrame(text, MAX)));
    for (const size of [1, 2, 3, 5, 7, 4095, 4096, 4097, bytes.length]) {
      const decoder = new FrameDecoder(MAX);
      const chunks = [];
      for (let at = 0; at < bytes.length; at += size) chunks.push(bytes.subarray(at, at + size));
      expect(decodeAll(decoder, ...chunks)).toEqual(texts);
      expect(decoder.isInside).toBe(false);
      expect(decoder.heldBytes).toBe(0);
    }
  });

  it("gives back any text, cut anywhere", () => {
    const frames = fc.array(fc.string({ minLength: 1, unit: "grapheme" }), { maxLength: 5 });
    fc.assert(
      fc.property(frames, fc.nat(), (texts, cut) => {
        const bytes = Buffer.concat(texts.map((text) => encodeFrame(text, MAX)));
        const at = bytes.length === 0 ? 0 : cut % bytes.length;
        const decoder = new FrameDecoder(MAX);
        expect(decodeAll(decoder, bytes.subarray(0, at), bytes.subarray(at))).toEqual(texts);
      }),
    );
  });

  it("attack: a length that is only claimed makes it hold nothing", () => {
    const decoder = new FrameDecoder(MAX);
    const header = Buffer.alloc(4);
    header.writeUInt32BE(MAX);
    decodeAll(decoder, header);
    expect(decoder).toMatchObject({ isInside: true, heldBytes: 0 });
    decodeAll(decoder, Buffer.alloc(1));
    expect(decoder.heldBytes).toBeLessThanOrEqual(4096);
  });

  it("attack: one byte at a time makes it hold one frame at most", () => {
    const decoder = new FrameDecoder(MAX);
    const frame = encodeFrame("a".repeat(MAX), MAX);
    let most = 0;
    for (let at = 0; at < frame.length - 1; at++) {
      decodeAll(decoder, frame.subarray(at, at + 1));
      most = Math.max(most, decoder.heldBytes);
    }
    expect(most).toBe(MAX);
  });

  it("attack: a frame that is too long is refused by its header alone", () => {
    const header = Buffer.alloc(4);
    header.writeUInt32BE(MAX + 1);
    expect(code(() => decodeAll(new FrameDecoder(MAX), header))).toBe("oversized_frame");
    expect(code(() => encodeFrame("a".repeat(MAX + 1), MAX))).toBe("oversized_frame");
  });

  it("attack: an empty frame and bytes that are no text are refused", () => {
    expect(code(() => decodeAll(new FrameDecoder(MAX), Buffer.alloc(4)))).toBe("malformed_frame");
    for (const bytes of [[0xff], [0xc3], [0xed, 0xa0, 0x80], [0xc0, 0x80]]) {
      const frame = Buffer.from([0, 0, 0, bytes.length, ...bytes]);
      expect(code(() => decodeAll(new FrameDecoder(MAX), frame))).toBe("malformed_frame");
    }
  });

  it("attack: random bytes end in text or in a gate fault, and hold no more than came", () => {
    fc.assert(
      fc.property(fc.array(fc.uint8Array({ maxLength: 300 }), { maxLength: 10 }), (chunks) => {
        const decoder = new FrameDecoder(512);
        const fault = code(() => {
          for (const chunk of chunks) decodeAll(decoder, chunk);
        });
        expect([undefined, "malformed_frame", "oversized_frame"]).toContain(fault);
        expect(decoder.heldBytes).toBeLessThanOrEqual(512);
      }),
      { numRuns: 2000 },
    );
  });
});
