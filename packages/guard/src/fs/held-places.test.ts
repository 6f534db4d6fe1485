import fs, { type Stats } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeEach, describe, expect, it } from "vitest";
import { isRealAt, statsAt } from "./held-places.ts";

const folder = fs.realpathSync(fs.mkdtempSync(join(tmpdir(), "sallyport-held-")));
afterAll(() => fs.rmSync(folder, { recursive: true }));

const file = join(folder, "open", "a.txt");
const closed = join(folder, "closed");
const look = (path: string): Stats | undefined => fs.statSync(path, { throwIfNoEntry: false });

beforeEach(() => {
  fs.rmSync(join(folder, "open"), { recursive: true, force: true });
  fs.rmSync(closed, { recursive: true, force: true });
  for (const path of [join(folder, "open"), closed]) fs.mkdirSync(path);
  fs.writeFileSync(file, "open");
  fs.writeFileSync(join(closed, "a.txt"), "a closed file");
});

it("says of a file what the kernel says, also of one that took its place", () => {
  expect(statsAt(file, look)?.size).toBe(4);
  fs.writeFileSync(`${file}.new`, "longer");
  fs.renameSync(`${file}.new`, file);
  expect(statsAt(file, look)?.size).toBe(6);
});

it("tells that a file is there, that another one took its place, and that there is none", () => {
  expect(isRealAt(file)).toBe(true);
  fs.writeFileSync(`${file}.new`, "longer");
  fs.renameSync(`${file}.new`, file);
  expect(isRealAt(file)).toBe(true);
  fs.rmSync(file);
  expect(isRealAt(file)).toBe(false);
  expect(isRealAt(join(folder, "open"))).toBe(true);
});

describe("attack: the place is swapped within the moment that a look counts", () => {
  it("a link in place of the file does not tell that something is where it leads", () => {
    expect(isRealAt(file)).toBe(true);
    fs.rmSync(file);
    fs.symlinkSync(join(closed, "a.txt"), file);
    expect(isRealAt(file)).toBe(false);
  });

  it("a link in place of a folder above it does not tell what is behind it", () => {
    expect(isRealAt(file)).toBe(true);
    fs.rmSync(join(folder, "open"), { recursive: true, force: true });
    fs.symlinkSync(closed, join(folder, "open"));
    expect(isRealAt(file)).toBe(false);
  });
});

describe("attack: the place is swapped in the moment of the look", () => {
  it("a link in place of the file tells nothing of where it leads", () => {
    statsAt(file, look);
    const swapped = statsAt(file, (path) => {
      fs.rmSync(file);
      fs.symlinkSync(join(closed, "a.txt"), file);
      return look(path);
    });
    expect(swapped).toBeUndefined();
  });

  it("a link in place of a folder above it tells nothing of what is behind it", () => {
    statsAt(file, look);
    const swapped = statsAt(file, (path) => {
      fs.rmSync(join(folder, "open"), { recursive: true, force: true });
      fs.symlinkSync(closed, join(folder, "open"));
      return look(path);
    });
    expect(swapped).toBeUndefined();
  });

  it.each(["dev", "ino"])(
    "a setter for `%s`, which could give one file the numbers of another, is seen",
    (key) => {
      statsAt(file, look);
      const get = (): number => 1;
      const set = (): void => {};
      // oxlint-disable-next-line no-extend-native -- the attack is the point
      Object.defineProperty(Object.prototype, key, { configurable: true, get, set });
      try {
        expect(statsAt(file, look)).toBeUndefined();
      } finally {
        Reflect.deleteProperty(Object.prototype, key);
      }
    },
  );
});
