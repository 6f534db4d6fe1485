/**
 * Real programs behind a real gateway: local servers that write down what reaches them, names that lead to them, and
 * decisions that a test makes and changes. Nothing here leaves the machine.
 */
import { once } from "node:events";
import { type Server as HttpServer, createServer } from "node:http";
import { createServer as createHttpsServer } from "node:https";
import { type AddressInfo, type Server, createServer as createTcpServer } from "node:net";
import {
  type Host,
  type ExpandedRule,
  type UrlTarget,
  parseNetworkTarget,
  whatwgUrl,
} from "@sallyport/contract";
import { type CertificateAuthority, openAuthority } from "../egress/certificate-authority.ts";
import type { EgressOptions } from "../egress/egress-gateway.ts";
import type { NetworkDecider, NetworkQuestion, NetworkRuling, Refusal } from "../egress/network-question.ts";
import {
  type Ended,
  IDENTITIES,
  type RunOptions,
  type Workshop,
  openWorkshop,
  rules,
} from "./sandbox-fixture.ts";

type Operation = NetworkQuestion["operation"];

export interface Violation extends NetworkQuestion {
  readonly refusal: Refusal | undefined;
}

/** Decides by a list of endpoints and URLs that a test changes; what is not on it is asked, and waits for `answer`. */
export class TestDecider implements NetworkDecider {
  readonly subject = { type: "tool", name: "demo.net" };
  readonly allowed: { operation: Operation; target: string }[] = [];
  readonly asked: NetworkQuestion[] = [];
  readonly spent: NetworkQuestion[] = [];
  readonly violations: Violation[] = [];
  /** Absent: whoever is asked says no at once. */
  answer: ((question: NetworkQuestion) => Promise<boolean>) | undefined;
  /** When every approval ends. */
  expiresAtMs: number | undefined;
  readonly #listeners = new Set<() => void>();

  allow(target: string, ...operations: readonly Operation[]): this {
    for (const operation of operations) this.allowed.push({ operation, target });
    return this;
  }

