/** The inbox, narrowed by each identity field alone: what has that value stays, and what has another goes. */
import { expect, it } from "vitest";
import { MEMBER, MODULE, consoleOfFile } from "./console-fixture.ts";

const fixture = await consoleOfFile();
const page = await fixture.signedIn();
const wanted = await fixture.ask({ resourceType: "filesystem", operation: "read", target: "/srv/wanted" });
// Another in every field: asked for by the module itself, of another user, in another organization, session and task.
const { runtime, sdk } = fixture.sallyport;
await runtime.run(
  MODULE,
  { ...MEMBER, user: { id: 22 }, organizationId: 8, sessionKey: "sess-22", taskId: "task-2" },
  () =>
    sdk.access.checkExternalAccess({
      resourceType: "network",
      operation: "send",
      target: "https://other.example.com/",
    }),
);

const LISTS = new Set(["Subject type", "Resource type", "Operation"]);

it.each([
  ["Subject type", "tool", "engine"],
  ["Subject name", "demo.read_file", "demo.read_fil"],
  ["Resource type", "filesystem", "system_dependency"],
  ["Operation", "read", "delete"],
  ["Target", "/srv/wanted", "/srv/wante"],
  ["Organization", "7", "9"],
  ["User", "21", '"21"'],
  ["Session key", "sess-21", "sess-2"],
  ["Task", "task-1", "task"],
])("by %s", async (label, value, other) => {
  const narrow = async (text: string): Promise<void> => {
    await page.goto(fixture.origin);
    await page.locator("[data-count]").getByText("2 requests", { exact: true }).waitFor();
    await page.getByRole("button", { name: "Filter" }).click();
    const field = page.getByLabel(label, { exact: true });
    await (LISTS.has(label) ? field.selectOption(text) : field.fill(text));
    await page.getByRole("button", { name: "Apply" }).click();
  };
  await narrow(value);
  await page.locator("[data-count]").getByText("1 request", { exact: true }).waitFor();
  expect(await page.locator("[data-request]").getAttribute("data-request")).toBe(wanted);
  await narrow(other);
  await page.getByText("Nothing matches").waitFor();
});
