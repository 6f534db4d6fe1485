/**
 * One declared target, read by its resource type into a pattern and the absolute text that spells it.
 * Trusts the environment of the host; trusts nothing of the target.
 */
import type { ResourceOperation } from "../resource.ts";
import { type NetworkTarget, originText, parseNetworkTarget } from "../target/network.ts";
import { type Pattern, parsePattern } from "../target/pattern.ts";
import { parseSystemDependencyTarget } from "../target/system-dependency.ts";
import { quoted } from "../wire/json-pointer.ts";
import { isWellFormed } from "../wire/json-value.ts";
import { type PathFault, expandPath } from "./declared-path.ts";
import type { ManifestEnvironment } from "./manifest.ts";

export interface DeclaredTarget {
  readonly ok: true;
  readonly target: string;
  readonly pattern: Pattern;
  /** The target of a network rule. */
  readonly network: NetworkTarget | undefined;
  /** A filesystem target that is the subject's root or the folder of a variable itself. */
  readonly isBase: boolean;
}

export function readTarget(
  pair: ResourceOperation,
  declared: string,
  environment: ManifestEnvironment,
): DeclaredTarget | PathFault {
  if (!isWellFormed(declared))
    return bad("the target is no valid text: a surrogate stands alone", "write valid Unicode");
  switch (pair.resourceType) {
    case "network":
      return readNetwork(pair, declared, environment);
    case "filesystem": {
      const expanded = expandPath(declared, environment);
      if (!expanded.ok) return expanded;
      const pattern = parsePattern("filesystem", expanded.target, environment.parseUrl);
      if (!pattern.ok)
        return bad(pattern.message, "write an absolute path, or one inside the subject's root folder");
      return {
        ok: true,
        target: expanded.target,
        pattern: pattern.value,
        network: undefined,
        isBase: expanded.isBase,
      };
    }
    case "system_dependency": {
      const parsed = parseSystemDependencyTarget(declared);
      if (!parsed.ok) return bad(parsed.message, "write the bare name of the program, for example `ffmpeg`");
      const name = parsed.value.text;
      return {
        ok: true,
        target: name,
        pattern: { kind: "name", text: name },
        network: undefined,
        isBase: false,
      };
    }
  }
}

function readNetwork(
  pair: ResourceOperation<"network">,
  declared: string,
  { parseUrl }: ManifestEnvironment,
): DeclaredTarget | PathFault {
  if (declared.includes("${")) {
    return bad(
      "variables stand for folders, not for hosts",
      "write the target itself; where it is configured, an engine lists the key under `runtime.allowed_config_urls`",
    );
  }
  const wildcard = wildcardFault(declared);
  if (wildcard !== undefined) return wildcard;
  const parsed = parseNetworkTarget(declared, parseUrl);
  if (!parsed.ok) return bad(parsed.message, insteadOfNetwork(declared));
  const network = parsed.value;
  if (network.form === "unix" && pair.operation !== "connect") {
    return bad("a unix socket has the operation `connect` only", 'write `"operation": "connect"`');
  }
  const pattern = parsePattern("network", declared, parseUrl);
  if (!pattern.ok) return bad(pattern.message, insteadOfNetwork(declared));
  const isOrigin = network.form === "url" && pattern.value.kind === "origin";
  const target = isOrigin ? originText(network) : network.text;
  return { ok: true, target, pattern: pattern.value, network, isBase: false };
}

/** A star in the place of a host, or a leading dot, as other tools take them for subdomains. */
function wildcardFault(declared: string): PathFault | undefined {
  const host = declared
    .trim()
    .replace(/^[a-z]+:\/\//i, "")
    .replace(/[/?#:].*$/s, "");
  if (!host.includes("*") && !/^\.[^.]/.test(host)) return undefined;
  const parent = host.replace(/^[*.]+/, "");
  const example = parent === "" ? "" : `, for example ${quoted(`www.${parent}`)}`;
  return bad(
    "a host is matched as it is written, never its subdomains",
    `write one entry for each host${example}`,
  );
}

function insteadOfNetwork(declared: string): string {
  if (/^[./~]/.test(declared)) return 'for a path use `"resource_type": "filesystem"`';
  return "write a URL such as `https://api.example.com/v1/`, `host`, `host:port` or `unix:/absolute/path`";
}

function bad(message: string, instead: string): PathFault {
  return { ok: false, message, instead };
}
