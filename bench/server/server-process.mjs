// @ts-check
/**
 * Purpose: a server in a process of its own, so that what it takes is told apart from what its callers take. The other
 * end is `serve.mjs`; both speak in numbered messages.
 */
import { fork } from "node:child_process";
import { fileURLToPath } from "node:url";
import { Caller } from "./caller.mjs";

/** @typedef {{ cpuMs: number, residentMiB: number, stallMs: number }} Usage */

export class ServerProcess {
  /** @type {import("node:child_process").ChildProcess} */
  #child;
  #asked = 0;
  /** @type {Map<number, { resolve: (value: any) => void, reject: (error: Error) => void }>} */
  #waiting = new Map();
  origin = "";

  /** @param {"sallyport" | "bare"} what */
  static async start(what) {
    const server = new ServerProcess(what);
    server.origin = await server.ask("start");
    return server;
  }

  /** @param {"sallyport" | "bare"} what */
  constructor(what) {
    const nodeFlags = process.env["SALLYPORT_BENCH_NODE_FLAGS"]?.split(" ") ?? [];
    this.#child = fork(fileURLToPath(new URL("serve.mjs", import.meta.url)), [what], {
      execArgv: what === "sallyport" ? nodeFlags : [],
      stdio: ["ignore", 2, 2, "ipc"],
    });
    this.#child.on("message", (/** @type {{ id: number, value?: unknown, fault?: string }} */ message) => {
      const { id, value, fault } = message;
      const waiting = this.#waiting.get(id);
      this.#waiting.delete(id);
      if (fault === undefined) waiting?.resolve(value);
      else waiting?.reject(new Error(fault));
    });
    this.#child.on("exit", () => {
      for (const { reject } of this.#waiting.values()) reject(new Error("the server of the bench ended"));
    });
  }

  /** @param {string} what @param {object} [words] @returns {Promise<any>} */
  ask(what, words = {}) {
    this.#asked += 1;
    const id = this.#asked;
    return new Promise((resolve, reject) => {
      this.#waiting.set(id, { resolve, reject });
      this.#child.send({ id, what, words });
    });
  }

  /** Signed in as an administrator. */
  async administrator() {
    const caller = new Caller(this.origin);
    await caller.signIn(await this.ask("link"));
    return caller;
  }

  /** Since it was asked last. @returns {Promise<Usage>} */
  usage() {
    return this.ask("usage");
  }

  async stop() {
    const gone = new Promise((resolve) => this.#child.once("exit", resolve));
    await this.ask("stop");
    this.#child.disconnect();
    await gone;
  }
}
