/** Ways around the wall by bare system calls, sockets and races, each on the real kernel. */
import { execFileSync, spawn, spawnSync } from "node:child_process";
import {
  chmodSync,
  chownSync,
  closeSync,
  copyFileSync,
  mkdtempSync,
  openSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { type AddressInfo, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { buildProgram } from "./testing/build-program.ts";
import { oldProgram } from "./testing/old-program.ts";
import { IDENTITIES, type Workshop, openWorkshop, rules } from "./testing/sandbox-fixture.ts";

const EPERM = 1;
const EACCES = 13;
const EFAULT = 14;
const ENOSYS = 38;
const EPROTONOSUPPORT = 93;
const EAFNOSUPPORT = 97;
const EOPNOTSUPP = 95;
const EPROTOTYPE = 91;
const ENETUNREACH = 101;
const EISCONN = 106;
const ECONNREFUSED = 111;
const ROUNDS = 3000;

let programs: string;
let attack: string;

beforeAll(() => {
  programs = mkdtempSync(join(tmpdir(), "sp-attack-"));
  chmodSync(programs, 0o755);
  attack = buildProgram("attack-program.c", programs, ["-pthread"]);
});
afterAll(() => rmSync(programs, { recursive: true, force: true }));

describe.each(IDENTITIES)("as $name", (who) => {
  let shop: Workshop;
  beforeAll(async () => {
    shop = await openWorkshop(who);
  });
  afterAll(() => shop.close());

  const tried = async (args: readonly string[], allow = rules(attack, "execute")) => {
    const { stdout, stderr } = await shop.run(attack, args, { allow });
    expect(stderr).toBe("");
    return Object.fromEntries(
      stdout
        .trim()
        .split("\n")
        .map((line) => line.split(" "))
        .map(([name = "", result = ""]) => [name, /^\d+$/.test(result) ? Number(result) : result]),
    ) as Readonly<Record<string, number | string>>;
  };

  test("attack: system calls that skip the checks are refused or not there", async () => {
    const { io_uring, clone3, openat2, x32_open, open_tree, set_flags, ...refused } = await tried(["calls"]);
    expect({ io_uring, clone3, openat2 }).toEqual({ io_uring: ENOSYS, clone3: ENOSYS, openat2: ENOSYS });
    expect(x32_open).toBe(process.arch === "x64" ? ENOSYS : undefined);
    expect({ open_tree, set_flags }).toEqual({ open_tree: EPERM, set_flags: EPERM });
    expect(Object.keys(refused)).toHaveLength(21);
    expect(new Set(Object.values(refused))).toEqual(new Set([EPERM]));
  });

  test("attack: sockets of other families, with high bits set too; a pair of its own still works", async () => {
    expect(await tried(["sockets"])).toEqual({
      unix: EACCES,
      unix_high_bits: EACCES,
      vsock: EAFNOSUPPORT,
      packet: EAFNOSUPPORT,
      netlink: EAFNOSUPPORT,
      alg: EAFNOSUPPORT,
      mptcp: EPROTONOSUPPORT,
      raw: EPERM,
      pair: 0,
      tcp: 0,
    });
  });

  test("attack: a datagram of a pair of its own does not reach a service of the host", async () => {
    const service = join(shop.make("service"), "socket");
    const program = `import os, socket
service = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
service.bind("${service}")
os.chmod("${service}", 0o777)
print("ready", flush=True)
print(service.recv(16).decode(), flush=True)`;
    const host = spawn("python3", ["-c", program]);
    onTestFinished(() => void host.kill());
    let heard = "";
    host.stdout.on("data", (bytes: Buffer) => (heard += bytes.toString()));
    await expect.poll(() => heard).toBe("ready\n");
    expect(await tried(["datagrams", service])).toEqual({
      datagrams: EACCES,
      raw: EACCES,
      stream: EISCONN,
      packets: EPROTOTYPE,
    });
    execFileSync("python3", [
      "-c",
      `import socket; socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM).sendto(b"end", "${service}")`,
    ]);
    await expect.poll(() => heard).toBe("ready\nend\n");
  });

  test("attack: what changes a file or a tree by a descriptor that only reads is refused, whatever lies there", async () => {
    const place = shop.make("controls");
    const file = join(place, "file");
    writeFileSync(file, "kept");
    if (who.identity !== undefined) chownSync(file, who.identity.uid, who.identity.gid);
    // WHY create: without it the view is read-only there, and the kernel would refuse some by itself.
    const allow = [...rules(attack, "execute"), ...rules(`${place}/`, "read", "create")];
    const { opened, ...refused } = await tried(["file-controls", file], allow);
    expect(opened).toBe(0);
    expect(Object.entries(refused).filter(([, result]) => result !== EPERM)).toEqual([]);
    expect(Object.keys(refused)).toHaveLength(17);
  });

  test("attack: tcp, fast open and udp to the host and beyond find no way out", async () => {
    let reached = 0;
    const server = createServer(() => reached++);
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const { port } = server.address() as AddressInfo;
    expect(await tried(["ways-out", String(port)])).toEqual({
      connect: ECONNREFUSED,
      connect_far: ENETUNREACH,
      fast_open: ECONNREFUSED,
      udp_far: ENETUNREACH,
    });
    expect(reached).toBe(0);
    await new Promise((resolve) => server.close(resolve));
  });

  test("attack: the 32-bit entry of the kernel ends the program", async () => {
    // WHY there only: elsewhere a program of 64 bits has no way into it.
    if (process.arch === "x64") expect(await tried(["old-entry"])).toEqual({ int80: "killed" });
    const program = join(programs, "old-program");
    writeFileSync(program, oldProgram(process.arch));
    chmodSync(program, 0o755);
    const bare = spawnSync(program, { encoding: "utf8" });
    const { stdout, signal, code } = await shop.run(program, [], { allow: rules(program, "execute") });
    if (bare.error === undefined) {
      expect(bare.stdout).toBe("ran\n");
      expect({ stdout, signal, code }).toEqual({ stdout: "", signal: "SIGSYS", code: null });
    } else {
      // A kernel that starts no program of 32 bits.
      expect(bare.error).toMatchObject({ code: "ENOEXEC" });
      expect({ stdout, code }).toEqual({ stdout: "", code: 125 });
    }
  });

  test("attack: high bits of a number and tags of an address hide nothing", async () => {
    const place = shop.make("disguised");
    const [harmless, secret] = [join(place, "harmless"), join(shop.make("disguised-outside"), "secret")];
    for (const file of [harmless, secret]) writeFileSync(file, "text");
    const allow = [...rules(attack, "execute"), ...rules(`${place}/`, "read")];
    const isTagged = process.arch === "arm64";
    expect(await tried(["disguised", harmless, secret], allow)).toEqual({
      plain_harmless: 0,
      plain_secret: EACCES,
      high_bits_secret: EACCES,
      tagged_harmless: isTagged ? 0 : EFAULT,
      tagged_secret: isTagged ? EACCES : EFAULT,
    });
  });

  test("attack: a program made in memory has no path and is not started", async () => {
    expect(await tried(["memory-program", "/bin/true"])).toEqual({ memory_program: EACCES });
  });

  test("attack: a program that runs as its owner, a device and a nameless file cannot be left behind", async () => {
    const place = shop.make("set-user-id");
    const allow = [...rules(attack, "execute"), ...rules(`${place}/`, "read", "create", "modify", "delete")];
    const { stdout } = await shop.run(attack, ["set-user-id"], { allow, cwd: place });
    expect(stdout.trim().split("\n")).toEqual([
      `create_set_user_id ${EPERM}`,
      `fchmod_set_user_id ${EPERM}`,
      `chmod_set_user_id ${EPERM}`,
      `nameless_file ${EOPNOTSUPP}`,
      `mknod_device ${EPERM}`,
    ]);
  });

  test("attack: a program that runs as root and has every capability gains nothing by it, nor does who asks for one", async () => {
    const armed = join(programs, `armed-${who.name.replaceAll(" ", "-")}`);
    copyFileSync(attack, armed);
    chmodSync(armed, 0o755);
    // WHY only then: nobody but root can make such a program.
    if (process.getuid?.() === 0)
      expect(execFileSync(attack, ["arm", armed], { encoding: "utf8" })).toBe("chmod 0\ncapabilities 0\n");
    const allow = [...rules(attack, "execute"), ...rules(armed, "execute")];
    expect(await tried(["privileges", armed], allow)).toEqual({
      capset: EPERM,
      inheritable: EPERM,
      ambient: EPERM,
      keep: EPERM,
      bits: EPERM,
      locked: "yes",
      no_new_privileges: "yes",
      CapInh: "none",
      CapPrm: "none",
      CapEff: "none",
      CapAmb: "none",
      user: "own",
    });
  });

  test("attack: a plain rename that was approved as a creation replaces nothing that came meanwhile", async () => {
    const place = shop.make("rename");
    const [from, to] = [join(place, "from"), join(place, "to")];
    writeFileSync(from, "from");
    const { stdout } = await shop.run(attack, ["rename", from, to], {
      allow: rules(attack, "execute"),
      ruling: async () => {
        writeFileSync(to, "somebody else's");
        return "allow";
      },
    });
    expect(stdout).not.toBe("rename 0\n");
    expect(readFileSync(to, "utf8")).toBe("somebody else's");
  });

  test("attack: a path that is rewritten in memory while it is judged opens nothing that is not allowed", async () => {
    const place = shop.make("memory");
    const outside = shop.make("memory-outside");
    writeFileSync(join(place, "harmless"), "harmless");
    writeFileSync(join(outside, "s"), "secret");
    const allow = [...rules(attack, "execute"), ...rules(`${place}/`, "read")];
    const args = ["race-memory", join(place, "harmless"), join(outside, "s"), String(ROUNDS)];
    expect(await tried(args, allow)).toEqual({ won: 0 });
  });

  test("attack: a path that is rewritten while it is judged does not truncate what came as a stream", async () => {
    const [place, outside] = [shop.make("stream-memory"), shop.make("stream-memory-outside")];
    const [harmless, given] = [join(place, "harmless"), join(outside, "given")];
    for (const path of [harmless, given]) {
      writeFileSync(path, "kept");
      if (who.identity !== undefined) chownSync(path, who.identity.uid, who.identity.gid);
    }
    const stream = openSync(given, "r");
    const args = ["race-memory-truncate", harmless, "/proc/self/fd/0", String(ROUNDS)];
    const allow = [
      ...rules(attack, "execute"),
      ...rules(`${place}/`, "read", "modify"),
      ...rules(`${outside}/`, "read"),
    ];
    await shop.run(attack, args, { allow, stdio: [stream, "pipe", "pipe"] });
    closeSync(stream);
    expect([readFileSync(harmless, "utf8"), readFileSync(given, "utf8")]).toEqual(["", "kept"]);
  });

  test("attack: a link that is swapped while it is judged opens nothing that is not allowed", async () => {
    const place = shop.make("link");
    const outside = shop.make("link-outside");
    writeFileSync(join(place, "harmless"), "harmless");
    writeFileSync(join(outside, "s"), "secret");
    const allow = [...rules(attack, "execute"), ...rules(`${place}/`, "read", "create", "modify", "delete")];
    const args = [
      "race-link",
      join(place, "harmless"),
      join(outside, "s"),
      String(ROUNDS),
      join(place, "link"),
    ];
    expect(await tried(args, allow)).toEqual({ won: 0 });
  });

  test("attack: writing through a link that is swapped changes nothing outside", async () => {
    const place = shop.make("link-write");
    const outside = shop.make("link-write-outside");
    writeFileSync(join(place, "harmless"), "harmless");
    const secret = join(outside, "s");
    writeFileSync(secret, "secret");
    if (who.identity !== undefined) chmodSync(secret, 0o666);
    chmodSync(join(place, "harmless"), 0o666);
    // WHY create and delete without modify of the link: then every write is done on behalf.
    const allow = [...rules(attack, "execute"), ...rules(`${place}/`, "create", "delete", "modify")];
    const args = ["race-link-write", join(place, "harmless"), secret, String(ROUNDS), join(place, "link")];
    await tried(args, allow);
    expect(readFileSync(secret, "utf8")).toBe("secret");
  });
});
