/**
 * The same API against a remote server: the runtime of this process over the client, no database. What this host
 * registers names its subjects; their rules are those that the server has for them. Its children and workers have their
 * gate here and their answers from there; its resume actions run here, with jobs that the server lends.
 * Trusts the server at the origin. A credential of guarded code asks and never decides.
 */
import { type Client, type PersonCredential, type RuntimeCredential, createClient } from "@sallyport/client";
import { type AccessPolicy, type ManifestVariable, whatwgUrl } from "@sallyport/contract";
import {
  type RegistryEvent,
  type Runtime,
  type RuntimePorts,
  type Sdk,
  SubjectRegistry,
  createRuntime,
} from "@sallyport/runtime";
import { ForwardingGate } from "@sallyport/service";
import { RemoteActions } from "./remote-actions.ts";

export interface RemoteSallyportOptions {
  readonly origin: string;
  readonly credential: RuntimeCredential;
  /** The person who decides where the host's own code does; without one nobody decides here. */
  readonly person?: PersonCredential | undefined;
  readonly variables?: { readonly [V in ManifestVariable]?: string | undefined } | undefined;
  readonly onRegistryEvent?: ((event: RegistryEvent) => void) | undefined;
  readonly ports?: Pick<RuntimePorts, "resolver" | "nowMs" | "ca"> | undefined;
  /** For the host's own log: resume actions that the server refused. Must not throw. */
  readonly onFault?: ((error: unknown) => void) | undefined;
}

export interface RemoteSallyport {
  readonly runtime: Runtime;
  readonly registry: SubjectRegistry;
  readonly sdk: Sdk;
  readonly client: Client;
  close(): Promise<void>;
}

export function connectSallyport(options: RemoteSallyportOptions): RemoteSallyport {
  const { origin, credential, person, variables = {}, onRegistryEvent, ports } = options;
  const client = createClient({ origin, credential });
  const deciding = person === undefined ? client : createClient({ origin, credential: person });
  const registry = new SubjectRegistry({
    parseUrl: whatwgUrl,
    variables,
    // WHY: the server has the rules; here a registration only says whom a frame is for.
    apply: () => undefined,
    onEvent: onRegistryEvent,
  });
  const { grant } = credential;
  const actions: RemoteActions = new RemoteActions({
    client,
    grant,
    enterResume: (caller, work) => runtime.enterResume(caller, work),
    onFault: options.onFault ?? (() => undefined),
  });
  const policy = remotePolicy(client, deciding, actions);
  const gate = new ForwardingGate({ service: policy, parseUrl: whatwgUrl });
  const { userId, organizationId, sessionKey, taskId, interactive } = grant;
  const runtime = createRuntime({
    policy,
    registry,
    facts: {
      user: userId === null ? null : { id: userId, roles: [], accessLevel: null },
      organizationId,
      sessionKey,
      taskId,
      interactive,
    },
    ports: {
      ...ports,
      registerAction: (action) => actions.register(action),
      attachChild: (socket, caller, how) => gate.attachChild(socket, caller, how),
      recordRefusal: async (caller, verb) => {
        await client[verb](caller, { requestId: "", digest: "" });
      },
    },
  });
  const close = async (): Promise<void> => {
    runtime.close();
    gate.close();
    await actions.close();
  };
  return Object.freeze({ runtime, registry, sdk: runtime.sdk, client, close });
}

/** Guarded code asks with its credential; the host's own code decides as the person. */
function remotePolicy(asking: Client, deciding: Client, actions: RemoteActions): AccessPolicy {
  return {
    check: (caller, ask) => asking.check(caller, ask),
    require: async (caller, ask) => {
      // WHY: an action that was registered a moment ago may be named now.
      if (ask.resumeAction !== undefined) await actions.offered();
      return asking.require(caller, ask);
    },
    wait: (caller, requestId, wait) => asking.wait(caller, requestId, wait),
    state: (caller) => asking.state(caller),
    approveForSession: (caller, by, words) => deciding.approveForSession(caller, by, words),
    approvePermanently: (caller, by, words) => deciding.approvePermanently(caller, by, words),
    deny: (caller, by, words) => deciding.deny(caller, by, words),
  };
}
