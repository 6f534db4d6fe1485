// @ts-check
/**
 * Purpose: what the way out costs: requests of one program to a server on this machine, bare and confined, taking turns. The
 * gateway stands in a process of its own and asks a real service over a real gate, as `sallyport run` does.
 */
import { fork } from "node:child_process";
import { fileURLToPath } from "node:url";
import { createSallyport } from "sallyport";
import { join } from "node:path";
import { driven } from "../../guard/world.mjs";
import { workFolder } from "../confined.mjs";

/**
 * @typedef {{ p50Us: number, cpuUs: number }} Requests of the program: one request, the best round
 * @typedef {{ bare: Requests, confined: Requests & { gatewayCpuUs: number } }} Compared
 * @typedef {Record<CaseName, Compared>} Egress
 * @typedef {keyof typeof CASES} CaseName
 * @typedef {keyof import("./egress/server.mjs").Ports} PortName
 * @typedef {{ way: "http" | "bytes" | "echo", isNew: boolean, port: PortName, isSecure: boolean }} Case
 */

/** Which port it is decides what is allowed there: see `DECLARED`. */
const CASES = Object.freeze({
  keepAliveReceive: { way: "http", isNew: false, port: "receive", isSecure: false },
  keepAliveConnect: { way: "http", isNew: false, port: "connect", isSecure: false },
  keepAliveTlsPassed: { way: "http", isNew: false, port: "tlsConnect", isSecure: true },
  keepAliveTlsEnded: { way: "http", isNew: false, port: "tlsReceive", isSecure: true },
  keepAliveBytes: { way: "echo", isNew: false, port: "echo", isSecure: false },
  keepAliveBytesReceive: { way: "bytes", isNew: false, port: "receive", isSecure: false },
  newReceive: { way: "http", isNew: true, port: "receive", isSecure: false },
  newConnect: { way: "http", isNew: true, port: "connect", isSecure: false },
  newTlsPassed: { way: "http", isNew: true, port: "tlsConnect", isSecure: true },
  newTlsEnded: { way: "http", isNew: true, port: "tlsReceive", isSecure: true },
  newBytes: { way: "echo", isNew: true, port: "echo", isSecure: false },
});

const SUBJECT = /** @type {const} */ ({ type: "module", name: "bench" });
const CALLER = Object.freeze({ user: { id: 21, roles: ["member"] }, organizationId: 7, sessionKey: "s" });
const PROGRAMS = fileURLToPath(new URL("./egress/", import.meta.url));

/** @param {import("./egress/server.mjs").Ports} ports */
const declared = (ports) =>
  /** @type {const} */ ([
    ["receive", `http://127.0.0.1:${ports.receive}`],
    ["connect", `127.0.0.1:${ports.connect}`],
    ["connect", `127.0.0.1:${ports.tlsConnect}`],
    ["receive", `https://127.0.0.1:${ports.tlsReceive}`],
    ["connect", `127.0.0.1:${ports.echo}`],
  ]).map(([operation, target]) => ({ resource_type: "network", operation, target }));

/**
 * Put before a command: where its processes run. WHY also on one processor: waking another one that sleeps takes longer on some
 * virtual machines than a request does, and whether that happens is the kernel's choice, for the direct way and for ours.
 */
const PLACES = Object.freeze([[], ["taskset", "-c", "0"]]);

/** @param {{ rounds: number, times: number, newTimes: number }} options @returns {Promise<Egress>} */
export async function run({ rounds, times, newTimes }) {
  const halves = [];
  for (const place of PLACES)
    halves.push(await measured(place, { rounds: Math.ceil(rounds / PLACES.length), times, newTimes }));
  return /** @type {Egress} */ (least(halves));
}

/** The smaller number of each. @param {readonly unknown[]} findings @returns {unknown} */
function least(findings) {
  const [first] = findings;
  if (typeof first === "number") return Math.min(.../** @type {readonly number[]} */ (findings));
  const objects = /** @type {readonly Record<string, unknown>[]} */ (findings);
  return Object.fromEntries(
    Object.keys(Object(first)).map((name) => [name, least(objects.map((one) => one[name]))]),
  );
}

/** @param {readonly string[]} place @param {{ rounds: number, times: number, newTimes: number }} options */
async function measured(place, { rounds, times, newTimes }) {
  const [program, ...words] = [...place, process.execPath];
  const server = fork(join(PROGRAMS, "server.mjs"), {
    execPath: program,
    execArgv: words,
    stdio: ["ignore", 2, 2, "ipc"],
  });
  const { ports, authority } = await new Promise((resolve) => server.once("message", resolve));
  const host = await createSallyport({ dataFolder: join(workFolder(), "data") });
  const access = declared(ports);
  const answer = host.registry.registerModule({ name: SUBJECT.name, root: PROGRAMS, manifest: { access } });
  if (!answer.ok) throw new Error(answer.message);
  const gateway = driven(
    host.runtime.run(SUBJECT, CALLER, () =>
      host.runtime.spawn(program, [...words, join(PROGRAMS, "gateway.mjs")], {
        stdio: ["pipe", "pipe", "inherit"],
      }),
    ),
  );
  try {
    const cases = Object.entries(CASES).map(([name, { port, ...one }]) => ({
      ...one,
      name,
      port: ports[port],
      times: one.isNew ? newTimes : times,
    }));
    return await gateway.ask({ access, authority, rounds, cases });
  } finally {
    await gateway.end();
    server.disconnect();
    await host.close();
  }
}
