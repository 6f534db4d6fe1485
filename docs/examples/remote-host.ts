/**
 * A host on another machine: the same API against a server, without a database. It holds a credential that lives for
 * minutes, is bound to a key of this process and to that server, names its subjects and its session, and never decides.
 */
import {
  type IssuedCredential,
  type RemoteSallyport,
  type Sdk,
  connectSallyport,
  generateHolderKey,
  runtimeCredential,
} from "sallyport";

/**
 * The key is made here and never leaves; only its thumbprint travels. Whoever runs the server issues the credential:
 * `server.credentials.issue(grant, thumbprint)`.
 */
export async function startRemoteHost(
  origin: string,
  issue: (thumbprint: string) => Promise<IssuedCredential>,
): Promise<RemoteSallyport> {
  const key = await generateHolderKey();
  const credential = runtimeCredential(await issue(key.thumbprint), key);
  return connectSallyport({ origin, credential });
}

/** Registered here, run here: the server lends the job once a person has approved. */
export function registerImport(sdk: Sdk, imported: (path: string) => void): void {
  sdk.actions.register<{ readonly path: string }>("system.resume_import", ({ path }) => imported(path));
}
