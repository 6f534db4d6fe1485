/** Real children at a real gate, and raw sockets for peers that keep to no protocol. */
import { type ChildProcess, spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { type AddressInfo, type Server, Socket, connect, createServer } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { createInterface } from "node:readline";
import type { Duplex } from "node:stream";
import { fileURLToPath } from "node:url";
import type { AskWords } from "@sallyport/gate";
import type { AccessService } from "../access-service.ts";
import type { CallerContext } from "../caller-context.ts";
import type { GateSession } from "../gate/gate-session.ts";
import { bundledProgram } from "./bundled-program.ts";

const tools = new URL("../../../../tools/build-realm.mjs", import.meta.url).href;

interface BuildTools {
  readonly buildRealm: (places: { output: string }) => Promise<string>;
  readonly bundleProgram: (entry: string, output: string) => Promise<void>;
}

export interface ChildPrograms {
  readonly folder: string;
  readonly realmScript: string;
  readonly child: string;
  readonly worker: string;
  remove(): void;
}

/** Bundled from the sources, so that a bare Node can run them. */
export async function buildChildPrograms(): Promise<ChildPrograms> {
  const { buildRealm, bundleProgram } = (await import(tools)) as BuildTools;
  const folder = mkdtempSync(join(tmpdir(), "sallyport-gate-"));
  const at = (name: string): string => join(folder, name);
  await buildRealm({ output: at("realm-script.js") });
  const here = dirname(fileURLToPath(import.meta.url));
  await bundleProgram(join(here, "gate-child-program.ts"), at("child.mjs"));
  await bundleProgram(
    join(here, "..", "..", "..", "gate", "src", "client", "gate-worker.ts"),
    at("worker.mjs"),
  );
  return {
    folder,
    realmScript: at("realm-script.js"),
    child: at("child.mjs"),
    worker: at("worker.mjs"),
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
}

/** The script of the private realm, from the sources. */
export async function buildRealmScript(output: string): Promise<string> {
  const { buildRealm } = (await import(tools)) as BuildTools;
  return buildRealm({ output });
}

/** A service that can be killed. */
export const buildHostProgram = (): Promise<string> => bundledProgram("gate-host-program.ts");

export interface ChildAnswer {
  readonly code: string;
  readonly allowed: boolean;
  readonly requestId?: string;
}

/** A guarded process with its own end of the gate. */
export class GatedChild {
  readonly process: ChildProcess;
  readonly socket: Duplex;
  readonly #open = new Map<number, (value: unknown) => void>();
  #lastId = 0;

  constructor(programs: ChildPrograms, mode: "async" | "sync") {
    const args = [programs.child, mode, programs.realmScript, programs.worker];
    this.process = spawn(process.execPath, args, { stdio: ["pipe", "pipe", "inherit", "pipe"] });
    this.socket = this.process.stdio[3] as Duplex;
    createInterface({ input: this.process.stdout as NodeJS.ReadableStream }).on("line", (line) => {
      const { id, value } = JSON.parse(line) as { readonly id: number; readonly value: unknown };
      this.#open.get(id)?.(value);
      this.#open.delete(id);
    });
  }

  ready(): Promise<unknown> {
    return new Promise((resolve) => this.#open.set(0, resolve));
  }

  run(verb: string, words?: AskWords, options?: object): Promise<ChildAnswer> {
    const id = ++this.#lastId;
    const value = new Promise((resolve) => this.#open.set(id, resolve));
    this.process.stdin?.write(`${JSON.stringify({ id, verb, words, options })}\n`);
    return value as Promise<ChildAnswer>;
  }

  async code(words: AskWords, options?: object): Promise<string> {
    return (await this.run("check", words, options)).code;
  }

  async foreseen(words: AskWords): Promise<string> {
    return (await this.run("foresee", words)).code;
  }

  async kill(): Promise<void> {
    if (this.process.exitCode !== null || this.process.signalCode !== null) return;
    const exited = new Promise((resolve) => this.process.once("exit", resolve));
    this.process.kill("SIGKILL");
    await exited;
  }
}

/** Started, bound to the caller, and ready. */
export async function startChild(
  service: AccessService,
  programs: ChildPrograms,
  caller: CallerContext,
  mode: "async" | "sync" = "async",
): Promise<{ readonly child: GatedChild; readonly session: GateSession }> {
  const child = new GatedChild(programs, mode);
  const ready = child.ready();
  const session = service.gate.attachChild(child.socket, caller);
  await ready;
  return { child, session };
}

/** Both ends of a connected socket. */
export async function socketPair(): Promise<{ readonly near: Socket; readonly far: Socket }> {
  const server: Server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  const accepted = new Promise<Socket>((resolve) => server.once("connection", resolve));
  const far = connect(port, "127.0.0.1");
  const near = await accepted;
  server.close();
  return { near, far };
}
