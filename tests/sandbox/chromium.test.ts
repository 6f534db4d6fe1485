/**
 * A browser without a window behind the wall and the gateway: it reads a page of a local server and runs its script. Its own
 * sandbox needs namespaces, which no confined program may make, so it is started without; ours stands around it.
 */
import { once } from "node:events";
import { cpSync } from "node:fs";
import { type IncomingMessage, type Server, type ServerResponse, createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { dirname, join } from "node:path";
import { text } from "node:stream/consumers";
import { afterAll, beforeAll, expect, test } from "vitest";
import {
  type EgressWorkshop,
  NO_PROXIES,
  READS,
  TestDecider,
  openEgressWorkshop,
} from "../../packages/sandbox/src/testing/egress-fixture.ts";
import { rules } from "../../packages/sandbox/src/testing/sandbox-fixture.ts";
import { obtainChromium } from "../../tools/browser.mjs";

const LONG = 300_000;
/** Without a sandbox of its own. */
const BARE = ["--no-sandbox", "--no-zygote"];
const PAGE = `<!doctype html><title>seen</title><p id="p">six</p>
<script>fetch("/ran/" + document.title + "/" + document.getElementById("p").textContent + "/" + 6 * 7)</script>`;

let workshop: EgressWorkshop;
let server: Server;
let program: string;
let round = 0;
const seen: string[] = [];

beforeAll(async () => {
  // WHY before the workshop: that has a cache of its own, and everybody's browser is in the usual one.
  const { program: source } = await obtainChromium();
  workshop = await openEgressWorkshop();
  program = join(workshop.make("chromium"), "chromium");
  cpSync(dirname(source), dirname(program), { recursive: true });
  server = createServer((request: IncomingMessage, response: ServerResponse) => {
    seen.push(request.url ?? "");
    response.setHeader("content-type", "text/html").end(request.url === "/page" ? PAGE : "");
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
}, LONG);
afterAll(() => {
  server.close();
  server.closeAllConnections();
  workshop.close();
});

/** The manifest that fits: its own folder to be read and started, a folder for its profile, and what it looks at of the machine. */
function browse(decider: TestDecider, ...flags: readonly string[]) {
  const folder = dirname(program);
  const own = workshop.make(`profile-${round++}`);
  const { port } = server.address() as AddressInfo;
  const usual = ["--headless", "--disable-gpu", "--disable-dev-shm-usage", `--user-data-dir=${own}/profile`];
  const words = [...usual, ...flags, `http://page.test:${port}/page`];
  const script = `LD_LIBRARY_PATH=${folder}/lib exec ${program} ${words.join(" ")}`;
  return workshop.start("/bin/sh", ["-c", script], {
    egress: workshop.egress(decider),
    rules: { network: "gateway" },
    allow: [
      ...READS,
      ...rules(`${folder}/`, "read", "execute"),
      ...rules(`${own}/`, "read", "create", "modify", "delete"),
      ...["/sys/", "/proc/", "/var/cache/fontconfig/"].flatMap((target) => rules(target, "read")),
    ],
    env: { ...NO_PROXIES, HOME: own, TMPDIR: own },
  });
}

test(
  "chromium is refused the page, and nothing reaches the server",
  async () => {
    const decider = new TestDecider();
    const asked = new Promise<string>((resolve) => {
      decider.answer = ({ operation, target }) => {
        resolve(`${operation} ${target}`);
        return Promise.resolve(false);
      };
    });
    const { child } = browse(decider, ...BARE);
    child.stdout?.resume();
    child.stderr?.resume();
    const { port } = server.address() as AddressInfo;
    expect(await asked).toBe(`receive http://page.test:${port}/page`);
    await expect.poll(() => decider.violations.length, { timeout: LONG }).toBeGreaterThan(0);
    expect(seen).toEqual([]);
    child.kill("SIGKILL");
    await once(child, "exit");
  },
  LONG,
);

test(
  "chromium is asked about the page and about what its script fetches, waits, is approved, and goes on",
  async () => {
    const decider = new TestDecider();
    const waited: string[] = [];
    decider.answer = async ({ target }) => {
      waited.push(new URL(target).pathname);
      expect(seen).not.toContain(waited.at(-1));
      return true;
    };
    const { child, gateway } = browse(decider, ...BARE);
    child.stdout?.resume();
    child.stderr?.resume();
    await expect.poll(() => seen, { timeout: LONG }).toContain("/ran/seen/six/42");
    expect(waited).toEqual(expect.arrayContaining(["/page", "/ran/seen/six/42"]));
    child.kill("SIGKILL");
    await once(child, "exit");
    expect(gateway?.openCount).toBe(0);
  },
  LONG,
);

test(
  "chromium's own sandbox cannot be made inside ours, and it says so itself",
  async () => {
    const { child } = browse(new TestDecider());
    child.stdout?.resume();
    const [said, [code, signal]] = await Promise.all([text(child.stderr!), once(child, "close")]);
    expect(said).toContain("No usable sandbox!");
    expect({ code, signal }).not.toEqual({ code: 0, signal: null });
  },
  LONG,
);
