/**
 * `sdk.actions`: what goes on after an approval. An action belongs to the module whose code registers it, and carries
 * its name. Its handler runs host-entered as that module, for the user who asked; never for the approver.
 */
import type { Subject } from "@sallyport/contract";
import { ownField } from "../registry/host-input.ts";
import type { HostAction, SdkGround } from "./sdk-ground.ts";

type Validated<C> =
  | { readonly value: C; readonly issues?: undefined }
  | { readonly issues: readonly { readonly message: string }[] };

/** A schema of the Standard Schema kind (zod and others), or anything with a `parse`. */
export type ContextSchema<C> =
  | { readonly "~standard": { validate(value: unknown): Validated<C> | Promise<Validated<C>> } }
  | { parse(value: unknown): C };

export interface ActionRun<S> {
  readonly sdk: S;
  /** The same for every run of one job. */
  readonly idempotencyKey: string;
  /** Aborted when this run lost its job. */
  readonly signal: AbortSignal;
}

export type ActionHandler<C, S> = (context: C, run: ActionRun<S>) => unknown;

export interface Action<C, S> {
  readonly schema?: ContextSchema<C> | undefined;
  readonly handler: ActionHandler<C, S>;
  /** Subjects of other modules that may name it. */
  readonly openTo?: readonly Subject[] | undefined;
}

export interface SdkActions<S> {
  /** `<module>.<action>`, registered by that module's own code. A context that is not of the schema fails the run. */
  register<C = unknown>(name: string, action: ActionHandler<C, S> | Action<C, S>): void;
}

export function sdkActions<S>(ground: SdkGround, sdk: () => S): SdkActions<S> {
  return Object.freeze<SdkActions<S>>({
    register: (name, action) => ground.registerAction(hostAction(name, undefined, action, sdk)),
  });
}

export function hostAction<C, S>(
  name: string,
  module: string | undefined,
  action: ActionHandler<C, S> | Action<C, S>,
  sdk: () => S,
): HostAction {
  const given: Action<C, S> = typeof action === "function" ? { handler: action } : action;
  const schema = ownField(given, "schema");
  const openTo = ownField(given, "openTo") ?? [];
  const { handler } = given;
  return {
    name,
    module,
    openTo,
    handler: async (context, { idempotencyKey, signal }) => {
      const parsed = schema === undefined ? (context as C) : await parseContext(name, schema, context);
      await handler(parsed, Object.freeze({ sdk: sdk(), idempotencyKey, signal }));
    },
  };
}

async function parseContext<C>(name: string, schema: ContextSchema<C>, context: unknown): Promise<C> {
  if (!("~standard" in schema)) return schema.parse(context);
  const validated = await schema["~standard"].validate(context);
  if (validated.issues === undefined) return validated.value;
  const [first] = validated.issues;
  throw new TypeError(`the resume context of \`${name}\` is not of its schema: ${first?.message ?? ""}`);
}
