/**
 * `settings.json` in the data folder: webhooks, the identity provider, the token of a monitor. WHY there: its secrets are
 * then where no guarded code comes, whatever is declared or approved. Never prints a value of it.
 */
import { closeSync, constants, fstatSync, openSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { type ServerSettings, serverSettingsWire } from "@sallyport/contract/admin";
import type { AdminOptions } from "@sallyport/server";
import { CliFault } from "./cli-fault.ts";

export type SettingOptions = Pick<AdminOptions, "webhooks" | "oidc" | "metricsToken">;

const NAME = "settings.json";
const OTHERS = 0o077;
const FAULTS_SHOWN_MAX = 10;

/** What the file says; nothing where there is none. */
export function readSettings(folder: string): SettingOptions {
  const path = join(folder, NAME);
  const text = ownText(path);
  if (text === undefined) return {};
  const settings = serverSettingsWire.parse(jsonOf(text));
  if (settings.ok) return settingOptions(settings.value);
  const faults = settings.faults.map(({ pointer, message }) => `${pointer} ${message}`.trim());
  throw new CliFault({
    exit: "invalid",
    code: "invalid_request",
    message: `\`${path}\` is wrong: ${faults.slice(0, FAULTS_SHOWN_MAX).join("; ")}`,
    next: "docs/operations/server.md shows the form",
  });
}

/** INVARIANT: secrets that others could read are not used. */
function ownText(path: string): string | undefined {
  let file: number;
  try {
    file = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw unusable(path, "cannot be read", "make it a file of your own, and no link");
  }
  try {
    if ((fstatSync(file).mode & OTHERS) !== 0)
      throw unusable(path, "is open to others", `\`chmod 600 ${path}\`, and replace the secrets in it`);
    return readFileSync(file, "utf8");
  } finally {
    closeSync(file);
  }
}

const unusable = (path: string, what: string, next: string): CliFault =>
  new CliFault({ exit: "failed", message: `\`${path}\` ${what}`, next });

/** WHY no message of the parser: it quotes the text, and the text holds secrets. */
function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

function settingOptions({ webhooks, oidc, metricsToken }: ServerSettings): SettingOptions {
  if (oidc === undefined) return { webhooks, metricsToken };
  const { groups, groupsClaim: rolesClaim, ...words } = oidc;
  const roles = Object.fromEntries(groups.map((group) => [group.name, group.roles]));
  return { webhooks, metricsToken, oidc: { ...words, rolesClaim, roles } };
}
