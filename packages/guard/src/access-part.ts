/**
 * One part of a guarded call: what is touched, how, and how it was written. A composite call has several, and all of
 * them must pass. Values are made here, without a prototype, so that nothing absent is found on a polluted one.
 */
import type { ResourceOperation } from "@sallyport/contract";
import type { Acting, AskWords } from "@sallyport/gate";
import { bare, freeze } from "./captured.ts";

export type AccessPart = ResourceOperation & {
  /** Normalized already. */
  readonly target: string;
  /** As it was written. */
  readonly requested: string;
  /** Something is there. */
  readonly exists: boolean;
  /** The address that a name was resolved to and that will be dialled. */
  readonly address?: string | undefined;
  /** Names that resolved to the address a moment ago. */
  readonly aliases?: readonly string[] | undefined;
  /** The other name of an executable: of a program its path, of a path in a system folder the program. */
  readonly twin?: Twin | undefined;
};

export interface Twin {
  readonly resourceType: string;
  readonly operation: string;
  readonly target: string;
}

export type FileOperation = Extract<ResourceOperation, { readonly resourceType: "filesystem" }>["operation"];

/** Whether the last name of a path is followed where it is a link. */
export type Ending = "follow" | "keep";

/** Where a path leads, and what was written. */
export interface Place {
  readonly path: string;
  readonly requested: string;
  /** How it was walked; absent where nobody looks at it again. */
  readonly ending?: Ending | undefined;
  /** Something is there; a link that is itself the target counts. */
  readonly exists: boolean;
}

export function filePart(operation: FileOperation, place: Place): AccessPart {
  const { path, requested, exists } = place;
  return freeze(bare({ resourceType: "filesystem" as const, operation, target: path, requested, exists }));
}

/** What is dialled: an endpoint or a unix socket. */
export function connectPart(
  target: string,
  requested: string,
  more: Pick<AccessPart, "address" | "aliases"> = {},
): AccessPart {
  const { address, aliases } = more;
  return freeze(
    bare({
      resourceType: "network" as const,
      operation: "connect" as const,
      target,
      requested,
      exists: false,
      address,
      aliases,
    }),
  );
}

/** A program by its real path. */
export function executePart(place: Place, twin: Twin | undefined): AccessPart {
  const { path, requested, exists } = place;
  const pair = { resourceType: "filesystem" as const, operation: "execute" as const };
  return freeze(bare({ ...pair, target: path, requested, exists, twin }));
}

/** A program by its name. */
export function dependencyPart(name: string, requested: string, twin: Twin): AccessPart {
  const pair = { resourceType: "system_dependency" as const, operation: "execute" as const };
  return freeze(bare({ ...pair, target: name, requested, exists: true, twin }));
}

export function createOrModify(place: Place): AccessPart {
  return filePart(place.exists ? "modify" : "create", place);
}

/** The question of a part, as the gate takes it. @param actor who asks */
export function wordsOf(part: AccessPart, enforced: boolean, { hosted, entered }: Acting): AskWords {
  const { resourceType, operation, target, requested, exists, address, aliases, twin } = part;
  return bare({
    resourceType,
    operation,
    target,
    requested: requested === target ? undefined : requested,
    exists,
    enforced,
    address,
    aliases,
    twin,
    hosted,
    entered,
  });
}
