/**
 * A pinned OpenID provider, from the npm registry into the cache folder, and one of it on a port of this machine.
 * No script of the package runs.
 */
import { execFile } from "node:child_process";
import { generateKeyPairSync } from "node:crypto";
import { existsSync, mkdirSync, renameSync, rmSync } from "node:fs";
import { type RequestListener, createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { homedir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { promisify } from "node:util";

const NAME = "oidc-provider";
const VERSION = "9.13.3";

interface Provider {
  callback(): RequestListener;
}
type ProviderClass = new (issuer: string, configuration: object) => Provider;

export interface OidcProvider {
  readonly issuer: string;
  readonly clientId: string;
  readonly clientSecret: string;
  /** Once it is known where the way back leads. */
  serve(redirectUri: string, claimsOf: (login: string) => object): Promise<void>;
  close(): Promise<void>;
}

export async function startOidcProvider(): Promise<OidcProvider> {
  let answer: RequestListener = (_, response) => void response.writeHead(503).end();
  const server = createServer((request, response) => answer(request, response));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const clientId = "sallyport";
  const clientSecret = "a secret of the tests that is long enough";
  return {
    issuer,
    clientId,
    clientSecret,
    serve: async (redirectUri, claimsOf) => {
      const { privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
      const Provider = await obtained();
      const provider = new Provider(issuer, {
        clients: [
          {
            client_id: clientId,
            client_secret: clientSecret,
            redirect_uris: [redirectUri],
            id_token_signed_response_alg: "ES256",
          },
        ],
        cookies: { keys: ["keys of the tests"] },
        jwks: { keys: [{ ...privateKey.export({ format: "jwk" }), alg: "ES256", use: "sig", kid: "k" }] },
        claims: { openid: ["sub"], profile: ["name", "groups", "organization"] },
        conformIdTokenClaims: false,
        findAccount: (_: unknown, login: string) => ({
          accountId: login,
          claims: async () => ({ sub: login, ...claimsOf(login) }),
        }),
        features: { devInteractions: { enabled: true } },
      });
      answer = provider.callback();
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

async function obtained(): Promise<ProviderClass> {
  const { SALLYPORT_CACHE: own, XDG_CACHE_HOME: xdg } = process.env;
  const cache = own || join(xdg || join(homedir(), ".cache"), "sallyport");
  const folder = join(cache, `${NAME}-${VERSION}`);
  const entry = join(folder, "node_modules", NAME, "lib", "index.js");
  if (!existsSync(entry)) await install(folder);
  const loaded = (await import(/* @vite-ignore */ pathToFileURL(entry).href)) as {
    readonly default: ProviderClass;
  };
  return loaded.default;
}

/** INVARIANT: the folder appears whole or not at all, also when several test files come at the same time. */
async function install(folder: string): Promise<void> {
  const draft = `${folder}.${process.pid}`;
  rmSync(draft, { recursive: true, force: true });
  mkdirSync(draft, { recursive: true });
  const quiet = ["--no-save", "--no-package-lock", "--ignore-scripts", "--no-audit", "--no-fund"];
  const command = ["install", "--prefix", draft, ...quiet, "--loglevel=error", `${NAME}@${VERSION}`];
  try {
    await promisify(execFile)("npm", command, { cwd: draft });
    renameSync(draft, folder);
  } catch (error) {
    // Another process may have been first; its copy is as good.
    if (!existsSync(folder)) throw error;
  } finally {
    rmSync(draft, { recursive: true, force: true });
  }
}
