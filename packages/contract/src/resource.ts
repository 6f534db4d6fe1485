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

/**
 * Position of a pair in {@link RESOURCE_OPERATIONS}, or -1 where the pair is not legal.
 * WHY: written out, because this runs in every check and a switch costs a tenth of two look-ups; a test compares
 * it with the table.
 */
export function pairIndex(resourceType: string, operation: string): number {
  switch (resourceType) {
    case "network":
      return operation === "connect" ? 0 : operation === "receive" ? 1 : operation === "send" ? 2 : -1;
    case "filesystem":
      switch (operation) {
        case "read":
          return 3;
        case "create":
          return 4;
        case "modify":
          return 5;
        case "delete":
          return 6;
        case "execute":
          return 7;
        default:
          return -1;
      }
    case "system_dependency":
      return operation === "execute" ? 8 : -1;
    default:
      return -1;
  }
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
