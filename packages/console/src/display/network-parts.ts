/**
 * A network target, cut so that the part that says who is on the other side stands out. Works on the text that the server
 * normalized (hosts are punycode already); what does not look like one is shown whole.
 */

export interface NetworkParts {
  /** `https://`, or nothing for an endpoint. */
  readonly scheme: string;
  readonly host: string;
  /** Port, path and query. */
  readonly rest: string;
}

export function networkParts(target: string): NetworkParts | null {
  const found = /^((?:https?|wss?):\/\/)?(\[[0-9a-fA-F:.]+\]|[^/:?#[\]\s]+)(.*)$/s.exec(target);
  if (found === null || target.startsWith("unix:")) return null;
  const [, scheme = "", host = "", rest = ""] = found;
  return { scheme, host, rest };
}

export interface HostParts {
  readonly under: string;
  /** What somebody can register; the whole host where nothing is known of its suffix. */
  readonly registrable: string;
}

export type RegistrableOf = (host: string) => string | null;

export function hostParts(host: string, registrableOf: RegistrableOf | null): HostParts {
  const registrable = registrableOf?.(host) ?? null;
  if (registrable === null || !host.endsWith(registrable)) return { under: "", registrable: host };
  return { under: host.slice(0, host.length - registrable.length), registrable };
}

export const isPunycode = (host: string): boolean => /(?:^|\.)xn--/i.test(host);
