/**
 * What a program or worker holds of the runtime that started it.
 */
import type { Sdk, SubjectInput } from "../sdk/sdk.ts";

export interface ConnectRuntimeOptions {
  /** The script of the private realm, for programs that carry it with them; a guarded process has its own. */
  readonly realmScript?: string | undefined;
  /** Certificates of authorities that are trusted beside those of Node, as PEM; for `sdk.http`. */
  readonly ca?: readonly string[] | undefined;
}

export interface ChildRuntime {
  readonly sdk: Sdk;
  /** What the host handed to this worker; `undefined` in a process. */
  readonly data: unknown;
  /** Approvals can be relied on now. */
  readonly isLive: boolean;
  /**
   * In a guarded process: runs `fn` as a subject that the host named when it started the process. Every call inside is
   * decided for that subject and recorded as its own. What is synchronous stays so.
   * Throws `SubjectRefusedError` for any other subject.
   */
  run<R>(subject: SubjectInput, options: Readonly<Record<string, never>>, fn: (sdk: Sdk) => R): R;
  /** The function as whoever acts now, whoever calls it later. */
  bind<T, A extends unknown[], R>(fn: (this: T, ...args: A) => R): (this: T, ...args: A) => R;
  close(): void;
}
