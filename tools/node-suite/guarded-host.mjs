// @ts-check
/**
 * Purpose: a host whose one subject may do everything that can be declared, so that Node's own tests run under a guard
 * that checks every call and refuses none for want of a rule.
 */
import { mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const SUBJECT = /** @type {const} */ ({ type: "module", name: "node_suite" });
const USER = { id: 21, roles: ["member"] };
/** WHY auto: tests name hosts and unix sockets that no manifest could list before. */
const CALLER = Object.freeze({
  user: USER,
  organizationId: 7,
  sessionKey: "s",
  mode: /** @type {const} */ ("auto"),
});
const HOSTS = ["localhost", "0.0.0.0", "[::]"];
const IMPORTS = ["child_process", "worker_threads", "vm", "module", "cluster", "wasi"];
const FILES = ["read", "create", "modify", "delete", "execute"];
const NETWORK = ["connect", "receive", "send"];

/** @typedef {{ start(node: string, args: readonly string[], how: { cwd: string, env: Record<string, string> }): import("node:child_process").ChildProcess, close(): Promise<void> }} GuardedHost */

/** @param {string} code the folder that the tests are loaded from @returns {Promise<GuardedHost>} */
export async function openHost(code) {
  const { guardLaunch } = await import("@sallyport/guard");
  const { createSallyport } = await import("sallyport");
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "sp-node-suite-")));
  const host = await createSallyport({
    dataFolder: join(folder, "data"),
    classifier: async () => ({ answer: "allow", ref: "node-suite" }),
    rate: { burst: 1_000_000, perSecond: 1_000_000 },
  });
  const access = [
    ...FILES.map((operation) => ({ resource_type: "filesystem", operation, target: "/" })),
    ...NETWORK.flatMap((operation) =>
      HOSTS.map((target) => ({ resource_type: "network", operation, target })),
    ),
  ];
  const manifest = { access, allowed_imports: IMPORTS };
  const answer = host.registry.registerModule({ name: SUBJECT.name, root: code, manifest });
  if (!answer.ok) throw new Error(answer.message);
  return {
    start: (node, args, { cwd, env }) => {
      const launch = guardLaunch({ codeRoots: [code], waitMs: 0 });
      return host.runtime.run(SUBJECT, CALLER, () =>
        host.runtime.spawn(node, [...launch.args, ...args], {
          cwd,
          use: "own",
          stdio: ["ignore", "pipe", "pipe"],
          env: { ...launch.env, ...env },
        }),
      );
    },
    close: async () => {
      await host.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
