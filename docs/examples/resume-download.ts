/**
 * Work that stops at a blocked access and goes on by itself once a person has approved it. The context holds ids, not
 * the state itself; the action loads the state again and may run more than once.
 */
import type { Sdk } from "sallyport";

export interface DownloadContext {
  readonly catalogModelId: number;
  readonly inventoryId: number;
}

/** What the host application keeps. */
export interface Inventory {
  statusOf(inventoryId: number): Promise<"missing" | "ready">;
  store(inventoryId: number, catalogModelId: number): Promise<void>;
}

export const RESUME = "system.resume_catalog_model_download";

/** The blocked work. */
export async function downloadModel(sdk: Sdk, modelSourceUrl: string, resumeContext: DownloadContext) {
  const access = await sdk.access.requireExternalAccess({
    resourceType: sdk.access.EXTERNAL_RESOURCE_NETWORK,
    operation: "receive",
    target: modelSourceUrl,
    resumeAction: RESUME,
    resumeContext,
  });
  access.orThrow();
  return { status: "downloaded" };
}

/** The blocked import of a file: what stands in the request is who asked, for what, and what goes on. */
export function importCustomers(sdk: Sdk) {
  return sdk.access.requireExternalAccess({
    resourceType: sdk.access.EXTERNAL_RESOURCE_FILESYSTEM,
    operation: "read",
    target: "/mnt/imports/customer.csv",
    resumeAction: "system.resume_import",
    resumeContext: { path: "/mnt/imports/customer.csv" },
  });
}

/** Already allowed: no request, and nothing to resume. */
export function materializeModel(sdk: Sdk) {
  return sdk.access.requireExternalAccess({
    resourceType: sdk.access.EXTERNAL_RESOURCE_NETWORK,
    operation: "receive",
    target: "https://example.com/model.bin",
    resumeAction: "system.resume_model_materialization",
    resumeContext: { availableModelId: 123, catalogId: "llama-3.2-3b-instruct-4bit" },
  });
}

/** Called once by the module itself, when it starts. */
export function registerResume(sdk: Sdk, inventory: Inventory, done: (status: string) => void): void {
  sdk.actions.register(RESUME, {
    schema: { parse: downloadContext },
    handler: async ({ catalogModelId, inventoryId }) => {
      if ((await inventory.statusOf(inventoryId)) === "ready") return done("already_ready");
      await inventory.store(inventoryId, catalogModelId);
      return done("downloaded");
    },
  });
}

/** A schema of zod or of any other library of its kind does as well. */
function downloadContext(value: unknown): DownloadContext {
  const { catalogModelId, inventoryId } = value as Partial<DownloadContext>;
  if (typeof catalogModelId !== "number" || typeof inventoryId !== "number")
    throw new TypeError("the context of a download holds two ids");
  return { catalogModelId, inventoryId };
}
