// @ts-check
/**
 * The first decision, as a program: a tool reads a file it declared, is stopped at one it did not declare, a person
 * decides, and the work goes on. Cooperative: the tool asks before it reads. Nothing here stops code that does not ask.
 *
 *     npm run example                      you decide
 *     npm run example -- --answer session  decides for you: once, session, permanent or deny
 */
import { getRandomValues } from "node:crypto";
import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline/promises";
import { parseArgs } from "node:util";
import { loadManifest, parseSubject, whatwgUrl } from "@sallyport/contract";
import { NameCache, normalizeAccess, realPath } from "@sallyport/gate";
import { ActiveContext, PLAIN_CONTEXT, Snapshot, decide, explain } from "@sallyport/policy";
import { bold, cross, cyan, dim, green, tick } from "../../tools/paint.mjs";

const ANSWERS = /** @type {const} */ (["once", "session", "permanent", "deny"]);
const { values: options } = parseArgs({ options: { answer: { type: "string" } } });
if (options.answer !== undefined && !isAnswer(options.answer)) {
  console.error(`--answer must be one of ${ANSWERS.join(", ")}, not \`${options.answer}\``);
  process.exit(2);
}

// A place to work in: the tool's own folder, and a file that is not in it.
const place = realpathSync(mkdtempSync(join(tmpdir(), "sallyport-")));
const [root, elsewhere] = [join(place, "tool"), join(place, "imports")];
mkdirSync(join(root, "inbox"), { recursive: true });
mkdirSync(elsewhere);
writeFileSync(join(root, "inbox/note.txt"), "a note the tool may read\n");
writeFileSync(join(elsewhere, "customer.csv"), "id,name\n1,Ada\n2,Grace\n");
writeFileSync(join(elsewhere, "customer.csv.bak"), "id,name\n");

// 1. The manifest says what the tool needs. Faults come with a pointer and what to write instead.
const text = readFileSync(new URL("manifest.json", import.meta.url), "utf8");
const loaded = loadManifest("tool", text, { root, variables: {}, parseUrl: whatwgUrl });
if (!loaded.ok) throw new Error(JSON.stringify(loaded.faults));
const { subject, phases } = loaded.manifest;
if (subject === undefined) throw new Error("the manifest has no name");

// 2. The host enters the subject. What is declared, approved and ruled stands in the snapshot.
const snapshot = new Snapshot({ seed: seed(), parseUrl: whatwgUrl });
snapshot.apply({ kind: "contract_set", contract: { id: "manifest", access: phases.runtime.access } });
const session = { organizationId: null, userId: 21, sessionKey: "sess-21" };
const active = new ActiveContext(snapshot, {
  ...PLAIN_CONTEXT,
  frames: [
    { subject: subjectOf("agent", "demo.reader_agent"), phase: "runtime", entry: "host", contracts: [] },
    { subject, phase: "runtime", entry: "host", contracts: ["manifest"] },
  ],
  ...session,
});

console.log(`\n${bold("Sallyport: the first decision")}`);
console.log(dim("  agent demo.reader_agent runs tool demo.read_file; its manifest declares two things:"));
for (const { resourceType, operation, declared } of phases.runtime.access) {
  console.log(`    ${cyan(`${resourceType} ${operation}`)} ${declared}`);
}

const wanted = join(elsewhere, "customer.csv");
step("It reads a file that it declared.");
readWithCheck(join(root, "inbox/note.txt"));
step("It tries a look-alike, another operation, and a way round.");
show("filesystem", "read", join(root, "inbox-private/x"));
show("filesystem", "delete", join(root, "inbox/note.txt"));
show("filesystem", "read", join(root, "inbox/../../imports/customer.csv"));
show("network", "receive", "https://api.example.com/v1/..%2fadmin");
show("network", "receive", "http://api.example.com@evil.example/");

step("It reads a file that it did not declare. The work stops here, and a person is asked.");
readWithCheck(wanted);
const answer = await personDecides();
apply(answer);
step(answer === "deny" ? "The work is told no, and not to ask again." : "The work goes on.");
readWithCheck(wanted);
if (answer !== "deny") show("filesystem", "read", `${wanted}.bak`);

