/**
 * `npm start`, as a person meets it: a copy of the tree, the command, the link that it prints, and three decisions in a
 * browser. What the example says it did is what is looked for; then ctrl-c.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  realpathSync,
  rmSync,
  symlinkSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { stripVTControlCharacters } from "node:util";
import { afterAll, beforeAll, expect, it } from "vitest";
import { launchBrowser } from "../../tools/browser.mjs";
import { build } from "../../tools/build.mjs";
import { buildConsole } from "../../tools/build-console.mjs";
import type { Browser, Page } from "./browser-page.ts";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));
const START_MS_MAX = 600_000;
const WAIT_MS_MAX = 60_000;

let tree = "";
let browser: Browser | undefined;
let started: Started | undefined;
beforeAll(async () => {
  expect(await build()).toBe(0);
  await buildConsole();
  tree = copiedTree();
}, START_MS_MAX);
afterAll(async () => {
  await browser?.close();
  started?.kill();
  if (tree !== "") rmSync(tree, { recursive: true, force: true });
});

/** The tree without what was installed; that is linked, but for our own packages, which are those of the copy. */
function copiedTree(): string {
  const copy = realpathSync(mkdtempSync(join(tmpdir(), "sallyport-start-")));
  for (const name of ["packages", "tools", "package.json", "package-lock.json", "tsconfig.base.json"])
    cpSync(join(ROOT, name), join(copy, name), {
      recursive: true,
      preserveTimestamps: true,
      verbatimSymlinks: true,
      filter: (path) => !/[/\\](?:test-programs|dist-web\.\d+[^/\\]*)$/.test(path),
    });
  const installed = join(ROOT, "node_modules");
  mkdirSync(join(copy, "node_modules", "@sallyport"), { recursive: true });
  for (const name of readdirSync(installed))
    if (name !== "@sallyport" && name !== "sallyport")
      symlinkSync(join(installed, name), join(copy, "node_modules", name));
  for (const name of readdirSync(join(copy, "packages")))
    symlinkSync(
      join(copy, "packages", name),
      join(copy, "node_modules", name === "sallyport" ? name : join("@sallyport", name)),
    );
  return copy;
}

interface Started {
  said(): string;
  /** Resolves with what matched, once it has been said. */
  says(pattern: RegExp): Promise<string>;
  /** How `npm` ended: the signal, or its exit code. */
  interrupt(): Promise<NodeJS.Signals | number>;
  /** Whether anything that it started is still there. */
  isRunning(): boolean;
  kill(): void;
}

/** In a process group of its own, as a terminal starts it: ctrl-c reaches all of it. */
function npmStart(): Started {
  const env = { ...process.env, NO_COLOR: "1" };
  const child: ChildProcess = spawn("npm", ["start", "--", "--port", "0"], {
    cwd: tree,
    env,
    detached: true,
    stdio: ["ignore", "pipe", "pipe"],
  });
  let text = "";
  const heard = new Set<() => void>();
  for (const stream of [child.stdout, child.stderr])
    stream?.setEncoding("utf8").on("data", (part: string) => {
      text += stripVTControlCharacters(part);
      for (const look of heard) look();
    });
  let isOver = false;
  const ended = once(child, "close").then(([code, signal]) => {
    isOver = true;
    for (const look of heard) look();
    return (signal ?? code) as NodeJS.Signals | number;
  });
  const group = (signal: NodeJS.Signals | 0): boolean => {
    try {
      return child.pid !== undefined && process.kill(-child.pid, signal);
    } catch {
      return false;
    }
  };
  return {
    said: () => text,
    says: (pattern) =>
      new Promise((resolve, reject) => {
        const look = (): void => {
          const found = pattern.exec(text);
          if (found === null && !isOver) return;
          heard.delete(look);
          if (found === null) reject(new Error(`it ended without saying ${pattern}:\n${text}`));
          else resolve(found[1] ?? found[0]);
        };
        heard.add(look);
        look();
      }),
    interrupt: () => {
      group("SIGINT");
      return ended;
    },
    isRunning: () => group(0),
    kill: () => void group("SIGKILL"),
  };
}

async function decide(page: Page, label: string, answer: RegExp): Promise<void> {
  await page.locator("[data-request]", { hasText: label }).locator("button").click();
  await page.locator("[data-card]", { hasText: label }).waitFor();
  await page.getByRole("button", { name: answer }).click();
}

it(
  "goes from the command to the first approvals: what was blocked goes on, what had stopped resumes, the log has it",
  async () => {
    const start = npmStart();
    started = start;
    const link = await start.says(/sign in\s+(http:\S+#token=\S+)/);
    await start.says(/an import has stopped/);
    browser = await launchBrowser();
    const context = await browser.newContext({ viewport: { width: 1280, height: 800 } });
    context.setDefaultTimeout(WAIT_MS_MAX);
    const page = await context.newPage();
    await page.goto(link);
    await page.getByRole("heading", { name: "Inbox" }).waitFor();
    const steps = (state: string) => page.locator(`[data-guide-step="${state}"]:visible`);
    await steps("waiting").nth(2).waitFor();
    await decide(page, "Filesystem read", /Allow once/);
    await start.says(/the tool goes on: it read 2 customers/);
    await decide(page, "Network receive", /Allow for session/);
    await start.says(/the agent goes on: it received \{"EUR":1,"USD":1\.08\}/);
    await decide(page, "Filesystem create", /Allow for session/);
    await start.says(/the import that had stopped went on by itself/);
    await page.getByText("Nothing waits for you").waitFor();
    await steps("went_on").nth(2).waitFor();
    await page.locator("[data-guide]:visible").getByRole("link", { name: "audit log" }).click();
    await page.locator("[data-event]", { hasText: "rates.json" }).first().waitFor();
    await page.goto(`${new URL(link).origin}/audit?type=permission.resolved`);
    await page.locator("[data-event]", { hasText: "customer.csv" }).first().waitFor();
    await context.close();
    expect(start.isRunning()).toBe(true);
    // WHY either: the shell that npm starts scripts with passes the signal on, or does not.
    expect([0, "SIGINT"]).toContain(await start.interrupt());
    expect(start.isRunning()).toBe(false);
    // What is up took its socket away and gave its store back.
    expect(existsSync(join(tree, ".sallyport", "store.db"))).toBe(true);
    expect(existsSync(join(tree, ".sallyport", "admin.sock"))).toBe(false);
    // Nothing but the headings of the build, what is up, and what happens.
    expect(start.said()).not.toMatch(/dist-web|Error|fault|Warning/);
  },
  START_MS_MAX,
);
