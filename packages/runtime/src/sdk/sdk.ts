/**
 * The facade that guarded code holds. Frozen, and without authority of its own: every call is that of the subject
 * whose code runs now.
 */
import { type Subject, type SubjectType, parseSubject } from "@sallyport/contract";
import { type SdkAccess, sdkAccess } from "./access.ts";
import { type SdkActions, sdkActions } from "./actions.ts";
import { DecisionBook } from "./decision-book.ts";
import { type SdkFs, sdkFs } from "./fs/fs.ts";
import { guardedFs } from "./fs/guarded-fs.ts";
import { type SdkHttp, sdkHttp } from "./http/http.ts";
import { type SdkPermission, sdkPermission } from "./permission.ts";
import { type SdkSandbox, sdkSandbox } from "./sandbox.ts";
import type { SdkGround } from "./sdk-ground.ts";

/** A subject as it is written. */
export interface SubjectInput {
  readonly type: SubjectType;
  readonly name: string;
}

export interface Sdk {
  readonly access: SdkAccess;
  readonly permission: SdkPermission;
  readonly sandbox: SdkSandbox;
  readonly actions: SdkActions<Sdk>;
  readonly fs: SdkFs;
  readonly http: SdkHttp;
  /** Runs `fn` as another subject, within what the subjects around it may do themselves. */
  run<R>(subject: SubjectInput, fn: () => R): R;
}

export function createSdk(ground: SdkGround): Sdk {
  const book = new DecisionBook();
  const sdk: Sdk = Object.freeze<Sdk>({
    access: sdkAccess(ground, book),
    permission: sdkPermission(ground, book),
    sandbox: sdkSandbox(ground),
    actions: sdkActions(ground, () => sdk),
    fs: ground.isGuarded ? guardedFs() : sdkFs(ground),
    http: sdkHttp(ground),
    run: (subject, fn) => ground.enterMadeUp(subjectOf(subject), fn),
  });
  return sdk;
}

/** Throws `TypeError` for what is no subject. */
export function subjectOf({ type, name }: SubjectInput): Subject {
  const parsed = parseSubject(type, name);
  if (parsed.ok) return parsed.value;
  throw new TypeError(parsed.message);
}
