/** What a list shows while it loads, where it cannot be loaded, and what a profile says that was applied. */
import type { SandboxProfile } from "@sallyport/contract";
import { expect, it } from "vitest";
import { MEMBER, consoleOfFile } from "./console-fixture.ts";

const fixture = await consoleOfFile();
const page = await fixture.signedIn();

it("shows what was enforced around a run, and what was not", async () => {
  const { runtime, service } = fixture.sallyport;
  const sandboxProfile: SandboxProfile = {
    mode: "os",
    platform: "linux x64",
    cwd: "/srv/work",
    readRoots: ["/usr/", "/srv/work/"],
    writeRoots: ["/srv/work/"],
    network: { access: "gateway", forwardedPorts: [] },
    environmentRef: null,
    processLimits: { processesMax: 64, openFilesMax: null, memoryBytesMax: null, cpuSecondsMax: null },
    violationRefs: [],
    enforcedBy: ["landlock", "seccomp"],
    notEnforced: ["stat", "interpreter", "read_not_asked"],
  };
  await runtime.run({ type: "tool", name: "demo.read_file" }, MEMBER, () =>
    service.recordSandbox({ ...runtime.caller(), sandboxProfile, confined: true }),
  );
  await page.goto(`${fixture.origin}/sandbox`);
  const row = page.getByRole("list", { name: "Sandbox profiles" }).locator("> li").first();
  await row.waitFor();
  const text = (await row.innerText()).replaceAll(/\s+/g, " ");
  expect(text).toContain("demo.read_file");
  expect(text).toContain("kernel sandbox");
  expect(text).toMatch(/Enforced by landlock seccomp Not enforced stat interpreter read_not_asked/);
  expect(text).toMatch(/May read \/usr\/ \/srv\/work\/ May write \/srv\/work\//);
});

it("says that a list loads, and why it cannot be shown, and tries again", async () => {
  let isCut = true;
  let cut = (): void => undefined;
  const held = new Promise<void>((resolve) => (cut = resolve));
  // WHY so: what lies between a browser and its server is slow, then gone, then there again.
  await page.context().route("**/v1/denials*", async (route) => {
    await held;
    await (isCut ? route.abort() : route.continue());
  });
  await page.goto(`${fixture.origin}/denials`);
  await page.getByRole("status", { name: "Loading denials" }).waitFor();
  cut();
  const alert = page.getByRole("alert");
  await alert.getByText("This could not be loaded").waitFor();
  await alert.getByText("cannot be reached").waitFor();
  isCut = false;
  await alert.getByRole("button", { name: "Try again" }).click();
  await page.getByText("No denials").waitFor();
});
