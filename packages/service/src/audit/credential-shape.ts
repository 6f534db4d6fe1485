/**
 * Values that look like credentials by themselves: tokens of well-known makers, and long text without words.
 * Decides nothing but what is hidden; a value that is hidden too often costs a glance, one that is shown costs a secret.
 */

interface TokenShape {
  readonly prefixes: readonly string[];
  /** How much has to follow the prefix. */
  readonly restMin: number;
}

const TOKEN_SHAPES: readonly TokenShape[] = [
  { prefixes: ["ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_", "glpat-", "gldt-"], restMin: 16 },
  { prefixes: ["dop_v1_", "shpat_", "whsec_", "AKIA", "ASIA", "ya29."], restMin: 16 },
  { prefixes: ["sk_live_", "sk_test_", "rk_live_", "rk_test_"], restMin: 8 },
  { prefixes: ["xoxa-", "xoxb-", "xoxp-", "xoxr-", "xoxs-", "xapp-"], restMin: 8 },
  { prefixes: ["AIza"], restMin: 30 },
  // WHY: the Base64 of `{"`, with which every JSON Web Token begins.
  { prefixes: ["eyJ"], restMin: 16 },
];

/** Beginnings that ordinary words have too: the rest has to look random. */
const WEAK_PREFIXES = ["sk-", "SG.", "hf_", "npm_", "pypi-"] as const;

/** A token of a well-known maker. */
export function isKnownToken(word: string): boolean {
  const isStrong = TOKEN_SHAPES.some(({ prefixes, restMin }) =>
    prefixes.some((prefix) => word.length >= prefix.length + restMin && word.startsWith(prefix)),
  );
  return (
    isStrong ||
    pemStart(word) >= 0 ||
    (WEAK_PREFIXES.some((prefix) => word.startsWith(prefix)) && isRandomText(word))
  );
}

const PEM_HEAD = "-----BEGIN";

/** Where a key or certificate in PEM form begins; -1 where none does. */
export function pemStart(text: string): number {
  return text.indexOf(PEM_HEAD);
}

const RANDOM_LENGTH_MIN = 20;
const DISTINCT_MIN = 10;
/** Changes between lower case, upper case and digits, per character: words have few, random text has many. */
const CHANGE_SHARE_MIN = 0.2;
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

/**
 * Long text of letters and digits that change places as words never do. A UUID is an identifier and stays readable;
 * the parts of a file name are looked at one by one. One walk over the value.
 */
export function isRandomText(value: string): boolean {
  return value.length >= RANDOM_LENGTH_MIN && value.split(/[.:/]/).some(isRandomRun);
}

function isRandomRun(run: string): boolean {
  if (run.length < RANDOM_LENGTH_MIN || UUID.test(run)) return false;
  const seen = new Set<number>();
  let changes = 0;
  let last = JOINT;
  for (let index = 0; index < run.length; index++) {
    const code = run.charCodeAt(index);
    const kind = kindOf(code);
    if (kind === FOREIGN) return false;
    if (kind !== JOINT && last !== JOINT && kind !== last) changes++;
    if (kind !== JOINT) seen.add(code);
    last = kind;
  }
  return seen.size >= DISTINCT_MIN && changes >= CHANGE_SHARE_MIN * run.length;
}

const FOREIGN = -1;
const JOINT = 0;

/** 1 lower case, 2 upper case, 3 digit; joints are what Base64 and tokens hold besides. */
function kindOf(code: number): number {
  if (code >= 0x61 && code <= 0x7a) return 1;
  if (code >= 0x41 && code <= 0x5a) return 2;
  if (code >= 0x30 && code <= 0x39) return 3;
  return code < 0x80 && "-_~+=".includes(String.fromCharCode(code)) ? JOINT : FOREIGN;
}
