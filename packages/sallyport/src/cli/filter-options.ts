/** Options that narrow a list: one for each identity field, never a joined one. */
import { OPERATIONS, RESOURCE_TYPES, SUBJECT_TYPES } from "@sallyport/contract";
import type { AdminIdentityFilter, AdminPageRequest, AdminSessionFilter } from "@sallyport/contract/admin";
import { type Command, InvalidArgumentError, Option } from "commander";
import { type CommonOptions, countOption } from "./command-line.ts";

export interface FilterOptions extends CommonOptions, AdminIdentityFilter {
  readonly organization?: number | string | null;
  readonly user?: number | string | null;
  readonly session?: string | null;
  readonly task?: string | null;
  readonly limit?: number;
  readonly after?: string;
  readonly order?: "newest" | "oldest";
}

const OPERATION_NAMES = [...new Set(Object.values(OPERATIONS).flat())];

export function identityOptions(command: Command): Command {
  return command
    .addOption(new Option("--subject-type <type>", "of this subject type").choices([...SUBJECT_TYPES]))
    .option("--subject-name <name>", "of the subject with this name")
    .addOption(new Option("--resource-type <type>", "on this resource type").choices([...RESOURCE_TYPES]))
    .addOption(new Option("--operation <operation>", "with this operation").choices(OPERATION_NAMES))
    .option("--target <target>", "on exactly this target");
}

export function sessionOptions(command: Command): Command {
  return command
    .option(
      "--organization <id>",
      'of this organization (`"7"` for a text, `null` for none)',
      principalOption,
    )
    .option("--user <id>", 'of this user (`"21"` for a text, `null` for none)', principalOption)
    .option("--session <key>", "of this session key (`null` for none)", nullableOption);
}

export function pageOptions(command: Command): Command {
  return command
    .option("--limit <count>", "how many at most", countOption)
    .option("--after <cursor>", "go on after this page")
    .addOption(new Option("--order <order>", "which come first").choices(["newest", "oldest"]));
}

export function identityFilter(options: FilterOptions): AdminIdentityFilter {
  const { subjectType, subjectName, resourceType, operation, target } = options;
  return { subjectType, subjectName, resourceType, operation, target };
}

export function sessionFilter(options: FilterOptions): AdminSessionFilter {
  const { organization: organizationId, user: userId, session: sessionKey } = options;
  return { organizationId, userId, sessionKey };
}

export function pageOf({ limit, after, order }: FilterOptions): AdminPageRequest {
  return { limit, after, order };
}

/** `21` is a number and `"21"` a text: they are two. */
export function principalOption(text: string): number | string | null {
  if (text === "null") return null;
  if (/^-?[0-9]+$/.test(text)) {
    const number = Number(text);
    if (Number.isSafeInteger(number)) return number;
    throw new InvalidArgumentError("is too large for a number: write it in quotation marks for a text");
  }
  return textOption(text);
}

export function nullableOption(text: string): string | null {
  return text === "null" ? null : textOption(text);
}

function textOption(text: string): string {
  if (!text.startsWith('"')) return text;
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === "string") return value;
  } catch {
    // Falls through: what is no JSON text is a fault of whoever typed it.
  }
  throw new InvalidArgumentError("close the quotation marks");
}
