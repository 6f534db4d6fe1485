// @ts-check
/**
 * Purpose: `npm run screenshots`: the main pages of the console, as they are now, into docs/screenshots. Everything in them
 * is real: the built console, a server, a service on a store of its own, and subjects that ask.
 */
import { mkdirSync, mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { launchBrowser } from "./browser.mjs";
import { buildConsole } from "./build-console.mjs";
import { build } from "./build.mjs";
import { dim, heading } from "./paint.mjs";
import { root } from "./setup.mjs";

const PORT = 7412;
const AGENT = /** @type {const} */ ({ type: "agent", name: "reports.analyst" });
const TOOL = /** @type {const} */ ({ type: "tool", name: "reports.read_file" });
const ENGINE = /** @type {const} */ ({ type: "tool", name: "reports.fetch" });
/** Who decides what is shown as decided. */
const PERSON = Object.freeze({
  frames: [],
  user: { id: "ada", roles: ["super"], accessLevel: null },
  organizationId: null,
  sessionKey: null,
  taskId: null,
  interactive: true,
  mode: null,
  modeExpiresAtMs: null,
  observe: false,
  confined: false,
  sandboxProfile: null,
  credential: /** @type {const} */ ("host"),
});
const WIDE = { width: 1360, height: 860 };
const PHONE = { width: 390, height: 780 };

/** @typedef {import("sallyport").Sallyport} Sallyport */
/** @typedef {{ type: string, operation: string, target: string, session?: string | undefined, tool?: typeof TOOL | typeof ENGINE, action?: string }} Wish */

/** @type {readonly Wish[]} */
const PENDING = [
  { type: "system_dependency", operation: "execute", target: "ffmpeg" },
  { type: "network", operation: "connect", target: "db.internal.example.com:5432", tool: ENGINE },
  { type: "filesystem", operation: "modify", target: "/srv/reports/2026/invoice\u202efdp.exe" },
  { type: "network", operation: "send", target: "https://p\u0430ypal.com/checkout", tool: ENGINE },
  { type: "filesystem", operation: "read", target: "/srv/customers/north.csv" },
  { type: "filesystem", operation: "read", target: "/srv/customers/south.csv" },
  {
    type: "network",
    operation: "receive",
    target: "https://models.example.com/large/weights.bin?v=3",
    tool: ENGINE,
  },
  { type: "filesystem", operation: "delete", target: "/srv/reports/2026/q3/summary.pdf" },
  {
    type: "filesystem",
    operation: "read",
    target: "/srv/imports/customer.csv",
    action: "reports.resume_import",
  },
];

/** @param {Sallyport} sallyport @param {Wish} wish @returns {Promise<string>} */
async function ask({ runtime, sdk }, { type, operation, target, tool = TOOL, action }) {
  const user = {
    user: { id: 21 },
    organizationId: 7,
    sessionKey: "sess-21",
    taskId: "monthly-report",
    interactive: true,
  };
  const access = /** @type {any} */ ({ resourceType: type, operation, target });
  const check = await runtime.run(AGENT, user, () =>
    runtime.run(tool, {}, () =>
      action === undefined
        ? sdk.access.checkExternalAccess(access)
        : sdk.access.requireExternalAccess({ ...access, resumeAction: action, resumeContext: { row: 1 } }),
    ),
  );
  return check.requestId ?? "";
}

/** @param {Sallyport} sallyport @param {string} folder */
async function furnish(sallyport, folder) {
  const { registry, runtime, service } = sallyport;
  const access = [{ resource_type: "filesystem", operation: "read", target: "templates/" }];
  mkdirSync(join(folder, "reports"));
  registry.registerModule({ root: join(folder, "reports"), manifest: { name: "reports", access: [] } });
  registry.registerAgent({ name: AGENT.name, module: "reports", definition: { access: [] } });
  for (const { name } of [TOOL, ENGINE])
    registry.registerTool({ name, module: "reports", definition: { access } });
  runtime.registerAction("reports", "reports.resume_import", () => undefined);
  /** @param {Wish} wish @param {"approveForSession" | "approvePermanently" | "deny"} kind @param {object} [words] */
  const decide = async (wish, kind, words = {}) => {
    const requestId = await ask(sallyport, wish);
    const record = await service.list.request(PERSON, requestId);
    await service[kind](PERSON, { requestId, digest: record?.digest ?? "" }, words);
  };
  await decide(
    {
      type: "filesystem",
      operation: "read",
      target: "/srv/imports/2026-09.csv",
      action: "reports.resume_import",
    },
    "approveForSession",
  );
  await decide(
    { type: "network", operation: "receive", target: "https://api.example.com/v1/rates", tool: ENGINE },
    "approvePermanently",
    { maxUses: 20 },
  );
  await decide(
    { type: "filesystem", operation: "read", target: "/srv/reports/2026/q2.csv" },
    "approvePermanently",
    { reason: "part of the monthly report" },
  );
  await decide(
    { type: "network", operation: "send", target: "https://paste.example.net/upload", tool: ENGINE },
    "deny",
    { reason: "data of customers stays here" },
  );
  await service.executor.runDue();
  const ids = [];
  for (const wish of PENDING) ids.push(await ask(sallyport, wish));
  return ids;
}

/** What a browser keeps of a person who is signed in. @param {import("./browser.mjs").Browser} browser @param {string} link */
async function signedIn(browser, link) {
  const context = await browser.newContext();
  const page = await context.newPage();
  await page.goto(link);
  await page.getByRole("heading", { name: "Inbox" }).waitFor();
  const state = await context.storageState();
  await context.close();
  return state;
}

/** @returns {Promise<readonly string[]>} the files that were written */
async function takeScreenshots() {
  const consoleFolder = await buildConsole();
  const { createSallyport } = await import("sallyport");
  const { createServer } = await import("@sallyport/server");
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "sallyport-screenshots-")));
  const sallyport = await createSallyport({ dataFolder: join(folder, "data"), apiPorts: [PORT] });
  const browser = await launchBrowser();
  const out = join(root, "docs", "screenshots");
  mkdirSync(out, { recursive: true });
  try {
    const ids = await furnish(sallyport, folder);
    const { service } = sallyport;
    const server = createServer({
      ...sallyport.serverParts(),
      admin: { service, version: "0.1.0", consoleFolder },
    });
    const listening = await server.listen({ port: PORT });
    const opened = `/?id=${ids.at(-2)}`;
    /** @type {readonly [name: string, path: string, options: object, press?: string][]} */
    const shots = [
      ["inbox", opened, { viewport: WIDE, colorScheme: "light" }],
      ["inbox-dark", `/?id=${ids.at(-1)}`, { viewport: WIDE, colorScheme: "dark" }],
      ["approve", `/?id=${ids.at(-1)}`, { viewport: WIDE, colorScheme: "light" }, "e"],
      ["grants", "/grants", { viewport: WIDE, colorScheme: "light" }],
      ["audit", "/audit?range=hour", { viewport: WIDE, colorScheme: "light" }],
      ["inbox-phone", "/", { viewport: PHONE, colorScheme: "light" }],
      ["card-phone", opened, { viewport: PHONE, colorScheme: "light" }],
    ];
    const written = [];
    const storageState = await signedIn(browser, (await server.createSignInLink({ name: "ada" })).url);
    for (const [name, path, options, press] of shots) {
      const context = await browser.newContext({ ...options, storageState });
      const page = await context.newPage();
      await page.goto(listening.origin + path);
      await page
        .locator(path.startsWith("/?id=") ? "[data-card]" : "main [data-target]")
        .first()
        .waitFor();
      await page.locator('[aria-label^="Loading"]').first().waitFor({ state: "detached" });
      await page
        .locator("[data-live]")
        .first()
        .getByText("Live")
        .waitFor({ state: "attached" })
        .catch(() => undefined);
      if (press !== undefined) {
        await page.keyboard.press(press);
        await page.getByRole("dialog").waitFor();
        await page.getByRole("radio").nth(1).click();
      }
      const file = join(out, `${name}.png`);
      await page.screenshot({ path: file });
      written.push(file);
      await context.close();
    }
    await listening.close();
    return written;
  } finally {
    await browser.close();
    await sallyport.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

const code = await build();
if (code !== 0) process.exit(code);
heading("screenshots");
for (const file of await takeScreenshots()) console.log(dim(file));
