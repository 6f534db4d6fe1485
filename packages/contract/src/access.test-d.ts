/**
 * What must not compile. Each illegal use stands beside a legal neighbour, so that a line which fails for another
 * reason than the one meant is noticed.
 */
import { filesystem, network, systemDependency } from "./access-constructors.ts";
import type { AccessOf } from "./access-constructors.ts";
import type { Access, Target } from "./access.ts";
import type { CheckCode, PermissionMode, RuleSource } from "./decision.ts";
import { AccessPendingError, ERROR_CODES, ExternalAccessError } from "./errors.ts";
import type { Parsed } from "./parsed.ts";
import type { Operation, OperationOf, ResourceOperation, ResourceType } from "./resource.ts";
import type { Subject, SubjectName } from "./subject.ts";
import type { Host } from "./target/host.ts";
import type { FilesystemTarget } from "./target/filesystem.ts";
import type { NetworkTarget } from "./target/network.ts";
import type { SystemDependencyTarget } from "./target/system-dependency.ts";
import type { TargetText } from "./target/target-text.ts";
import { loadManifest } from "./manifest/load-manifest.ts";
import type { ManifestEnvironment } from "./manifest/manifest.ts";
import type { Approval } from "./wire/approval.ts";
import type { ExternalAccessCheck } from "./wire/external-access-check.ts";
import type { ApprovalId, RequestId, SessionKey, Timestamp } from "./wire/identifier.ts";
import { pendingRequestWire } from "./wire/pending-request.ts";
import type { Resource } from "./wire/resource.ts";

declare const url: NetworkTarget;
declare const path: FilesystemTarget;
declare const program: SystemDependencyTarget;
declare const anyTarget: Target;
declare const anyType: ResourceType;
declare const anyOperation: Operation;
declare const check: ExternalAccessCheck;
declare const approval: Approval;
declare const requestId: RequestId;
declare const environment: ManifestEnvironment;
declare function use(...values: readonly unknown[]): void;

// Illegal pairs, as literals.
export const legalNetwork: Access = { resourceType: "network", operation: "receive", target: url };
// @ts-expect-error a network has no `read`
export const networkRead: Access = { resourceType: "network", operation: "read", target: url };
export const legalFilesystem: Access = { resourceType: "filesystem", operation: "delete", target: path };
// @ts-expect-error a filesystem has no `connect`
export const filesystemConnect: Access = { resourceType: "filesystem", operation: "connect", target: path };
export const legalDependency: Access = {
  resourceType: "system_dependency",
  operation: "execute",
  target: program,
};
// @ts-expect-error a system dependency has `execute` only
export const dependencyRead: Access = {
  resourceType: "system_dependency",
  operation: "read",
  target: program,
};
// @ts-expect-error `url` is no resource type
export const urlType: Access = { resourceType: "url", operation: "receive", target: url };
// @ts-expect-error `write` is no operation
export const writeOperation: Access = { resourceType: "filesystem", operation: "write", target: path };

// Illegal pairs, from unions.
export const legalPair: ResourceOperation = { resourceType: "network", operation: "send" };
// @ts-expect-error two unions are not a pair
export const unionPair: ResourceOperation = { resourceType: anyType, operation: anyOperation };
// @ts-expect-error nor are they an access
export const unionAccess: Access = { resourceType: anyType, operation: anyOperation, target: anyTarget };
export const legalOperation: OperationOf<"filesystem"> = "create";
// @ts-expect-error an operation of another resource type
export const otherOperation: OperationOf<"filesystem"> = "send";
// @ts-expect-error the access of one resource type is not that of another
export const otherAccess: Access<"network"> = legalFilesystem as Access<"filesystem">;

// Targets.
// @ts-expect-error a target of another resource type
export const otherTarget: Access = { resourceType: "network", operation: "receive", target: path };
// @ts-expect-error a raw text is no target
export const rawTarget: Access = { resourceType: "filesystem", operation: "read", target: "/etc/passwd" };
export const legalText: TargetText<"filesystem"> = path.text;
// @ts-expect-error a raw text is no normalized text
export const rawText: TargetText<"filesystem"> = "/etc/passwd";
// @ts-expect-error the text of another resource type
export const otherText: TargetText<"network"> = path.text;
// @ts-expect-error a raw text is no host
export const rawHost: Host = "example.com";
// @ts-expect-error an access cannot be changed
legalNetwork.operation = "send";

// Subjects, modes, codes.
declare const subjectName: SubjectName;
export const legalSubject: Subject = { type: "engine", name: subjectName };
// @ts-expect-error a raw text is no subject name
export const rawName: Subject = { type: "engine", name: "whisper" };
// @ts-expect-error an unknown subject type
export const otherSubject: Subject = { type: "plugin", name: subjectName };
export const legalMode: PermissionMode = "on_request";
// @ts-expect-error modes are spelled as on the wire
export const wrongMode: PermissionMode = "onRequest";
// @ts-expect-error `observe` is a setting and no mode
export const observeMode: PermissionMode = "observe";
// @ts-expect-error an unknown code
export const wrongCode: CheckCode = "allowed";
// @ts-expect-error an unknown source of rules
export const wrongSource: RuleSource = "hook";
// @ts-expect-error a code that is not in the table
use(ERROR_CODES.access_denied);

// Constructors.
export const legalReceive: Parsed<AccessOf<"network", "receive">> = network.receive("https://a.example");
// @ts-expect-error `network.read` does not exist
use(network.read("https://a.example"));
// @ts-expect-error `filesystem.send` does not exist
use(filesystem.send("/x"));
// @ts-expect-error `systemDependency.read` does not exist
use(systemDependency.read("git"));
// @ts-expect-error a receive is no send
export const receiveAsSend: Parsed<AccessOf<"network", "send">> = network.receive("https://a.example");
// @ts-expect-error a result is no access before it was looked at
export const unchecked: Access = filesystem.read("/x");

// Wire types.
export const legalResource: Resource = { type: "network", operation: "connect", target: "a.example:1" };
// @ts-expect-error an illegal pair on the wire
export const wireResource: Resource = { type: "network", operation: "execute", target: "a.example:1" };
// @ts-expect-error a raw text is no request id
export const rawId: RequestId = "req-1";
// @ts-expect-error one kind of id is not another
export const otherId: ApprovalId = requestId;
// @ts-expect-error a raw text is no time
export const rawTime: Timestamp = "2026-01-31T09:30:00Z";
// @ts-expect-error the session key of an approval may be absent until its scope is known
export const unknownScope: SessionKey = approval.sessionKey;
export const knownScope: SessionKey | undefined =
  approval.scope === "session" ? approval.sessionKey : undefined;
// @ts-expect-error the API is camelCase
use(check.requires_approval);
use(check.requiresApproval, new ExternalAccessError(check));
// @ts-expect-error a pending error needs its request
use(new AccessPendingError(check));
// @ts-expect-error only what has the type can be formatted
use(pendingRequestWire.format({ subject: { type: "module", name: "system" } }));

// Manifests.
use(loadManifest("engine", "{}", environment));
// @ts-expect-error an unknown kind of manifest
use(loadManifest("plugin", "{}", environment));
// @ts-expect-error the environment is not optional
use(loadManifest("engine", "{}"));
