/**
 * Which links a path leads through at this moment, each by where it really lies. Follows them as the kernel does.
 */
import { readlinkSync } from "node:fs";

/** As in Linux: a walk follows at most this many links. */
const LINKS_MAX = 40;

/** The places of the links on the way, the last name included. */
export function linksOnTheWay(absolutePath: string): readonly string[] {
  const links: string[] = [];
  let rest = namesOf(absolutePath);
  let resolved: string[] = [];
  while (rest.length > 0 && links.length < LINKS_MAX) {
    const [name = "", ...further] = rest;
    rest = further;
    if (name === "..") {
      resolved = resolved.slice(0, -1);
      continue;
    }
    const place = `/${[...resolved, name].join("/")}`;
    const target = linkTarget(place);
    if (target === undefined) {
      resolved = [...resolved, name];
      continue;
    }
    links.push(place);
    if (target.startsWith("/")) resolved = [];
    rest = [...namesOf(target), ...rest];
  }
  return links;
}

function namesOf(path: string): string[] {
  return path.split("/").filter((name) => name !== "" && name !== ".");
}

function linkTarget(path: string): string | undefined {
  try {
    return readlinkSync(path);
  } catch {
    return undefined;
  }
}
