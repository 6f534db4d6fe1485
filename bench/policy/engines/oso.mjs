// @ts-check
/** Purpose: oso (Polar in wasm): rules as facts, which it indexes; the folder is compared by a call back into JavaScript. */
import { onAllQueries, requirePeer } from "./engine.mjs";

/** @typedef {{ loadStr(polar: string): Promise<void>, isAllowed(...question: string[]): Promise<boolean> }} Polar */

const RULE = `
allow(subject: String, operation: String, target: String) if
  grant(subject, operation, folder) and target.startsWith(folder);
`;

/** @type {import("./engine.mjs").Engine} */
export const oso = {
  id: "oso",
  label: "oso 0.27.3 (wasm)",
  sizeMax: 10_000,
  async load(workload) {
    const { Oso } = requirePeer("oso");
    /** @type {Polar} */
    const engine = new Oso();
    const facts = workload.rules.map(
      ({ subject, resourceType, operation, folder }) =>
        `grant("${subject}", "${resourceType}.${operation}", "${folder}");`,
    );
    await engine.loadStr(RULE + facts.join("\n"));
    const subjects = workload.queries.map(({ subject }) => `${subject}`);
    const operations = workload.queries.map(({ resourceType, operation }) => `${resourceType}.${operation}`);
    const targets = workload.queries.map(({ target }) => target);
    return {
      ...onAllQueries(workload),
      async ask(from, to) {
        let allowed = 0;
        for (let at = from; at < to; at++) {
          if (await engine.isAllowed(subjects[at] ?? "", operations[at] ?? "", targets[at] ?? "")) allowed++;
        }
        return allowed;
      },
    };
  },
};
