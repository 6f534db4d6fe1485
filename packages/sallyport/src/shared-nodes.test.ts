/** Two nodes on one PostgreSQL that answer to one origin: what one of them has seen or taken back, the other knows. */
import { cpSync, mkdirSync, mkdtempSync, realpathSync, rmSync } from "node:fs";
import { request } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type HolderKey, generateHolderKey } from "@sallyport/client";
import { type Listening, createServer } from "@sallyport/server";
import { type PostgresServer, startPostgres } from "@sallyport/store/testing";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { type Sallyport, createSallyport } from "./create-sallyport.ts";
import { TOOL, adminCaller, registerSubjects } from "./testing/sallyport-fixture.ts";

/** What callers reach both nodes by: a proxy that forwards each call to one of them. */
const ORIGIN = "https://sallyport.example.com";
const PATH = "/v1/runtime/check";
const BODY = JSON.stringify({
  chain: [{ subject: TOOL, phase: "runtime", entry: "host" }],
  task_id: null,
  interactive: true,
  access: {
    kind: "access",
    resource: { type: "network", operation: "receive", target: "https://unknown.example.com/" },
    requested: "https://unknown.example.com/",
  },
  attested_by: "service",
  enforced: false,
});

interface Node extends Sallyport {
  readonly server: ReturnType<typeof createServer>;
  readonly listening: Listening;
}

let postgres: PostgresServer;
let folder: string;
let nodes: Node[];
beforeAll(async () => {
  postgres = await startPostgres();
});
afterAll(() => postgres.stop());
beforeEach(async () => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), "sallyport-nodes-")));
  for (const name of ["demo", "bank", "whisper"]) mkdirSync(join(folder, name));
  const postgresUrl = await postgres.makeDatabase();
  nodes = [];
  for (const nodeId of ["node-a", "node-b"]) {
    const dataFolder = join(folder, nodeId);
    if (nodes.length > 0) cpSync(join(folder, "node-a"), dataFolder, { recursive: true });
    const sallyport = await createSallyport({ dataFolder, shared: { postgresUrl, nodeId } });
    registerSubjects(sallyport.registry, folder);
    const server = createServer({ ...sallyport.serverParts(), authenticate: async () => adminCaller() });
    nodes.push({ ...sallyport, server, listening: await server.listen({ origin: ORIGIN }) });
  }
});
afterEach(async () => {
  for (const one of nodes) {
    await one.listening.close();
    await one.close();
  }
  rmSync(folder, { recursive: true, force: true });
});

const node = (index: number): Node => nodes[index] as Node;

async function holder() {
  const key = await generateHolderKey();
  const subjects = [{ subject: TOOL, phase: "runtime" }];
  const grant = { subjects, userId: 21, organizationId: 7, sessionKey: "sess-21", taskId: null };
  const words = { ...grant, interactive: true } as never;
  return { key, issued: await node(0).server.credentials.issue(words, key.thumbprint) };
}

const proofOf = (key: HolderKey, token: string) =>
  key.prove({ method: "POST", url: `${ORIGIN}${PATH}`, body: BODY, token, nowMs: Date.now() });

/** As the proxy forwards it. */
function forwarded({ listening }: Node, token: string, dpop: string): Promise<string> {
  const headers = {
    host: new URL(ORIGIN).host,
    "content-type": "application/json",
    authorization: `DPoP ${token}`,
    dpop,
  };
  return new Promise((resolve, reject) => {
    const call = request({ port: listening.port, path: PATH, method: "POST", headers }, (response) => {
      let text = "";
      response.on("data", (chunk) => (text += String(chunk)));
      response.on("end", () => resolve((JSON.parse(text) as { readonly code: string }).code));
    });
    call.once("error", reject);
    call.end(BODY);
  });
}

describe("attack: a proof that was overheard", () => {
  it("is refused by the other node too, and by the first one again", async () => {
    const { key, issued } = await holder();
    const proof = await proofOf(key, issued.token);
    expect(await forwarded(node(0), issued.token, proof)).toBe("approval_required");
    expect(await forwarded(node(1), issued.token, proof)).toBe("invalid_credential");
    expect(await forwarded(node(0), issued.token, proof)).toBe("invalid_credential");
    const fresh = await proofOf(key, issued.token);
    expect(await forwarded(node(1), issued.token, fresh)).toBe("approval_required");
  });

  it("that arrives at both nodes at once is taken by one of them", async () => {
    const { key, issued } = await holder();
    for (let round = 0; round < 5; round++) {
      const proof = await proofOf(key, issued.token);
      const codes = await Promise.all(nodes.map((one) => forwarded(one, issued.token, proof)));
      expect(codes.toSorted()).toEqual(["approval_required", "invalid_credential"]);
    }
  });
});

describe("a credential", () => {
  it("that was taken back on one node is refused on all of them", async () => {
    const { key, issued } = await holder();
    await node(0).server.credentials.revoke(issued.credentialId);
    for (const one of nodes)
      expect(await forwarded(one, issued.token, await proofOf(key, issued.token))).toBe("invalid_credential");
  });

  it("goes on where a node was started anew, and a proof from before does not", async () => {
    const { key, issued } = await holder();
    const used = await proofOf(key, issued.token);
    expect(await forwarded(node(0), issued.token, used)).toBe("approval_required");
    const again = createServer({ ...node(0).serverParts(), authenticate: async () => adminCaller() });
    const listening = await again.listen({ origin: ORIGIN });
    const fresh = { ...node(0), listening };
    expect(await forwarded(fresh, issued.token, used)).toBe("invalid_credential");
    expect(await forwarded(fresh, issued.token, await proofOf(key, issued.token))).toBe("approval_required");
    await listening.close();
  });
});
