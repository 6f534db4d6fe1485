/**
 * A pinned OpenID provider, from the npm registry into the cache folder, and one of it on a port of this machine.
 * No script of the package runs.
 */
import { generateKeyPairSync } from "node:crypto";
import { type RequestListener, createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

const tools = new URL("../../../../tools/cached-package.mjs", import.meta.url).href;
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
  const { obtainPackage } = (await import(/* @vite-ignore */ tools)) as {
    readonly obtainPackage: (name: string, version: string) => Promise<string>;
  };
  const entry = join(await obtainPackage(NAME, VERSION), "lib", "index.js");
  const loaded = (await import(/* @vite-ignore */ pathToFileURL(entry).href)) as {
    readonly default: ProviderClass;
  };
  return loaded.default;
}
