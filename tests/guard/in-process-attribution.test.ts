/** 100 000 operations of 50 subjects at once in one process: each is decided for and recorded as the one that made it. */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, expect, it } from "vitest";
import { adminCaller, entry } from "../../packages/sallyport/src/testing/sallyport-fixture.ts";
import { worldOfFile } from "./world-of-file.ts";
import { type TenantWorld, hostedOutcomes, openTenants, tenant } from "./in-process-world.ts";

const SUBJECTS = 50;
const LANES = 20;
const STEPS = 100;
const OPERATIONS = SUBJECTS * LANES * STEPS;
const NAMES = Array.from({ length: SUBJECTS }, (_, index) => `s${index}`);

let world: TenantWorld;
let url: string;
/** WHY no end of idle connections: on a busy machine a client may take one up again in the moment in which it ends. */
const server = createServer({ keepAliveTimeout: 0 }, (request, response) => response.end(request.url));
worldOfFile(async (preload) => {
  await new Promise<void>((resolve) => {
    server.listen(0, "127.0.0.1", resolve);
  });
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  world = await openTenants(preload, NAMES, (name) => [entry("network", "receive", `${url}/${name}/`)]);
  return world;
});
afterAll(() => void server.close());

/**
 * Lanes of all subjects wait in one line and are called by whoever is done, share one agent, one pool of `fetch` and one
 * emitter. Every operation is declared for its own subject alone; every hundredth aims at the next subject and must fail.
 */
const PROGRAM = `
import { EventEmitter } from "node:events";
const names = Object.keys(at.of);
const agent = new http.Agent({ keepAlive: true, maxSockets: 8 });
const line = [];
const bell = new EventEmitter().setMaxListeners(0);
const turn = () => new Promise((resolve) => line.push(resolve));
const ring = () => new Promise((resolve) => bell.once("ring", resolve));
const get = (path) => new Promise((done, failed) => {
  http.get(at.url + path, { agent }, (response) => {
    let text = "";
    response.on("data", (chunk) => (text += chunk)).on("end", () => done(text));
  }).on("error", failed);
});
/** WHY: a client that opens hundreds of connections at once gives up those that take too long on a busy machine. */
let places = 64;
const waiting = [];
const placed = async (work) => {
  if (places === 0) await new Promise((resolve) => waiting.push(resolve));
  else places--;
  try {
    return await work();
  } finally {
    if (waiting.length === 0) places++;
    else waiting.shift()();
  }
};
const streamed = async (path) => { let text = ""; for await (const chunk of fs.createReadStream(path)) text += chunk; return text; };
const called = (path) => new Promise((done, failed) => fs.readFile(path, "utf8", (error, text) => (error ? failed(error) : done(text))));
const OWN = [
  (name) => fs.promises.readFile(at.of[name] + "/a.txt", "utf8").then((text) => text === name + " a"),
  (name) => fs.promises.stat(at.of[name] + "/a.txt").then((stats) => stats.isFile()),
  (name) => fs.statSync(at.of[name]).isDirectory(),
  (name) => called(at.of[name] + "/a.txt").then((text) => text === name + " a"),
  (name) => fs.existsSync(at.of[name] + "/a.txt"),
  (name) => fs.readFileSync(at.of[name] + "/a.txt", "utf8") === name + " a",
  (name) => fs.promises.access(at.of[name] + "/a.txt").then(() => true),
  (name) => fs.promises.readdir(at.of[name]).then((list) => list.includes("a.txt")),
];
const RARE = {
  7: (name) => get("/" + name + "/x").then((text) => text === "/" + name + "/x"),
  23: (name) => placed(() => fetch(at.url + "/" + name + "/y").then((response) => response.text())).then((text) => text === "/" + name + "/y"),
  41: (name, lane) => fs.promises.writeFile(at.of[name] + "/w" + lane, name).then(() => true),
  67: (name) => streamed(at.of[name] + "/a.txt").then((text) => text === name + " a"),
};
const CROSS = 89;
const counted = { done: 0, wrong: 0, crossed: 0, leaked: 0, said: [] };
const wrong = (what) => { counted.wrong++; if (counted.said.length < 5) counted.said.push(what); };
const step = async (name, lane, index) => {
  if (index === CROSS) {
    const next = names[(names.indexOf(name) + 1) % names.length];
    await fs.promises.readFile(at.of[next] + "/a.txt").then(
      () => counted.leaked++,
      (error) => (error.check === undefined ? wrong(String(error)) : counted.crossed++),
    );
    return;
  }
  const work = RARE[index] ?? OWN[(index * 7 + lane) % OWN.length];
  try {
    if ((await work(name, lane)) !== true) wrong(name + " " + index + ": another answer");
  } catch (error) {
    wrong([name, index, error.message, error.cause?.code ?? error.cause?.message ?? ""].join(" "));
  }
};
const WAITS = [
  () => undefined,
  () => new Promise((resolve) => setImmediate(resolve)),
  turn,
  () => new Promise((resolve) => setTimeout(resolve, 1)),
  ring,
  () => new Promise((resolve) => process.nextTick(resolve)),
];
let open = 0;
const lanes = names.flatMap((name) => Array.from({ length: at.lanes }, (_, lane) => as(name, async () => {
  open++;
  for (let index = 0; index < at.steps; index++) {
    const waited = WAITS[(lane + index) % WAITS.length]();
    line.shift()?.();
    if (index % 3 === 0) bell.emit("ring");
    await waited;
    await step(name, lane, index);
    counted.done++;
  }
  open--;
})));
const pump = () => { line.shift()?.(); bell.emit("ring"); if (open > 0) setImmediate(pump); };
setImmediate(pump);
await Promise.all(lanes);
agent.destroy();
Object.assign(results, counted);
`;