console.log(
  `\n${dim("Next: README.md for what works today, docs/decision-matrix.txt for every mode, SECURITY.md for what")}`,
);
console.log(
  dim("is a boundary and what is not. This example asks before it reads; enforcement comes with the guard."),
);
rmSync(place, { recursive: true });

/** @param {string} path */
function readWithCheck(path) {
  if (!show("filesystem", "read", path)) return;
  console.log(`      ${green(JSON.stringify(readFileSync(path, "utf8")))}`);
}

/** Asks for one access and prints the answer. @param {string} resourceType @param {string} operation @param {string} target */
function show(resourceType, operation, target) {
  const question = ask(resourceType, operation, target);
  const verdict = decide(active, question);
  // WHY: every line is about the same subject, so its name is left out.
  const because = explain(active, question).because.replace(/^tool:demo\.read_file: /, "");
  console.log(`    ${verdict.allowed ? tick : cross} ${bold(verdict.code)}  ${shorten(because)}`);
  return verdict.allowed;
}

/** @param {string} resourceType @param {string} operation @param {string} target */
function ask(resourceType, operation, target) {
  const nowMs = Date.now();
  const ports = { parseUrl: whatwgUrl, realPath, names: new NameCache(), cwd: root, nowMs };
  const { access } = normalizeAccess({ resourceType, operation, target }, ports);
  return { access, ask: /** @type {const} */ ("default"), nowMs };
}

/** @returns {Promise<typeof ANSWERS[number]>} */
async function personDecides() {
  console.log(`\n    ${bold("tool demo.read_file")}, called by ${bold("agent demo.reader_agent")}, wants`);
  console.log(`    ${cyan("Filesystem read")}  ${shorten(wanted)}`);
  console.log(dim("    session sess-21 · user 21 · asked once"));
  if (options.answer !== undefined && isAnswer(options.answer)) return options.answer;
  if (!process.stdin.isTTY) {
    console.log(dim("    no terminal to ask on: approved for the session (see --answer)"));
    return "session";
  }
  const prompt = createInterface({ input: process.stdin, output: process.stdout });
  try {
    for (;;) {
      const typed = await prompt.question(`\n    [o]nce, for the [s]ession, [p]ermanently, or [d]eny? `);
      const chosen = ANSWERS.find((one) => typed !== "" && one.startsWith(typed.trim().toLowerCase()));
      if (chosen !== undefined) return chosen;
    }
  } finally {
    prompt.close();
  }
}

/** @param {typeof ANSWERS[number]} chosen */
function apply(chosen) {
  const id = `${chosen}-1`;
  const aimed = /** @type {const} */ ({
    id,
    subject,
    resourceType: "filesystem",
    operation: "read",
    target: wanted,
    match: "exact",
  });
  if (chosen === "deny") {
    snapshot.apply({ kind: "denial_set", denial: { ...aimed, subject: known() } });
    return;
  }
  const isPermanent = chosen === "permanent";
  const holder = isPermanent ? { organizationId: null, userId: null, sessionKey: null } : session;
  const usesLeft = chosen === "once" ? 1 : null;
  const scope = isPermanent ? /** @type {const} */ ("permanent") : /** @type {const} */ ("session");
  const approval = { ...aimed, subject: known(), scope, ...holder, expiresAtMs: null, usesLeft };
  snapshot.apply({ kind: "approval_set", approval });
}

function known() {
  if (subject === undefined) throw new Error("the manifest has no name");
  return subject;
}

/** @param {string} type @param {string} name */
function subjectOf(type, name) {
  const parsed = parseSubject(type, name);
  if (!parsed.ok) throw new Error(parsed.message);
  return parsed.value;
}

/** @returns {readonly [number, number]} */
function seed() {
  const [low = 0, high = 0] = getRandomValues(new Uint32Array(2));
  return [low, high];
}

/** @param {string} word @returns {word is typeof ANSWERS[number]} */
function isAnswer(word) {
  return ANSWERS.some((one) => one === word);
}

/** @param {string} title */
function step(title) {
  console.log(`\n  ${bold(title)}`);
}

/** Shorter paths, so that lines fit. @param {string} line */
function shorten(line) {
  return line.replaceAll(`${place}/`, "…/");
}
