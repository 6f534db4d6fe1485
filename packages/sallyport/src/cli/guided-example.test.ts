/** What `npm start` shows: the guided example of a real `sallyport up`, decided over the command line. */
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { type BundledCli, bundleCli, printed, startCli } from "../testing/cli-process.ts";
import { type RunningOwner, pendingRequests, startOwner } from "../testing/running-owner.ts";

let cli: BundledCli;
let owner: RunningOwner;
beforeAll(async () => {
  cli = await bundleCli();
});
afterEach(() => owner.remove());
afterAll(() => cli.remove());

const examples = (): string[] =>
  owner
    .said()
    .split("\n")
    .flatMap((line) =>
      line.startsWith('{"example":') ? [(JSON.parse(line) as { example: string }).example] : [],
    );

interface Guide {
  readonly steps: readonly { readonly state: string; readonly request_id: string | null }[];
}

describe("the guided example", () => {
  it("is blocked on a file and an address, goes on when it is approved, and resumes a stopped job", async () => {
    owner = await startOwner(cli, "--example");
    const rows = await pendingRequests(owner, 3);
    const label = ({ resource, subject }: (typeof rows)[number]) =>
      `${subject.type} ${resource.type} ${resource.operation}`;
    expect(rows.map(label).toSorted()).toEqual([
      "agent network receive",
      "module filesystem create",
      "tool filesystem read",
    ]);
    const ids = rows.map(({ id }) => id);
    expect((await owner.run(["approve", ...ids, "--yes"])).code).toBe(0);
    const wentOn = () => examples().filter((line) => line.includes("goes on") || line.includes("went on"));
    await expect.poll(wentOn).toHaveLength(3);
    expect(wentOn().join("\n")).toContain("read 2 customers");
    expect(wentOn().join("\n")).toContain('received {"EUR":1,"USD":1.08}');
    expect(owner.said()).toContain('"type":"permission.resolved"');
    type Page = { rows: { subject_name: string; decision: string }[] };
    const { rows: lines } = await owner.json<Page>(["audit", "search", "--type", "permission.resolved"]);
    expect(lines.map(({ decision }) => decision)).toEqual(["allowed", "allowed", "allowed"]);
    type Declared = { rows: { subject: { name: string } }[] };
    const [manifests, { steps }] = await fetched<[Declared, Guide]>("/v1/manifests", "/v1/guide");
    expect(steps.map(({ state }) => state)).toEqual(["went_on", "went_on", "went_on"]);
    expect(new Set(steps.map(({ request_id }) => request_id))).toEqual(new Set(ids));
    expect((await fetch(`${owner.origin}/v1/guide`)).status).toBe(401);
    expect(manifests.rows.map(({ subject }) => subject.name)).toContain("example.read_file");
  });

  it("is told no where it is denied, and goes on without", async () => {
    owner = await startOwner(cli, "--example");
    const ids = (await pendingRequests(owner, 3)).map(({ id }) => id);
    expect((await owner.run(["deny", ...ids, "--yes"])).code).toBe(0);
    await expect.poll(() => examples().filter((line) => line.includes("was told no"))).toHaveLength(2);
    expect(examples().some((line) => line.includes("went on"))).toBe(false);
    await expect.poll(() => owner.said().split('"type":"permission.resolved"')).toHaveLength(4);
    const [{ steps }] = await fetched<[Guide]>("/v1/guide");
    expect(steps.map(({ state }) => state)).toEqual(["refused", "refused", "refused"]);
  });

  it("leaves nothing in the inbox when it ends, however it ends", async () => {
    owner = await startOwner(cli, "--example");
    const first = await pendingRequests(owner, 3);
    await owner.interrupt();
    expect(examples().some((line) => line.includes("was told no"))).toBe(false);
    const waiting = async () => (await owner.json<{ rows: { id: string }[] }>(["requests"])).rows;
    expect(await waiting()).toEqual([]);
    // Killed, it cannot; the next one does.
    const again = startCli(cli, ["up", "--data", owner.data, "--port", "0", "--no-console", "--example"]);
    await printed(again, /the tool is blocked/);
    await pendingRequests(owner, 3);
    const killed = new Promise((resolve) => again.once("close", resolve));
    again.kill("SIGKILL");
    await killed;
    const left = await waiting();
    expect(left).toHaveLength(3);
    const last = startCli(cli, ["up", "--data", owner.data, "--port", "0", "--no-console", "--example"]);
    await printed(last, /an import has stopped/);
    await expect.poll(async () => (await waiting()).length).toBe(3);
    const gone = new Set([...first, ...left].map(({ id }) => id));
    expect((await waiting()).filter(({ id }) => gone.has(id))).toEqual([]);
    const ended = new Promise((resolve) => last.once("close", resolve));
    last.kill("SIGINT");
    await ended;
  });
});

/** As the console would: signed in by the link that was printed. */
async function fetched<T extends unknown[]>(...paths: string[]): Promise<T> {
  const headers = { "content-type": "application/json", origin: owner.origin };
  const signedIn = await fetch(`${owner.origin}/v1/sign-in/link`, {
    method: "POST",
    headers,
    body: JSON.stringify({ token: owner.link.split("#token=")[1] }),
  });
  const { csrf_token: csrf } = (await signedIn.json()) as { readonly csrf_token: string };
  const cookie = (signedIn.headers.get("set-cookie") ?? "").split(";")[0] ?? "";
  const answers = paths.map(async (path) => {
    const answer = await fetch(owner.origin + path, {
      headers: { ...headers, cookie, "x-csrf-token": csrf },
    });
    return answer.json();
  });
  return (await Promise.all(answers)) as T;
}
