/**
 * The configuration files of package installers, as far as they name where packages come from: keys and their texts,
 * line by line. No parser of the whole formats: what is not understood gives no host, and so no access.
 */

export interface ConfigLine {
  /** Lower-case; empty before the first one. */
  readonly section: string;
  readonly key: string;
  readonly values: readonly string[];
}

/** `pip.conf` and `.npmrc`: `key = value`, further values on lines that are indented. */
export function iniLines(text: string): readonly ConfigLine[] {
  const lines: { section: string; key: string; values: string[] }[] = [];
  let section = "";
  for (const line of text.split(/\r?\n/)) {
    const trimmed = line.trim();
    if (trimmed === "" || /^[#;]/.test(trimmed)) continue;
    const header = /^\[([^\]]*)\]$/.exec(trimmed);
    const last = lines.at(-1);
    if (header !== null) section = (header[1] ?? "").trim().toLowerCase();
    else if (/^\s/.test(line) && last !== undefined && !/^(?!https?:)[^\s=]+\s*=/i.test(trimmed)) {
      last.values.push(...valuesOf(trimmed));
    } else {
      const equals = trimmed.indexOf("=");
      const key = equals < 0 ? trimmed : trimmed.slice(0, equals).trim();
      lines.push({
        section,
        key: key.toLowerCase(),
        values: equals < 0 ? [] : valuesOf(trimmed.slice(equals + 1)),
      });
    }
  }
  return lines;
}

/** WHY: pip takes several values on one line, and both formats allow quotes and a comment behind a space. */
function valuesOf(text: string): string[] {
  return text
    .replace(/\s[#;].*$/, "")
    .split(/\s+/)
    .map((value) => value.replace(/^(["'])(.*)\1$/, "$2"))
    .filter((value) => value !== "");
}

/** `uv.toml`: the quoted texts of each key, lists and inline tables included. */
export function tomlLines(text: string): readonly ConfigLine[] {
  const lines: { section: string; key: string; values: string[] }[] = [];
  let section = "";
  let depth = 0;
  for (const raw of text.split(/\r?\n/)) {
    const { code, texts, brackets } = readTomlLine(raw);
    const header = depth === 0 ? /^\[\[?\s*([\w.-]+)\s*\]\]?$/.exec(code) : null;
    if (header !== null) {
      section = (header[1] ?? "").toLowerCase();
      continue;
    }
    const key = depth === 0 ? /^([\w-]+)\s*=/.exec(code)?.[1] : undefined;
    if (key !== undefined) lines.push({ section, key: key.toLowerCase(), values: texts });
    else if (depth > 0) lines.at(-1)?.values.push(...texts);
    depth = Math.max(0, depth + brackets);
  }
  return lines;
}

/** A line without its comment, its quoted texts taken out, and by how many brackets it goes deeper. */
function readTomlLine(raw: string): { code: string; texts: string[]; brackets: number } {
  const texts: string[] = [];
  const code = raw
    .replace(/"((?:[^"\\]|\\.)*)"|'([^']*)'|#.*$/g, (whole, double?: string, single?: string) => {
      if (whole.startsWith("#")) return "";
      texts.push(double ?? single ?? "");
      return '""';
    })
    .trim();
  const brackets = code.split("").reduce((sum, char) => {
    return sum + ("[{".includes(char) ? 1 : "]}".includes(char) ? -1 : 0);
  }, 0);
  return { code, texts, brackets };
}
