/** From the message in somebody's chat to the decision: the link opens the request, and only for whoever signs in. */
import { type IncomingMessage, createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, expect, it, vi } from "vitest";
import { startOidcProvider } from "../../packages/server/src/testing/obtain-oidc-provider.ts";
import { consoleOfFile } from "./console-fixture.ts";

interface SlackMessage {
  readonly text: string;
  readonly blocks: readonly { readonly elements?: readonly { readonly url: string }[] }[];
}

// WHY: the provider says at length that it is set up for tests.
for (const level of ["info", "warn"] as const) vi.spyOn(console, level).mockImplementation(() => undefined);
const messages: SlackMessage[] = [];
const chat = createServer((call, answer) => {
  take(call).then(
    () => answer.end("ok"),
    () => answer.destroy(),
  );
});
await new Promise<void>((resolve) => chat.listen(0, "127.0.0.1", resolve));
const provider = await startOidcProvider();
afterAll(async () => {
  await provider.close();
  chat.closeAllConnections();
  await new Promise((resolve) => chat.close(resolve));
  vi.restoreAllMocks();
});
const { issuer, clientId, clientSecret } = provider;
const fixture = await consoleOfFile({
  admin: {
    oidc: { issuer, clientId, clientSecret, roles: { approvers: ["super"] } },
    webhooks: [
      {
        id: "chat",
        url: `http://127.0.0.1:${(chat.address() as AddressInfo).port}/hook`,
        form: "slack",
        secret: "a secret of the tests that is long enough",
      },
    ],
  },
});
await provider.serve(`${fixture.origin}/v1/sign-in/oidc/callback`, () => ({
  name: "Anna",
  groups: ["approvers"],
}));

async function take(call: IncomingMessage): Promise<void> {
  let text = "";
  for await (const part of call.setEncoding("utf8")) text += String(part);
  messages.push(JSON.parse(text) as SlackMessage);
}

/** What the button of the message leads to. */
async function messageOf(target: string): Promise<string> {
  const message = await vi.waitFor(
    () => messages.find(({ text }) => text.includes(target)) ?? Promise.reject(new Error("no message yet")),
    { timeout: 60_000 },
  );
  expect(message.text).toBe(`tool demo.read_file asks for: Filesystem read ${target}`);
  const [url] = message.blocks.flatMap(({ elements }) => elements ?? []).map((element) => element.url);
  return url ?? "";
}

const asked = (target: string) => ({ resourceType: "filesystem", operation: "read", target });

it("the link of a message shows nothing without a sign-in, and the request behind it", async () => {
  const id = await fixture.ask(asked("/srv/told"));
  const url = await messageOf("/srv/told");
  const stranger = await fixture.page();
  await stranger.goto(url);
  await stranger.getByRole("heading", { name: "Sign in to Sallyport" }).waitFor();
  expect(await stranger.getByText("/srv/told").count()).toBe(0);
  const page = await fixture.signedIn();
  await page.goto(url);
  await page.locator(`[data-card="${id}"]`).waitFor();
});

it("whoever comes in by the identity provider is where the link led", async () => {
  const id = await fixture.ask(asked("/srv/told-at-provider"));
  const page = await fixture.page();
  // The pages of the provider ask for a font of the internet.
  await page.context().route("https://**", (route) => route.abort());
  await page.goto(await messageOf("/srv/told-at-provider"));
  await page.getByRole("link", { name: "Continue with your organization" }).click();
  await page.locator('input[name="login"]').fill("anna");
  await page.locator('input[name="password"]').fill("any");
  await page.locator('button[type="submit"]').click();
  await page.locator('input[name="prompt"][value="consent"]').waitFor({ state: "attached" });
  await page.locator('button[type="submit"]').click();
  await page.locator(`[data-card="${id}"]`).waitFor();
  expect(page.url()).not.toContain("token");
  await page.getByRole("button", { name: /Allow for session/ }).click();
  await page.getByText("Approved for the session").waitFor();
  expect(await fixture.ask(asked("/srv/told-at-provider"))).toBe("allowed_session");
});
