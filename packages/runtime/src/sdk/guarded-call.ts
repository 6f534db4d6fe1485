/**
 * A call of Node in a process whose guard decides it. The SDK asks nothing itself there: asked twice, a counted approval
 * would be spent twice, and looking at what is about to be used would be a use of its own.
 */
import { type ExternalAccessCheck, ExternalAccessError } from "@sallyport/contract";
import { throwBlocked } from "./access-result.ts";

/** What the guard throws is thrown as an error of this package, so that `instanceof` holds. */
export async function guardedCall<R>(call: () => Promise<R>): Promise<R> {
  try {
    return await call();
  } catch (error) {
    throw ownError(error);
  }
}

function ownError(error: unknown): unknown {
  const blocked = blockedOf(error);
  if (blocked === undefined) return error;
  try {
    throwBlocked(blocked);
  } catch (own) {
    const { syscall, path, dest } = error as NodeJS.ErrnoException & { readonly dest?: string };
    const facts = Object.entries({ syscall, path, dest }).filter(([, value]) => value !== undefined);
    return Object.assign(own as Error, Object.fromEntries(facts));
  }
  return error;
}

function blockedOf(error: unknown): readonly ExternalAccessCheck[] | undefined {
  if (!(error instanceof Error) || error instanceof ExternalAccessError) return undefined;
  const { code, blocked } = error as Partial<ExternalAccessError>;
  return code === "ERR_ACCESS_DENIED" && Array.isArray(blocked) ? blocked : undefined;
}
