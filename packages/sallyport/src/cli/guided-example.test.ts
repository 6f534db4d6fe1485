/** What `npm start` shows: the guided example of a real `sallyport up`, decided over the command line. */
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { type BundledCli, bundleCli } from "../testing/cli-process.ts";
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
    const manifests = await fetchManifests<Declared>();
    expect(manifests.rows.map(({ subject }) => subject.name)).toContain("example.read_file");
  });

  it("is told no where it is denied, and goes on without", async () => {
    owner = await startOwner(cli, "--example");
    const ids = (await pendingRequests(owner, 3)).map(({ id }) => id);
    expect((await owner.run(["deny", ...ids, "--yes"])).code).toBe(0);
    await expect.poll(() => examples().filter((line) => line.includes("was told no"))).toHaveLength(2);
    expect(examples().some((line) => line.includes("went on"))).toBe(false);
  });
});

/** As the console would: signed in by the link that was printed. */
async function fetchManifests<T>(): Promise<T> {
  const headers = { "content-type": "application/json", origin: owner.origin };
  const signedIn = await fetch(`${owner.origin}/v1/sign-in/link`, {
    method: "POST",
    headers,
    body: JSON.stringify({ token: owner.link.split("#token=")[1] }),
  });
  const { csrf_token: csrf } = (await signedIn.json()) as { readonly csrf_token: string };
  const cookie = (signedIn.headers.get("set-cookie") ?? "").split(";")[0] ?? "";
  const answer = await fetch(`${owner.origin}/v1/manifests`, {
    headers: { ...headers, cookie, "x-csrf-token": csrf },
  });
  return (await answer.json()) as T;
}
