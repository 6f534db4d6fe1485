/** How `sallyport up` is reached and what it is told in its settings, each as a process of its own. */
import { createHmac } from "node:crypto";
import { chmodSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { type IncomingHttpHeaders, createServer } from "node:http";
import { request } from "node:https";
import { type AddressInfo, createServer as createSocketServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { type BundledCli, bundleCli, runCli } from "../testing/cli-process.ts";
import { type GatedPrograms, buildPrograms } from "../testing/gated-children.ts";
import { type RunningOwner, startOwner, startOwnerWith } from "../testing/running-owner.ts";
import { testCertificate } from "../testing/test-certificate.ts";

const SECRET = "a-secret-of-the-tests-that-is-long-enough";
/** Of this machine, and yet no address that counts as loopback here. */
const BEYOND = "127.0.0.2";

let cli: BundledCli;
let programs: GatedPrograms;
let place: string;
let owner: RunningOwner | undefined;
beforeAll(async () => {
  [cli, programs] = await Promise.all([bundleCli(), buildPrograms()]);
  place = realpathSync(mkdtempSync(join(tmpdir(), "sallyport-up-")));
});
afterEach(async () => {
  await owner?.remove();
  owner = undefined;
});
afterAll(() => {
  cli.remove();
  programs.remove();
  rmSync(place, { recursive: true, force: true });
});

const up = (...args: string[]) =>
  runCli(cli, ["up", "--data", join(place, "data"), "--port", "0", "--no-console", ...args]);

describe("beyond loopback", () => {
  it("is refused without TLS, and says every way to have it", async () => {
    const { code, stderr } = await up("--listen", BEYOND);
    expect([code, stderr]).toEqual([1, expect.stringMatching(/is not loopback, and there is no TLS\n/)]);
    for (const option of ["--tls-cert", "--tls-key", "--origin", "--unsafe-plaintext"])
      expect(stderr).toContain(option);
  });

  it("is answered where the danger is named", async () => {
    owner = await startOwner(cli, "--listen", BEYOND, "--unsafe-plaintext");
    expect(owner.origin).toMatch(/^http:\/\/127\.0\.0\.2:\d+$/);
    expect((await fetch(`${owner.origin}/healthz`)).status).toBe(200);
  });

  it("is answered over TLS of its own", async () => {
    const { ca, cert, key } = testCertificate(BEYOND);
    const [certFile, keyFile] = [join(place, "cert.pem"), join(place, "key.pem")];
    writeFileSync(certFile, cert);
    writeFileSync(keyFile, key, { mode: 0o600 });
    owner = await startOwner(cli, "--listen", BEYOND, "--tls-cert", certFile, "--tls-key", keyFile);
    expect(owner.origin).toMatch(/^https:\/\/127\.0\.0\.2:\d+$/);
    const { origin } = owner;
    const status = await new Promise((resolve, reject) => {
      request(`${origin}/healthz`, { ca }, (answer) => resolve(answer.resume().statusCode))
        .once("error", reject)
        .end();
    });
    expect(status).toBe(200);
  });

  it("takes a certificate with its key, and nothing else", async () => {
    const file = join(place, "no.pem");
    writeFileSync(file, "no certificate");
    expect((await up("--tls-cert", file)).code).toBe(2);
    expect((await up("--tls-cert", file, "--tls-key", join(place, "nowhere"))).code).toBe(3);
    const { code, stderr } = await up("--tls-cert", file, "--tls-key", file);
    expect([code, stderr]).toEqual([6, expect.stringContaining("are no certificate with its key")]);
  });
});

it("says that its port is taken, in words", async () => {
  const other = createSocketServer();
  await new Promise<void>((resolve) => other.listen(0, "127.0.0.1", resolve));
  const { port } = other.address() as AddressInfo;
  const { code, stderr } = await up("--port", String(port));
  expect([code, stderr]).toEqual([1, expect.stringContaining(`port ${port} of \`127.0.0.1\` is in use`)]);
  await new Promise((resolve) => other.close(resolve));
});

describe("settings.json in the data folder", () => {
  it("notifies, signed; offers the identity provider; keeps figures for the monitor; tells no secret", async () => {
    const got: { readonly headers: IncomingHttpHeaders; readonly body: string }[] = [];
    const receiver = createServer((call, answer) => {
      let body = "";
      call.setEncoding("utf8").on("data", (part: string) => (body += part));
      call.on("end", () => {
        got.push({ headers: call.headers, body });
        answer.end();
      });
    });
    await new Promise<void>((resolve) => receiver.listen(0, "127.0.0.1", resolve));
    const url = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/hook`;
    owner = await startOwnerWith(cli, {
      settings: {
        webhooks: [{ id: "ops", url, form: "event", secret: SECRET }],
        oidc: {
          issuer: "http://127.0.0.1:1",
          client_id: "sallyport",
          client_secret: SECRET,
          groups: [{ name: "approvers", roles: ["super"] }],
        },
        metrics_token: SECRET,
      },
    });
    owner.start(programs, { waitsFor: "https://other.example.com/x" });
    await expect.poll(() => got.length).toBe(1);
    const [{ headers, body } = { headers: {}, body: "" }] = got;
    const signed = `${String(headers["webhook-id"])}.${String(headers["webhook-timestamp"])}.${body}`;
    expect(headers["webhook-signature"]).toBe(
      `v1,${createHmac("sha256", SECRET).update(signed).digest("base64")}`,
    );
    const session = (await (await fetch(`${owner.origin}/v1/session`)).json()) as {
      readonly server: { readonly sign_in_ways: readonly string[] };
    };
    expect(session.server.sign_in_ways).toContain("oidc");
    expect((await fetch(`${owner.origin}/metrics`)).status).toBe(404);
    const monitor = { headers: { authorization: `Bearer ${SECRET}` } };
    expect((await fetch(`${owner.origin}/metrics`, monitor)).status).toBe(200);
    expect(owner.said()).toContain(
      '"settings":["sign-in at an identity provider","1 webhook","a token for figures"]',
    );
    expect(owner.said()).not.toContain(SECRET);
    receiver.closeAllConnections();
    await new Promise((resolve) => receiver.close(resolve));
  });

  it.each([
    ["no JSON", `{"metrics_token": "${SECRET}`, "is wrong"],
    ["an unknown key", { webhook: [] }, "/webhook unknown key"],
    ["a token of two words", { metrics_token: `${SECRET} more` }, "/metrics_token must be one word"],
    ["a secret that can be guessed", { metrics_token: "short" }, "/metrics_token must have at least 32"],
    [
      "a webhook in clear text beyond this machine",
      { webhooks: [{ id: "a", url: "http://a.example/", form: "slack", secret: SECRET }] },
      "needs an https URL",
    ],
    [
      "two webhooks of one name",
      {
        webhooks: ["b", "c"].map((host) => ({
          id: "a",
          url: `https://${host}.example`,
          form: "slack",
          secret: SECRET,
        })),
      },
      "/webhooks names a webhook twice",
    ],
  ])(
    "with %s keeps the server from starting, and is named without its secrets",
    async (_what, text, told) => {
      const folder = mkdtempSync(join(place, "wrong-"));
      const file = join(folder, "settings.json");
      writeFileSync(file, typeof text === "string" ? text : JSON.stringify(text), { mode: 0o600 });
      const { code, stdout, stderr } = await runCli(cli, [
        "up",
        "--data",
        folder,
        "--port",
        "0",
        "--no-console",
      ]);
      expect([code === 0, stderr]).toEqual([false, expect.stringContaining(told)]);
      expect(stdout + stderr).not.toContain(SECRET);
    },
  );

  it("attack: a file that others can read is not used", async () => {
    const folder = join(place, "open");
    mkdirSync(folder, { mode: 0o700 });
    const file = join(folder, "settings.json");
    writeFileSync(file, "{}");
    chmodSync(file, 0o640);
    const { code, stderr } = await runCli(cli, ["up", "--data", folder, "--port", "0", "--no-console"]);
    expect([code, stderr]).toEqual([1, expect.stringMatching(/is open to others\n.*chmod 600/)]);
  });
});
