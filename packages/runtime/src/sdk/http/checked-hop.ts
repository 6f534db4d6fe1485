/**
 * The check of one hop: the URL first, so that a name nobody allowed is not even looked up; then the address that will
 * be dialled, because a name can lead into this machine.
 * INVARIANT: what is dialled is the normalized URL at the address that was checked.
 */
import { ExternalAccessError, type Host, isIpLiteral } from "@sallyport/contract";
import { resolveNames } from "@sallyport/gate/targets";
import { throwBlocked } from "../access-result.ts";
import { type Normalized, askEnforced, normalized } from "../ask-access.ts";
import type { SdkGround } from "../sdk-ground.ts";

export interface Hop {
  /** Normalized. */
  readonly url: URL;
  /** Where it may be dialled, in order: addresses, or the name where the guard looks it up. */
  readonly addresses: readonly Host[];
  /** Throws where this address may not be dialled. */
  readonly allow: (address: Host) => Promise<void>;
}

export async function checkedHop(
  ground: SdkGround,
  target: string,
  operation: "receive" | "send",
): Promise<Hop> {
  const what = normalized(ground, { resourceType: "network", operation, target });
  const requested = { type: "network", operation, target };
  const { access } = what;
  const { isGuarded } = ground;
  if ("code" in access) throw new ExternalAccessError(await askEnforced(ground, what, { requested }));
  if (access.resourceType !== "network" || access.target.form !== "url")
    throw new TypeError("an HTTP call needs a whole URL that begins with `http://` or `https://`");
  const { host, scheme } = access.target;
  if (scheme !== "http" && scheme !== "https")
    throw new TypeError("an HTTP call needs a URL that begins with `http://` or `https://`");
  const enforce = async (asked: Normalized): Promise<void> =>
    throwBlocked([await askEnforced(ground, asked, { requested })]);
  const url = new URL(access.target.text);
  if (isGuarded) return { url, addresses: [host], allow: async () => undefined };
  const look = await askEnforced(ground, what, { requested, passive: true });
  if (!look.allowed) await enforce(what);
  if (isIpLiteral(host)) return { url, addresses: [host], allow: () => enforce(what) };
  const addresses = await addressesOf(ground, host);
  return { url, addresses, allow: (address) => enforce({ ...what, address }) };
}

async function addressesOf({ targets }: SdkGround, host: Host): Promise<readonly Host[]> {
  const { resolver, parseUrl, names, nowMs } = targets;
  const [resolved] = await resolveNames([host], resolver, { parseUrl, limit: 1 });
  if (resolved === undefined)
    throw Object.assign(new Error(`the name \`${host}\` could not be resolved`), { code: "ENOTFOUND" });
  names.record(host, resolved.addresses, nowMs());
  return resolved.addresses;
}