  revoke(): void {
    this.allowed.length = 0;
    for (const listener of this.#listeners) listener();
  }

  watch(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  foresees({ operation, target, address }: NetworkQuestion): boolean {
    const isLoopback = address !== undefined && address.startsWith("127.") && !target.includes("localhost");
    return this.allowed.some(
      (rule) =>
        rule.operation === operation && covers(rule.target, target) && (!isLoopback || this.mayRebind),
    );
  }

  /** WHY: the servers of the tests are on loopback, which a name must not lead to; the real decision is tested apart. */
  mayRebind = true;

  /** Whoever is asked waits from now on. Resolves with what answers the question, as soon as there is one. */
  nextQuestion(): Promise<(allowed: boolean) => void> {
    return new Promise((resolve) => {
      this.answer = () => new Promise((settle) => resolve(settle));
    });
  }

  async ask(question: NetworkQuestion, signal: AbortSignal): Promise<NetworkRuling> {
    if (this.foresees(question)) return ruling(true);
    this.asked.push(question);
    if (this.answer === undefined || signal.aborted) return ruling(false);
    if (!(await this.answer(question))) return ruling(false);
    this.allowed.push({ operation: question.operation, target: question.target });
    return ruling(true);
  }

  async spend(question: NetworkQuestion, signal: AbortSignal): Promise<NetworkRuling> {
    const answer = await this.ask(question, signal);
    if (answer.allowed) this.spent.push(question);
    else this.violated(question);
    return { ...answer, expiresAtMs: this.expiresAtMs };
  }

  /** What is allowed is declared, and known without asking. */
  hasMemory = true;

  spendDeclared(question: NetworkQuestion): boolean {
    const isDeclared = this.hasMemory && this.expiresAtMs === undefined && this.foresees(question);
    if (isDeclared) this.spent.push(question);
    return isDeclared;
  }

  recall(question: NetworkQuestion): Promise<NetworkRuling> {
    return Promise.resolve(ruling(this.foresees(question)));
  }

  violated(question: NetworkQuestion, refusal?: Refusal): void {
    this.violations.push({ ...question, refusal });
  }
}

function ruling(allowed: boolean): NetworkRuling {
  return allowed
    ? { allowed, code: "allowed_sandbox", message: "allowed", decision: "allowed", source: "manifest" }
    : {
        allowed,
        code: "approval_required",
        message: "tool:demo.net may not do this: ask",
        decision: "asked",
        source: "mode",
        requestId: "request-1",
      };
}

/** A rule is an origin, an endpoint or a URL with a path; compared by the contract's own parsers. */
function covers(rule: string, target: string): boolean {
  const [wide, narrow] = [parseNetworkTarget(rule, whatwgUrl), parseNetworkTarget(target, whatwgUrl)];
  if (!wide.ok || !narrow.ok || wide.value.form === "unix" || narrow.value.form === "unix") return false;
  if (wide.value.host !== narrow.value.host) return false;
  if (wide.value.form === "endpoint")
    return wide.value.port === undefined || wide.value.port === narrow.value.port;
  if (wide.value.port !== narrow.value.port) return false;
  if (narrow.value.form === "endpoint") return wide.value.path === "/";
  const isSameLevel = isSecure(wide.value) === isSecure(narrow.value);
  return isSameLevel && (wide.value.path === "/" || wide.value.path === narrow.value.path);
}

function isSecure({ scheme }: UrlTarget): boolean {
  return scheme === "https" || scheme === "wss";
}

export interface Served {
  readonly port: number;
  /** `METHOD path` of what arrived, with the name that was asked for. */
  readonly seen: string[];
  readonly server: HttpServer | Server;
  close(): void;
}

export interface EgressWorkshop extends Workshop {
  /** Of the servers outside; the gateway trusts it, programs do not. */
  readonly authority: CertificateAuthority;
  readonly web: Served;
  readonly secureWeb: Served;
  /** Answers every connection with a line at once, then echoes. */
  readonly echo: Served;
  egress(decider: TestDecider, more?: Partial<EgressOptions>): EgressOptions;
  net(script: string, decider: TestDecider, options?: NetOptions): Promise<Ended>;
  /** Starts a program that is heard while it runs. */
  talk(script: string, decider: TestDecider): Talking;
}

export interface Talking extends ReturnType<Workshop["start"]> {
  /** Resolves when it has printed the words; rejects where it ends before. */
  printed(words: string): Promise<void>;
  readonly ended: Promise<unknown>;
  /** All that it has printed. */
  text(): string;
}

export interface NetOptions extends RunOptions {
  readonly gateway?: Partial<EgressOptions>;
  readonly network?: readonly ExpandedRule[];
  readonly isProxied?: boolean;
}

const PROXY_NAMES = ["http_proxy", "https_proxy", "all_proxy", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"];
/** Set to nothing: a program without proxy variables. */
export const NO_PROXIES: Readonly<Record<string, undefined>> = Object.fromEntries(
  PROXY_NAMES.map((name) => [name, undefined]),
);

export const READS = [...rules("/etc/", "read"), ...rules("/usr/", "read"), ...rules("/dev/", "read")];

export async function openEgressWorkshop(): Promise<EgressWorkshop> {
  const identity = IDENTITIES.at(-1);
  if (identity === undefined) throw new Error("there is always an identity");
  const workshop = await openWorkshop(identity);
  const authority = openAuthority(Date.now());
  const web = await serve(createServer());
  const { certificates: cert, key } = authority.certify("secure.test" as Host);
  const secureWeb = await serve(createHttpsServer({ cert, key }));
  const echo = await serveEcho();
  const egress: EgressWorkshop["egress"] = (decider, more = {}) => ({
    decider,
    // WHY so long: a program on a loaded machine takes its time, and is not asked about what it has not said.
    silentMs: 60_000,
    authorities: [authority.certificate],
    resolve: (name) => Promise.resolve(name.endsWith(".test") ? ["127.0.0.1"] : []),
    ...more,
  });
  return {
    ...workshop,
    authority,
    web,
    secureWeb,
    echo,
    egress,
    net: (script, decider, { gateway, network = [], isProxied = false, ...options } = {}) =>
      workshop.shell(script, {
        egress: egress(decider, gateway),
        env: isProxied ? {} : NO_PROXIES,
        ...options,
        allow: [...READS, ...network, ...(options.allow ?? [])],
        rules: { network: "gateway", ...options.rules },
      }),
    talk: (script, decider) =>
      talking(
        workshop.start("/bin/sh", ["-c", script], {
          egress: egress(decider),
          env: NO_PROXIES,
          allow: READS,
          rules: { network: "gateway" },
          ruling: "allow",
        }),
      ),
    close: () => {
      for (const served of [web, secureWeb, echo]) served.close();
      workshop.close();
    },
  };
}

function talking(confined: ReturnType<Workshop["start"]>): Talking {
  let text = "";
  const output = confined.child.stdout;
  output?.setEncoding("utf8").on("data", (chunk: string) => (text += chunk));
  const ended = once(confined.child, "close");
  const printed = async (words: string): Promise<void> => {
    while (!text.includes(words)) {
      if (output === null) throw new Error("no output");
      await Promise.race([once(output, "data"), ended]);
      if (!text.includes(words) && confined.child.exitCode !== null) throw new Error(`ended: ${text}`);
    }
  };
  return { ...confined, printed, ended, text: () => text };
}

export const python = (script: string): string => `/usr/bin/python3 -I - <<'END'\n${script}\nEND`;

/** Says what it hears from the server that echoes, and when that is over. */
export const echoProgram = ({ echo }: EgressWorkshop): string =>
  python(`
import socket
s = socket.create_connection(("echo.test", ${echo.port}), 60)
print("heard", s.recv(100).decode().strip(), flush=True)
try:
    print("then", s.recv(100) or "end", flush=True)
except ConnectionError:
    print("then end", flush=True)`);

async function serve(server: HttpServer): Promise<Served> {
  const seen: string[] = [];
  server.on("request", (req, res) => {
    seen.push(`${req.method} ${req.headers.host} ${req.url}`);
    let size = 0;
    req.on("data", (chunk: Buffer) => (size += chunk.length));
    req.on("end", () => {
      res.setHeader("content-type", "text/plain");
      res.end(`hello ${req.method} ${req.url} ${size}\n`);
    });
  });
  return listening(server, seen, () => server.closeAllConnections());
}

async function serveEcho(): Promise<Served> {
  const seen: string[] = [];
  const server = createTcpServer((socket) => {
    seen.push("connection");
    socket.on("error", () => socket.destroy());
    socket.write("first word\n");
    socket.on("data", (chunk: Buffer) => {
      seen.push(chunk.toString("latin1"));
      socket.write(chunk);
    });
  });
  return listening(server, seen, () => undefined);
}

async function listening(server: HttpServer | Server, seen: string[], stop: () => void): Promise<Served> {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    port,
    seen,
    server,
    close: () => {
      server.close();
      stop();
    },
  };
}
