/**
 * `sallyport learn`: runs a program while nothing but deny rules and denials blocks it, takes down everything that it asks
 * for, and drafts the narrowest manifest that covers it, as a difference to the one that is there. Grants nothing: what
 * comes out is a file that a person reads.
 * What a program other than Node does is seen where the kernel is asked (`--sandbox`); of a Node the guard sees it.
 */
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { connect } from "node:net";
import { type Draft, type Seen, declaredCover, draftManifest } from "@sallyport/runtime";
import type { Command } from "commander";
import { runSocketOf } from "../data-folder.ts";
import { CliFault } from "./cli-fault.ts";
import { type CommandLine, type CommonOptions, addLeaf } from "./command-line.ts";
import { dataFolderOf } from "./data-place.ts";
import { readDoorLine } from "./door-line.ts";
import { draftLines, draftView, mergedManifest } from "./learn/draft-view.ts";
import { openRunOwner } from "./owner.ts";
import { runConfined } from "./run/confined-run.ts";
import { runPlain } from "./run/plain-run.ts";
import { programForm } from "./run/program-form.ts";
import { codeOption, codeRoots, manifestSource } from "./run/program-source.ts";
import type { RunTerms } from "./run/run-terms.ts";
import type { LearnedWords } from "./run-door.ts";
import { tryingSocket } from "./socket-fetch.ts";

interface LearnOptions extends CommonOptions {
  readonly manifest?: string;
  readonly root?: string;
  readonly sandbox?: boolean;
  readonly code: readonly string[];
  readonly write?: boolean;
}

export function addLearnCommand(program: Command, cli: CommandLine): void {
  addLeaf<LearnOptions>(program, cli, {
    name: "learn",
    description: "run a program, see what it needs, and draft the narrowest manifest that covers it",
    shape: (command) =>
      command
        .passThroughOptions()
        .argument("<program>", "the program")
        .argument("[args...]", "its arguments")
        .option("--manifest <file>", "the manifest to compare with, and to write to")
        .option("--root <folder>", "where relative targets start (the folder of the manifest unless said)")
        .option(
          "--sandbox",
          "see what every program does, by the kernel; always so where Node does not run it",
        )
        .option("--code <folder>", "a folder of its own code, read without a question", codeOption, [])
        .option("--write", "write the draft into the manifest"),
    run: (line, options, [name = "", ...args]) => learn(line, options, name, args),
  });
}

async function learn(
  cli: CommandLine,
  options: LearnOptions,
  name: string,
  args: readonly string[],
): Promise<number> {
  if (options.write === true && options.manifest === undefined)
    throw new CliFault({ exit: "usage", message: "`--write` needs `--manifest`: say which file" });
  const { file, text: manifest, root } = manifestSource(cli.cwd, options);
  const folder = dataFolderOf(cli, options);
  const socketPath = runSocketOf(folder);
  const owner = (await tryingSocket(socketPath)) === "answers" ? undefined : await openRunOwner(folder);
  try {
    const sessionKey = `learn-${randomUUID()}`;
    const terms = termsOf({ cli, options, name, args, manifest, root, folder, socketPath, sessionKey });
    const isConfined = options.sandbox === true || !terms.program.isNode;
    const code = await (isConfined ? runConfined(terms) : runPlain(terms));
    const seen = await learnedFrom(socketPath, sessionKey);
    const draft = drafted(seen, manifest, root);
    const merged = mergedManifest(manifest, draft);
    requireCover(seen, draft, merged, root);
    if (options.json === true) cli.terminal.json(draftView(draft, merged, code));
    else for (const line of draftLines(draft, cli.terminal)) cli.terminal.line(line);
    if (options.write === true && file !== undefined) {
      writeFileSync(file, `${JSON.stringify(merged, null, 2)}\n`);
      cli.terminal.note(cli.terminal.shown(`written to ${file}: read it before you run by it`));
    }
    return code;
  } finally {
    await owner?.close();
  }
}

interface LearnParts {
  readonly cli: CommandLine;
  readonly options: LearnOptions;
  readonly name: string;
  readonly args: readonly string[];
  readonly manifest: string;
  readonly root: string;
  readonly folder: string;
  readonly socketPath: string;
  readonly sessionKey: string;
}

function termsOf({ cli, options, name, args, ...parts }: LearnParts): RunTerms {
  const program = programForm(name, args, cli);
  if (program === undefined)
    throw new CliFault({ exit: "not_found", message: `\`${name}\` is not there or cannot be started` });
  const { manifest, root, sessionKey } = parts;
  return {
    cli,
    dataFolder: parts.folder,
    socketPath: parts.socketPath,
    words: { manifest, root, subject: null, sessionKey, taskId: null, interactive: false, learns: true },
    program,
    announce: ({ subject }) =>
      cli.terminal.note(
        cli.terminal.paint(
          "dim",
          cli.terminal.shown(`learning from ${subject.type} ${subject.name}: nothing but denials blocks it`),
        ),
      ),
    trapSet: "all",
    limits: {},
    wallMs: 0,
    waitMs: 0,
    isGuarded: true,
    codeRoots: codeRoots(cli.cwd, options.code),
    env: {},
    // WHY: the draft is the result of this command, and the only thing on its output.
    output: "stderr",
  };
}

async function learnedFrom(socketPath: string, learned: string): Promise<Seen> {
  const socket = connect(socketPath);
  await once(socket, "connect");
  socket.write(`${JSON.stringify({ learned } satisfies LearnedWords)}\n`);
  const { seen } = (await readDoorLine(socket)) as { readonly seen: Seen | null };
  socket.destroy();
  return seen ?? { access: [], imports: [], isCut: false };
}

function drafted(seen: Seen, manifest: string, root: string): Draft {
  const cover = declaredCover(manifest, root);
  if (!cover.ok) throw new CliFault({ exit: "invalid", code: "invalid_manifest", message: cover.message });
  const { isCovered, imports } = cover.value;
  return draftManifest(seen, { root: cover.value.root, isCovered, listedImports: imports });
}

/** INVARIANT: no draft is shown that the engine does not read as it is meant: it allows whatever it was drafted from. */
function requireCover({ access }: Seen, { leftOut }: Draft, merged: object, root: string): void {
  const cover = declaredCover(JSON.stringify(merged), root);
  if (!cover.ok)
    throw new CliFault({ exit: "failed", message: `the draft is no manifest: ${cover.message}` });
  const { isCovered } = cover.value;
  const missing = access.find((one) => !isCovered(one) && !leftOut.some(({ seen }) => seen === one));
  if (missing === undefined) return;
  const { operation, target } = missing;
  throw new CliFault({ exit: "failed", message: `the draft does not cover \`${operation}\` \`${target}\`` });
}
