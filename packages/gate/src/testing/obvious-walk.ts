/**
 * A second walker, obvious rather than fast, over a described tree instead of the disk: what `realPath` is compared with.
 */
export type Node = { readonly kind: "file" } | { readonly kind: "link"; readonly to: string } | Folder;
export interface Folder {
  readonly kind: "folder";
  readonly entries: ReadonlyMap<string, Node>;
}

/** Walks `path` from `root`, whose own place is `base`. Link texts that are absolute begin with `base` or lead out. */
export function obviousWalk(
  root: Folder,
  base: string,
  path: string,
  lastLink: "follow" | "keep",
): string | undefined {
  const hasClosingSlash = path.endsWith("/");
  const todo = path.split("/").filter((name) => name !== "");
  if (hasClosingSlash) todo.push(".");
  const at: string[] = [];
  let links = 0;
  let isMissing = false;
  while (todo.length > 0) {
    const name = todo.shift() as string;
    if (name === "." || name === "..") {
      if (isMissing && name === "..") return undefined;
      if (!isMissing && nodeAt(root, at)?.kind !== "folder") return undefined;
      if (name === "..") {
        // The walk leaves the described tree: nothing is known of what is above it.
        if (at.length === 0) throw new RangeError("outside");
        at.pop();
      }
      continue;
    }
    if (isMissing) {
      at.push(name);
      continue;
    }
    const here = nodeAt(root, at);
    if (here?.kind !== "folder") return undefined;
    const node = here.entries.get(name);
    if (node?.kind === "link" && !(lastLink === "keep" && todo.length === 0)) {
      if (++links > 40) return undefined;
      const names = node.to.split("/").filter((part) => part !== "");
      if (node.to.endsWith("/")) names.push(".");
      if (node.to.startsWith("/")) {
        if (!node.to.startsWith(`${base}/`)) throw new RangeError("outside");
        at.length = 0;
        names.splice(0, base.split("/").length - 1);
      }
      todo.unshift(...names);
      continue;
    }
    isMissing = node === undefined;
    at.push(name);
  }
  return [base, ...at].join("/");
}

function nodeAt(root: Folder, at: readonly string[]): Node | undefined {
  let node: Node | undefined = root;
  for (const name of at) node = node?.kind === "folder" ? node.entries.get(name) : undefined;
  return node;
}
