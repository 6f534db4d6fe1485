/**
 * Asking before something outside the declared boundary is used. The caller says what it wants to touch and how; who it
 * is, for which user and in which session, the runtime knows.
 */
import { type Sdk, filesystem, network, systemDependency } from "sallyport";

/** The resource type, the operation and the target, each by itself. */
export function mayReceiveModel(sdk: Sdk) {
  return sdk.access.checkExternalAccess({
    resourceType: sdk.access.EXTERNAL_RESOURCE_NETWORK,
    operation: "receive",
    target: "https://huggingface.co/acme/model",
  });
}

export function mayReadCustomers(sdk: Sdk) {
  return sdk.access.checkExternalAccess({
    resourceType: sdk.access.EXTERNAL_RESOURCE_FILESYSTEM,
    operation: "read",
    target: "/mnt/imports/customer.csv",
  });
}

/** A URL that a user typed in: the answer is a value, and the message can be shown. */
export async function importUrl(sdk: Sdk, userSuppliedUrl: string) {
  const access = await sdk.access.checkExternalAccess({
    resourceType: sdk.access.EXTERNAL_RESOURCE_NETWORK,
    operation: "receive",
    target: userSuppliedUrl,
  });
  if (!access.allowed) return { ok: false, message: access.message };
  // Only now the operation itself.
  return { ok: true, message: "imported" };
}

/** For code that cannot go on without it. */
export async function fetchFeed(sdk: Sdk): Promise<string> {
  const access = await sdk.access.checkExternalAccess({
    resourceType: sdk.access.EXTERNAL_RESOURCE_NETWORK,
    operation: "receive",
    target: "https://example.com/data.json",
  });
  access.orThrow();
  return "fetched";
}

/** For a page that shows what is allowed: looking leaves no request. */
export async function showStatus(sdk: Sdk): Promise<"available" | "needs approval" | "disabled"> {
  const access = await sdk.access.checkExternalAccess({
    resourceType: sdk.access.EXTERNAL_RESOURCE_FILESYSTEM,
    operation: "read",
    target: "/mnt/shared/input.csv",
    registerRequest: false,
  });
  if (access.allowed) return "available";
  return access.requiresApproval ? "needs approval" : "disabled";
}

/** The same by constructors: a pair that does not belong together has no name. */
export function everyOperation(sdk: Sdk) {
  const url = "https://api.example.com/v1/reports";
  const path = "/mnt/exports/report.csv";
  const accesses = [
    network.connect("api.example.com:443"),
    network.receive(url),
    network.send(url),
    filesystem.read(path),
    filesystem.create(path),
    filesystem.modify(path),
    filesystem.delete(path),
    filesystem.execute("/opt/tools/convert"),
    systemDependency.execute("ffmpeg"),
  ];
  return Promise.all(
    accesses.map((access) => sdk.access.checkExternalAccess(access, { registerRequest: false })),
  );
}
