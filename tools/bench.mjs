// @ts-check
/** Purpose: `npm run bench -- NAME [--json] [--quick]`: one benchmark; without NAME, the list of them. */
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { build } from "./build.mjs";
import { ensureFolderInstalled, ensureInstalled, root, run } from "./setup.mjs";

const folder = join(root, "bench");
const peers = join(folder, "peers");

/** Every bench/NAME.mjs. */
function names() {
  const files = existsSync(folder) ? readdirSync(folder) : [];
  return files
    .filter((file) => file.endsWith(".mjs"))
    .map((file) => file.slice(0, -".mjs".length))
    .toSorted();
}

/** @param {string | undefined} name @param {readonly string[]} rest @returns {Promise<number>} exit code */
async function bench(name, rest) {
  await ensureInstalled();
  if (name === undefined || !names().includes(name)) {
    if (name !== undefined) console.error(`there is no benchmark \`${name}\``);
    const list = names().map((known) => `  ${known}`);
    console.log(["usage: npm run bench -- NAME [--json] [--quick]", "", ...list].join("\n"));
    return name === undefined ? 0 : 1;
  }
  if (existsSync(join(peers, "package.json"))) await ensureFolderInstalled(peers);
  return (await build()) || run(process.execPath, [join(folder, `${name}.mjs`), ...rest]);
}

const args = process.argv.slice(2);
const name = args.find((arg) => !arg.startsWith("-"));
process.exitCode = await bench(
  name,
  args.filter((arg) => arg !== name),
);
