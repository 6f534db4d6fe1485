/**
 * What the private realm keys its tables with, so that nobody outside can tell where an entry stands. From the kernel itself:
 * loading `crypto` for two numbers would take longer than opening the realm.
 */
import fs from "node:fs";
import process from "node:process";

const SOURCE = "/dev/urandom";
const WORDS = 2;

/** For the time before foreign code runs. */
export function randomSeed(): [number, number] {
  const bytes = fromKernel() ?? process.getBuiltinModule("crypto").randomBytes(WORDS * 4);
  return [bytes.readUInt32LE(0), bytes.readUInt32LE(4)];
}

/** `undefined` where there is no such device, or it is something else. */
function fromKernel(): Buffer | undefined {
  const bytes = Buffer.alloc(WORDS * 4);
  let fd: number | undefined;
  try {
    fd = fs.openSync(SOURCE, "r");
    const isDevice = fs.fstatSync(fd).isCharacterDevice();
    return isDevice && fs.readSync(fd, bytes) === bytes.length ? bytes : undefined;
  } catch {
    return undefined;
  } finally {
    if (fd !== undefined) fs.closeSync(fd);
  }
}
