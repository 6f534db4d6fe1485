/**
 * What an access can destroy, in plain words: the facts that every mode keeps and every approver sees.
 * Decides nothing, and must never be read as a permission.
 */
import type { Access } from "./access.ts";
import type { OperationOf, ResourceType } from "./resource.ts";

export interface Impact {
  readonly destructive: boolean;
  readonly impactScope: string;
  readonly rollbackAdvice: string;
}

type ImpactTable = { readonly [R in ResourceType]: { readonly [O in OperationOf<R>]: Impact } };

/** One entry per legal pair. */
export const IMPACTS = {
  network: {
    connect: {
      destructive: false,
      impactScope: "opens a connection over which bytes may flow both ways",
      rollbackAdvice: "close the connection; what already went over it cannot be called back",
    },
    receive: {
      destructive: false,
      impactScope: "fetches data; the remote side learns the address, the path and the query",
      rollbackAdvice: "nothing to undo here; discard what was fetched",
    },
    send: {
      destructive: true,
      impactScope: "hands data to the remote side, or changes something there",
      rollbackAdvice:
        "cannot be called back from here; ask the remote side to undo it, and replace any secret that was sent",
    },
  },
  filesystem: {
    read: {
      destructive: false,
      impactScope: "learns the content or the metadata at this path",
      rollbackAdvice: "nothing to undo; a secret that was read has to be replaced",
    },
    create: {
      destructive: false,
      impactScope: "makes a new file or folder at this path",
      rollbackAdvice: "remove what was created",
    },
    modify: {
      destructive: true,
      impactScope: "changes content or metadata that exists at this path",
      rollbackAdvice: "keep a copy before approving; restore that copy afterwards",
    },
    delete: {
      destructive: true,
      impactScope: "removes what exists at this path",
      rollbackAdvice: "keep a copy before approving; without a backup it is gone",
    },
    execute: {
      destructive: true,
      impactScope: "runs this program; it can do all that the sandbox around it allows",
      rollbackAdvice: "stop the program; look through its recorded accesses for what to undo",
    },
  },
  system_dependency: {
    execute: {
      destructive: true,
      impactScope: "runs this installed program; it can do all that the sandbox around it allows",
      rollbackAdvice: "stop the program; look through its recorded accesses for what to undo",
    },
  },
} as const satisfies ImpactTable;

const CREATE_OVER: Impact = {
  destructive: true,
  impactScope: "puts a new object in the place of one that exists at this path",
  rollbackAdvice: "keep a copy before approving; restore that copy afterwards",
};

/** `exists`: something is at the target already. The source of the decision is added by whoever decides. */
export function destructiveFacts(
  access: Pick<Access, "resourceType" | "operation">,
  state: { readonly exists?: boolean } = {},
): Impact {
  const { resourceType, operation } = access;
  if (resourceType === "filesystem" && operation === "create" && state.exists === true)
    return Object.freeze({ ...CREATE_OVER });
  const impacts: Readonly<Record<string, Impact>> = IMPACTS[resourceType];
  const impact = Object.hasOwn(impacts, operation) ? impacts[operation] : undefined;
  // WHY: an access of this type always has an entry; for anything else the worst is assumed.
  return Object.freeze({ ...(impact ?? IMPACTS.filesystem.execute) });
}