it("100 000 mixed operations of 50 subjects: none is decided for or recorded as another one's", async () => {
  const told = { url, lanes: LANES, steps: STEPS };
  const found = await hostedOutcomes(world, NAMES, "", { before: PROGRAM, told, isAlone: true });
  const crossed = SUBJECTS * LANES;
  expect(found).toEqual({ done: OPERATIONS, wrong: 0, crossed, leaked: 0, said: [] });

  const wrong: unknown[] = [];
  const seen = new Map<string, number>();
  for (const { text } of await world.fixture.events()) {
    const { data } = JSON.parse(text) as Recorded;
    const name = data.subject_chain?.at(-1)?.subject.name ?? "";
    const index = NAMES.findIndex((one) => tenant(one).name === name);
    if (index < 0 || data.resource === undefined) continue;
    const { target } = data.resource;
    const allowed = data.permission_decision?.decision === "allowed";
    const owner = allowed ? index : (index + 1) % SUBJECTS;
    const own = [world.folderOf(`s${owner}`), `${url}/s${owner}`];
    // What was allowed is the subject's own; what was blocked is that of the next one.
    if (!own.some((one) => target === one || target.startsWith(`${one}/`)))
      wrong.push({ name, target, allowed });
    seen.set(name, (seen.get(name) ?? 0) + (data.count ?? 1));
  }
  expect(wrong).toEqual([]);
  expect(seen.size).toBe(SUBJECTS);

  const { rows } = await world.fixture.service.list.requests(adminCaller());
  const asked = rows.filter(({ status }) => status === "pending");
  expect(asked.length).toBe(SUBJECTS);
  for (const { subject, resource } of asked) {
    const index = NAMES.findIndex((one) => tenant(one).name === subject.name);
    expect(resource.target).toBe(`${world.folderOf(`s${(index + 1) % SUBJECTS}`)}/a.txt`);
  }
});

interface Recorded {
  readonly data: {
    readonly subject_chain?: readonly { readonly subject: { readonly name: string } }[];
    readonly resource?: { readonly target: string };
    readonly permission_decision?: { readonly decision: string };
    readonly count?: number;
  };
}
