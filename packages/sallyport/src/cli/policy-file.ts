/**
 * `sallyport policy export|import`: mode and rules as one file that can be kept beside the code. A file with a fault
 * changes nothing. INVARIANT: while it is taken in, what is denied is never less than before or after: deny rules come
 * first, and what is removed goes last.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { resolve } from "node:path";
import { isDeepStrictEqual } from "node:util";
import type { AdminClient } from "@sallyport/client/admin";
import type { Match, PermissionMode, RuleEffect } from "@sallyport/contract";
import { PERMISSION_MODES } from "@sallyport/contract";
import { type RuleView, type RuleWordsView, ruleWordsWire } from "@sallyport/contract/admin";
import type { Command } from "commander";
import { CliFault, refusedBy } from "./cli-fault.ts";
import { type CommandLine, type CommonOptions, addGroup, addLeaf } from "./command-line.ts";
import type { ExitName } from "./exit-code.ts";

const FORMAT = 1;

interface PolicyFile {
  readonly mode: PermissionMode;
  readonly rules: readonly RuleWordsView[];
}

interface ImportOptions extends CommonOptions {
  readonly replace?: boolean;
  readonly dryRun?: boolean;
}

export function addPolicyFileCommands(program: Command, cli: CommandLine): void {
  const group = addGroup(program, "policy", "keep mode and rules in a file");
  addLeaf<CommonOptions>(group, cli, {
    name: "export",
    description: "write mode and rules as JSON",
    shape: (command) => command.argument("[file]", "a new file; stdout unless said"),
    run: (line, options, [file]) => exportPolicy(line, options, file),
  });
  addLeaf<ImportOptions>(group, cli, {
    name: "import",
    description: "take mode and rules from a file",
    shape: (command) =>
      command
        .argument("<file>", "as `policy export` wrote it")
        .option("--replace", "remove rules that are not in the file")
        .option("--dry-run", "only say what would change"),
    run: (line, options, [file = ""]) => importPolicy(line, options, file),
  });
}

async function exportPolicy(
  cli: CommandLine,
  options: CommonOptions,
  file: string | undefined,
): Promise<void> {
  const policy = await cli.withOwner(options, async (admin) => {
    const [{ mode }, { rules }] = [await admin.mode(), { rules: await allRules(admin) }];
    return { sallyport_policy: FORMAT, mode, rules: rules.map(wordsJson) };
  });
  if (file === undefined) {
    cli.terminal.json(policy);
    return;
  }
  const path = resolve(cli.cwd, file);
  try {
    writeFileSync(path, `${JSON.stringify(policy, null, 2)}\n`, { flag: "wx", mode: 0o600 });
  } catch {
    throw new CliFault({ exit: "failed", message: `\`${path}\` cannot be written`, next: "name a new file" });
  }
  if (options.json === true) cli.terminal.json({ file: path });
  else cli.terminal.note(`wrote ${cli.terminal.shown(path)}`);
}

async function allRules(admin: AdminClient): Promise<readonly RuleView[]> {
  return (await admin.rules()).rows;
}

function wordsJson({ rule }: RuleView): object {
  const { match, ...words } = rule;
  return ruleWordsWire.format({ ...words, target: writtenTarget(rule.target, match) });
}

/**
 * How a rule that was made from a target is written in a manifest. INVARIANT: never narrower than it was; only deny rules
 * are made from targets.
 */
function writtenTarget(target: string, match: Match | undefined): string {
  switch (match) {
    case "directory":
      return target.endsWith("/") ? target : `${target}/`;
    case "origin":
      return URL.canParse(target) ? new URL(target).origin : target;
    case "endpoint":
      return URL.canParse(target) && target.includes("://") ? new URL(target).host : target;
    case "exact":
    case "any_query":
    case "path_prefix":
    case undefined:
      return target;
  }
}

const ORDER: Readonly<Record<RuleEffect, number>> = { deny: 0, ask: 1, allow: 2 };

async function importPolicy(cli: CommandLine, options: ImportOptions, file: string): Promise<ExitName> {
  const policy = readPolicy(cli, file);
  return cli.withOwner<ExitName>(options, async (admin) => {
    const [{ mode }, there] = [await admin.mode(), await allRules(admin)];
    const wanted = policy.rules.filter(
      (words) => !there.some((view) => isDeepStrictEqual(wordsJson(view), ruleWordsWire.format(words))),
    );
    const gone =
      options.replace === true
        ? there.filter(({ rule }) => !policy.rules.some(({ id }) => id === rule.id))
        : [];
    const changes = {
      mode: mode === policy.mode ? null : policy.mode,
      set: wanted.length,
      removed: gone.length,
    };
    if (options.dryRun !== true) {
      for (const words of wanted.toSorted((left, right) => ORDER[left.effect] - ORDER[right.effect]))
        must(await admin.setRule(words));
      if (changes.mode !== null) must(await admin.setMode({ mode: changes.mode }));
      for (const { rule } of gone) must(await admin.removeRule(rule.id, "not in the imported policy"));
    }
    if (options.json === true) cli.terminal.json({ dry_run: options.dryRun === true, ...changes });
    else {
      const would = options.dryRun === true ? "would set" : "set";
      const modeWords = changes.mode === null ? "the mode stays" : `mode ${changes.mode}`;
      cli.terminal.line(`${would} ${wanted.length} rules, remove ${gone.length}; ${modeWords}`);
    }
    return "done";
  });
}

function must(answer: Awaited<ReturnType<AdminClient["setRule"]>>): void {
  if (!answer.ok) throw refusedBy(answer.code, answer.message);
}

function readPolicy(cli: CommandLine, file: string): PolicyFile {
  const path = resolve(cli.cwd, file);
  const json = parsed(path);
  const faults: string[] = [];
  if (json["sallyport_policy"] !== FORMAT) faults.push(`sallyport_policy must be ${FORMAT}`);
  const mode = json["mode"];
  if (!PERMISSION_MODES.some((one) => one === mode))
    faults.push(`mode must be one of ${PERMISSION_MODES.join(", ")}`);
  if (mode === "bypass")
    faults.push("mode must not be bypass: that one needs an end, set it by `sallyport mode`");
  const list: unknown = json["rules"];
  if (!Array.isArray(list)) faults.push("rules must be a list");
  const rules = (Array.isArray(list) ? (list as readonly unknown[]) : []).flatMap((one, index) => {
    const rule = ruleWordsWire.parse(one);
    if (rule.ok) return [rule.value];
    faults.push(...rule.faults.map(({ pointer, message }) => `/rules/${index}${pointer} ${message}`));
    return [];
  });
  if (faults.length === 0) return { mode: mode as PermissionMode, rules };
  throw new CliFault({
    exit: "invalid",
    code: "invalid_request",
    message: `\`${path}\` is no policy: ${faults.slice(0, 10).join("; ")}`,
    next: "nothing was changed; `sallyport policy export` shows the form",
  });
}

function parsed(path: string): Readonly<Record<string, unknown>> {
  let text: string;
  try {
    text = readFileSync(path, "utf8");
  } catch {
    throw new CliFault({
      exit: "not_found",
      message: `\`${path}\` cannot be read`,
      next: "name the file to import",
    });
  }
  try {
    const json: unknown = JSON.parse(text);
    if (typeof json === "object" && json !== null) return json as Readonly<Record<string, unknown>>;
  } catch {
    // Falls through: what is no JSON is no policy.
  }
  throw new CliFault({
    exit: "invalid",
    code: "invalid_request",
    message: `\`${path}\` is no JSON object`,
    next: "nothing was changed; `sallyport policy export` shows the form",
  });
}
