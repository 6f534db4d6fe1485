/**
 * What can be touched and how: the one table from which types, schemas, labels and tests derive.
 * Trusts nothing: every look-up from text goes through `Object.hasOwn`.
 */

/** Operations by resource type. No operation implies another. */
export const OPERATIONS = {
  network: ["connect", "receive", "send"],
  filesystem: ["read", "create", "modify", "delete", "execute"],
  system_dependency: ["execute"],
} as const;

export type ResourceType = keyof typeof OPERATIONS;
export type OperationOf<R extends ResourceType> = (typeof OPERATIONS)[R][number];
export type Operation = OperationOf<ResourceType>;

export const RESOURCE_TYPES = Object.keys(OPERATIONS) as readonly ResourceType[];

/** One member per legal pair, so that `{network, read}` is not a type at all. */
export type ResourceOperation<R extends ResourceType = ResourceType> = {
  [K in R]: {
    [O in OperationOf<K>]: { readonly resourceType: K; readonly operation: O };
  }[OperationOf<K>];
}[R];

/** The nine legal pairs in table order; `pairIndex` is a position in it. */
export const RESOURCE_OPERATIONS: readonly ResourceOperation[] = RESOURCE_TYPES.flatMap((resourceType) =>
  OPERATIONS[resourceType].map((operation) => ({ resourceType, operation }) as ResourceOperation),
);

const PAIR_INDEX: ReadonlyMap<string, ReadonlyMap<string, number>> = new Map(
  RESOURCE_TYPES.map((resourceType) => [
    resourceType,
    new Map(
      RESOURCE_OPERATIONS.flatMap((pair, index) =>
        pair.resourceType === resourceType ? [[pair.operation, index] as const] : [],
      ),
    ),
  ]),
);

/** Position of a pair in {@link RESOURCE_OPERATIONS}, or -1 where the pair is not legal. */
export function pairIndex(resourceType: string, operation: string): number {
  return PAIR_INDEX.get(resourceType)?.get(operation) ?? -1;
}

export function isResourceType(value: unknown): value is ResourceType {
  return typeof value === "string" && Object.hasOwn(OPERATIONS, value);
}

export function isOperationOf<R extends ResourceType>(
  resourceType: R,
  value: unknown,
): value is OperationOf<R> {
  return (OPERATIONS[resourceType] as readonly unknown[]).includes(value);
}

const RESOURCE_LABELS: Readonly<Record<ResourceType, string>> = {
  network: "Network",
  filesystem: "Filesystem",
  system_dependency: "System dependency",
};

/** The words an approver reads, for example `Filesystem delete`. */
export function operationLabel(pair: ResourceOperation): string {
  return `${RESOURCE_LABELS[pair.resourceType]} ${pair.operation}`;
}
