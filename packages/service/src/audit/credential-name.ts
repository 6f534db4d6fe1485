/**
 * Names whose values are credentials: of query parameters, path parameters and `name=value` parts of a path.
 * Written without separators; `api_key`, `api-key`, `apiKey` and `api[key]` are one name.
 */

/** Whole names. Short words that mean something else at the end of a longer one are only here. */
const NAMES: ReadonlySet<string> = new Set([
  "key",
  "code",
  "sig",
  "auth",
  "authorization",
  "bearer",
  "pass",
  "pwd",
  "pin",
  "otp",
  "totp",
  "jwt",
  "sid",
  "session",
  "sessionid",
  "sessionkey",
  "phpsessid",
  "jsessionid",
  "cookie",
  "creds",
  "appkey",
  "authkey",
  "accesskey",
  "accesskeyid",
  "awsaccesskeyid",
  "secretkey",
  "privatekey",
  "sharedkey",
  "masterkey",
  "signingkey",
  "encryptionkey",
  "licensekey",
  "subscriptionkey",
  "clientkey",
  "hmac",
  "samlresponse",
  "samlrequest",
]);

/** How names end that are credentials whatever stands before. */
const ENDINGS = [
  "token",
  "tokens",
  "secret",
  "password",
  "passwd",
  "passphrase",
  "passcode",
  "apikey",
  "signature",
  "credential",
  "credentials",
] as const;

const NAME_LENGTH_MAX = 128;

/** The name may be percent-encoded; whatever cannot be a name is none. */
export function isCredentialName(written: string): boolean {
  const name = plainName(written);
  return NAMES.has(name) || ENDINGS.some((ending) => name.endsWith(ending));
}

/** The narrow reading for running text, where `code: 7` and `key: a` are ordinary words. */
export function isCredentialWord(written: string): boolean {
  const name = plainName(written);
  return name === "authorization" || name === "cookie" || ENDINGS.some((ending) => name.endsWith(ending));
}

/** Letters and digits only; empty where the text cannot be a name. */
function plainName(written: string): string {
  if (written.length > NAME_LENGTH_MAX) return "";
  return decoded(written)
    .toLowerCase()
    .replace(/[^a-z0-9]/g, "");
}

/** Percent-decoding that never throws: what is no encoding stays as it is. */
export function decoded(text: string): string {
  if (!text.includes("%")) return text;
  try {
    return decodeURIComponent(text);
  } catch {
    return text.replace(/%([0-7][0-9a-f])/gi, (_, hex: string) =>
      String.fromCharCode(Number.parseInt(hex, 16)),
    );
  }
}
