/** One call of the SDK in words that can travel, so that one suite can drive it in this process and in others. */
import type { Sdk, SubjectInput } from "@sallyport/runtime";

export interface SdkCall {
  /** Such as `access.checkExternalAccess`. */
  readonly path: string;
  readonly args?: readonly unknown[];
  /** Made up by the code itself around the call. */
  readonly within?: SubjectInput;
}

export type SdkOutcome =
  | { readonly ok: true; readonly value: unknown }
  | { readonly ok: false; readonly name: string; readonly message: string };

export async function sdkCall(sdk: Sdk, { path, args = [], within }: SdkCall): Promise<SdkOutcome> {
  const call = (): unknown => {
    const [part = "", verb = ""] = path.split(".");
    const holder = sdk[part as keyof Sdk] as unknown as Record<string, (...given: unknown[]) => unknown>;
    return holder[verb]?.(...args);
  };
  try {
    const value = await (within === undefined ? call() : sdk.run(within, call));
    return { ok: true, value: JSON.parse(JSON.stringify(value ?? null)) as unknown };
  } catch (error) {
    const { name, message } = error as Error;
    return { ok: false, name, message };
  }
}
