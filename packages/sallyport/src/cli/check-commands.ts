/**
 * `sallyport check`: what would happen, without registering anything. One access by arguments, or JSON lines on stdin
 * with what is expected of each: a test of a policy.
 */
import { createInterface } from "node:readline";
import type { AdminClient } from "@sallyport/client/admin";
import { CHECK_CODES, OUTCOMES, PHASES, type Phase, parseSubject } from "@sallyport/contract";
import { type Trial, type TrialAnswer, trialAnswerWire, trialWire } from "@sallyport/contract/admin";
import { type Command, Option } from "commander";
import { CliFault } from "./cli-fault.ts";
import { type CommandLine, addLeaf } from "./command-line.ts";
import { type ExitName, exitOf } from "./exit-code.ts";
import { type FilterOptions, sessionFilter, sessionOptions } from "./filter-options.ts";
import { printableJson } from "./printable.ts";

interface CheckOptions extends FilterOptions {
  readonly phase?: Phase;
  readonly explain?: boolean;
}

const LINE_LENGTH_MAX = 65_536;

export function addCheckCommand(program: Command, cli: CommandLine): void {
  addLeaf<CheckOptions>(program, cli, {
    name: "check",
    description: "say what would happen; nothing is registered. Without arguments: JSON lines on stdin",
    shape: (command) =>
      sessionOptions(
        command
          .argument("[subject-type]", "such as `tool`")
          .argument("[subject-name]", "such as `demo.read_file`")
          .argument("[resource-type]", "such as `filesystem`")
          .argument("[operation]", "such as `read`")
          .argument("[target]", "a URL, a path or a program name")
          .addOption(new Option("--phase <phase>", "in this phase").choices([...PHASES]))
          .option("--explain", "every step that was looked at, and what would have allowed it"),
      ),
    run: (line, options, args) =>
      args.length === 0 ? checkLines(line, options) : checkOne(line, options, args),
  });
}

async function checkOne(cli: CommandLine, options: CheckOptions, args: readonly string[]): Promise<ExitName> {
  const [subjectType, subjectName, type, operation, target] = args;
  if (type === undefined || operation === undefined || target === undefined)
    throw new CliFault({
      exit: "usage",
      message: "a check needs five words",
      next: "for example `sallyport check tool demo.read_file filesystem read /tmp/x`",
    });
  const subject = parseSubject(subjectType, subjectName);
  if (!subject.ok) throw new CliFault({ exit: "invalid", code: subject.code, message: subject.message });
  const { organizationId = null, userId = null, sessionKey = null } = sessionFilter(options);
  const trial = {
    subject: subject.value,
    resource: { type, operation, target },
    explain: options.explain === true,
    session: { organizationId, userId, sessionKey },
    ...(options.phase === undefined ? {} : { phase: options.phase }),
  } as unknown as Trial;
  const answer = await cli.withOwner(options, (admin) => admin.check(trial));
  if (options.json === true) cli.terminal.json(trialAnswerWire.format(answer));
  else printAnswer(cli, answer);
  return exitOf(answer.check.code);
}

function printAnswer({ terminal }: CommandLine, { check, explanation }: TrialAnswer): void {
  const style = check.allowed ? "green" : check.requiresApproval ? "yellow" : "red";
  terminal.line(`${terminal.paint(style, check.code)}  ${terminal.shown(check.message)}`);
  if (explanation === null) return;
  terminal.line(`  ${terminal.shown(explanation.because)}`);
  for (const step of explanation.steps) terminal.line(`  ${terminal.paint("dim", terminal.shown(step))}`);
  for (const remedy of explanation.remedies) terminal.line(`  would allow it: ${terminal.shown(remedy)}`);
}

interface LineResult {
  readonly line: number;
  readonly ok: boolean;
  readonly text: string;
}

/** Every line is answered on a line; ends with 1 where something that was expected is not so. */
async function checkLines(cli: CommandLine, options: CheckOptions): Promise<ExitName> {
  const { stdin } = cli.terminal.streams;
  if (stdin.isTTY === true)
    throw new CliFault({
      exit: "usage",
      message: "name what to check, or give JSON lines on stdin",
      next: 'a line is `{"subject": {"type": "tool", "name": "…"}, "resource": {"type": "…", "operation": "…", "target": "…"}, "expect": "allowed"}`',
    });
  let [lines, failed] = [0, 0];
  await cli.withOwner(options, async (admin) => {
    for await (const text of createInterface({ input: stdin, crlfDelay: Infinity })) {
      if (text.trim() === "") continue;
      const result = await checkLine(admin, ++lines, text);
      if (!result.ok) failed++;
      cli.terminal.streams.stdout.write(`${result.text}\n`);
    }
  });
  cli.terminal.note(`${lines} checked, ${failed} not as expected`);
  return failed === 0 ? "done" : "failed";
}

async function checkLine(admin: AdminClient, line: number, text: string): Promise<LineResult> {
  const bad = (message: string): LineResult => ({
    line,
    ok: false,
    text: printableJson({ line, ok: false, code: "invalid_request", message }),
  });
  if (text.length > LINE_LENGTH_MAX) return bad("the line is too long");
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch {
    return bad("the line is no JSON");
  }
  if (typeof json !== "object" || json === null) return bad("the line must be a JSON object");
  const { expect: expected, ...rest } = json as Readonly<Record<string, unknown>>;
  if (expected !== undefined && !isExpectation(expected))
    return bad(`\`expect\` must be a code or one of ${OUTCOMES.join(", ")}`);
  const trial = trialWire.parse(rest);
  if (!trial.ok) return bad(trial.faults.map(({ pointer, message }) => `${pointer} ${message}`).join("; "));
  const { check, explanation } = await admin.check(trial.value);
  const { code } = check;
  const ok = expected === undefined || expected === code || expected === CHECK_CODES[code];
  const answer = trialAnswerWire.format({ check, explanation });
  return { line, ok, text: printableJson({ line, ok, code, expected: expected ?? null, ...answer }) };
}

function isExpectation(value: unknown): boolean {
  return (
    typeof value === "string" && (Object.hasOwn(CHECK_CODES, value) || OUTCOMES.includes(value as never))
  );
}
