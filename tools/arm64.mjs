// @ts-check
/**
 * Purpose: `npm run test:arm64 [-- ARGS]`: the tests of the sandbox on an arm64 kernel, in a machine that qemu emulates: Debian,
 * this clone, this version of Node. ARGS go to vitest. Long by nature, and never part of CI. Needs a few Debian packages, and
 * says which; root it needs not. All of it is kept in the cache folder.
 */
import { existsSync, mkdirSync, readFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import { obtainTree } from "./arm64/debian-tree.mjs";
import { makeImage } from "./arm64/guest-image.mjs";
import { build } from "./build.mjs";
import { duration, heading } from "./paint.mjs";
import { cacheFolder, run } from "./setup.mjs";
import { close } from "./tally.mjs";
import { count } from "./vitest.mjs";

/** Programs, and the Debian package of each. */
const NEEDED = Object.freeze({
  "qemu-system-aarch64": "qemu-system-arm",
  "apt-get": "apt",
  "dpkg-deb": "dpkg",
  depmod: "kmod",
  cpio: "cpio",
  "mkfs.ext4": "e2fsprogs",
  unshare: "util-linux",
});
/** WHY so long: an emulated processor is twenty times slower. */
const TEST_MS = 3_000_000;

/** @param {string} program */
function isHere(program) {
  const folders = [...(process.env["PATH"] ?? "").split(delimiter), "/usr/sbin", "/sbin"];
  return folders.some((folder) => existsSync(join(folder, program)));
}

/** WHY this processor: it is a plain one, which is emulated fast, and it runs programs of 32 bits too. */
const MACHINE = "-machine virt -cpu cortex-a72 -smp 2 -m 4096 -nic none -no-reboot".split(" ");
const TERMINAL = "-display none -monitor none -serial stdio".split(" ");

/** @param {string} file */
const drive = (file) => ["-drive", `file=${file},format=raw,if=virtio,cache=unsafe`];

/** @param {{ kernel: string, first: string, disk: string, report: string }} image */
function machine({ kernel, first, disk, report }) {
  const booted = ["-kernel", kernel, "-initrd", first, "-append", "console=ttyAMA0 quiet panic=-1"];
  return [...MACHINE, ...TERMINAL, ...booted, ...drive(disk), ...drive(report)];
}

/** @param {string} file @returns {{ code: number, report: import("./vitest.mjs").Report | undefined }} */
function readReport(file) {
  const bytes = readFileSync(file);
  const text = bytes.subarray(0, bytes.indexOf(0)).toString("utf8");
  const [line = "", ...rest] = text.split("\n");
  return {
    code: line === "" ? 1 : Number(line),
    report: rest.join("").startsWith("{") ? JSON.parse(rest.join("\n")) : undefined,
  };
}

/** @param {readonly string[]} args @returns {Promise<import("./tally.mjs").Tally>} */
async function testOnArm64(args) {
  const missing = Object.entries(NEEDED).filter(([program]) => !isHere(program));
  if (missing.length > 0) {
    console.error(
      `\`${missing.map(([program]) => program).join("`, `")}\` not here: as root run \`apt-get install ${missing.map(([, name]) => name).join(" ")}\``,
    );
    return { passed: 0, failed: 1 };
  }
  if ((await build()) !== 0) return { passed: 0, failed: 1 };
  const folder = join(cacheFolder(), "arm64");
  mkdirSync(folder, { recursive: true });
  heading("a Debian for arm64");
  const debian = await obtainTree(folder);
  heading("its disk");
  const chosen = args.length > 0 ? args : ["--project=sandbox"];
  const image = await makeImage({
    ...debian,
    folder,
    args: [`--testTimeout=${TEST_MS}`, `--hookTimeout=${TEST_MS}`, ...chosen],
  });
  heading(`tests on Linux ${debian.kernel}`);
  const started = performance.now();
  await run("qemu-system-aarch64", machine(image));
  console.error(`the machine ran for ${duration(performance.now() - started)}`);
  const { code, report } = readReport(image.report);
  return count(code, report, args.length > 0);
}

close(await testOnArm64(process.argv.slice(2)));
