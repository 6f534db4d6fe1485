/**
 * Files that a program with a gateway sees in place of the host's own: where names are asked for, no names of the
 * host, and the certificates that hold inside. The variables that lead programs there belong to them.
 */
import { chmodSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { rootCertificates } from "node:tls";
import type { Confinement, Grant } from "../profile/confinement.ts";
import { isWithin } from "../profile/covered-path.ts";
import { OPERATION_RIGHTS } from "../profile/landlock-right.ts";
import { CATCH_PORT } from "./egress-gateway.ts";
import { RESOLVER_ADDRESS } from "./synthetic-names.ts";

export interface SandboxFiles {
  readonly covers: readonly { readonly source: string; readonly path: string }[];
  readonly environment: Readonly<Record<string, string>>;
  /** The confinement with these files readable. */
  widen(confinement: Confinement): Confinement;
  remove(): void;
}

const READABLE_FOLDER = 0o755;
const READABLE_FILE = 0o444;

/** Where systems keep the certificates that they trust. */
const BUNDLES: readonly string[] = [
  "/etc/ssl/certs/ca-certificates.crt",
  "/etc/pki/tls/certs/ca-bundle.crt",
  "/etc/ssl/ca-bundle.pem",
  "/etc/ssl/cert.pem",
];

const BUNDLE_VARIABLES: readonly string[] = [
  "NODE_EXTRA_CA_CERTS",
  "SSL_CERT_FILE",
  "CURL_CA_BUNDLE",
  "GIT_SSL_CAINFO",
  "REQUESTS_CA_BUNDLE",
  "PIP_CERT",
  "CARGO_HTTP_CAINFO",
  "npm_config_cafile",
];

const PROXY_URL = `http://127.0.0.1:${CATCH_PORT}`;
const LOCAL_HOSTS = "localhost,127.0.0.1,::1";

export function writeSandboxFiles(certificate: string): SandboxFiles {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "sallyport-view-")));
  chmodSync(folder, READABLE_FOLDER);
  const write = (name: string, text: string): string => {
    const path = join(folder, name);
    writeFileSync(path, text, { mode: READABLE_FILE });
    return path;
  };
  const bundles = BUNDLES.flatMap(realFile);
  const trusted =
    bundles.length === 0 ? `${rootCertificates.join("\n")}\n` : readFileSync(bundles[0] as string, "utf8");
  const bundle = write("certificates.pem", `${trusted}\n${certificate}`);
  const resolver = write("resolv.conf", `nameserver ${RESOLVER_ADDRESS}\n`);
  const hosts = write("hosts", "127.0.0.1 localhost\n::1 localhost\n");
  const covers = [
    ...realFile("/etc/resolv.conf").map((path) => ({ source: resolver, path })),
    ...realFile("/etc/hosts").map((path) => ({ source: hosts, path })),
    ...[...new Set(bundles)].map((path) => ({ source: bundle, path })),
  ];
  const seen = bundles[0] ?? bundle;
  return Object.freeze({
    covers,
    environment: Object.freeze({ ...certificateVariables(seen), ...proxyVariables() }),
    widen: (confinement: Confinement) => widened(confinement, [...covers.map(({ path }) => path), seen]),
    remove: () => rmSync(folder, { recursive: true, force: true }),
  });
}

function certificateVariables(path: string): Readonly<Record<string, string>> {
  return Object.fromEntries(BUNDLE_VARIABLES.map((name) => [name, path]));
}

function proxyVariables(): Readonly<Record<string, string>> {
  const names = ["http_proxy", "https_proxy", "all_proxy"].flatMap((name) => [name, name.toUpperCase()]);
  const variables = Object.fromEntries(names.map((name) => [name, PROXY_URL]));
  return { ...variables, no_proxy: LOCAL_HOSTS, NO_PROXY: LOCAL_HOSTS };
}

/**
 * WHY held by Landlock: outside another file has that name, so that nothing can be opened there on behalf; and a file
 * that covers another cannot be replaced.
 */
function widened(confinement: Confinement, paths: readonly string[]): Confinement {
  const isRead = (path: string): boolean =>
    confinement.grants.some(
      ({ operations, reach, path: granted }) =>
        operations.includes("read") && (reach === "tree" ? isWithin(path, granted) : path === granted),
    );
  const own = [...new Set(paths)].filter((path) => isRead(path) || path.includes("/sallyport-view-"));
  const read: Grant["operations"] = ["read"];
  const grants = own.map((path): Grant =>
    Object.freeze({ path, reach: "exact", operations: read, landlocked: read }),
  );
  const rights = own.map((path) => Object.freeze({ path, rights: OPERATION_RIGHTS.read }));
  return Object.freeze({
    ...confinement,
    grants: Object.freeze([...confinement.grants, ...grants]),
    rights: Object.freeze([...confinement.rights, ...rights]),
  });
}

function realFile(path: string): readonly string[] {
  try {
    return [realpathSync(path)];
  } catch {
    return [];
  }
}
