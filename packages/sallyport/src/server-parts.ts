/**
 * What a server needs of the host that it serves: the service, the frames of its registry, and what signs and remembers
 * the credentials of remote hosts. The sign-in is the server's own matter.
 *
 *     const sallyport = await createSallyport({ dataFolder, apiPorts: [port] });
 *     const server = createServer({ ...sallyport.serverParts(), authenticate });
 *     const listening = await server.listen({ port });      // beyond the local host: `apiHosts` beside `apiPorts`
 *
 * Trusts the registry for what a subject may do. Must never give a frame to a subject that is not registered.
 */
import { randomUUID } from "node:crypto";
import { type Phase, type Subject, whatwgUrl } from "@sallyport/contract";
import type { SubjectRegistry } from "@sallyport/runtime";
import { ReplayCache, type ReplayMemory, type ServerOptions } from "@sallyport/server";
import { type AccessService, CredentialBook, systemClock } from "@sallyport/service";
import type { AccessStore } from "@sallyport/store";
import type { DataFolder } from "./data-folder.ts";

export interface ServerParts extends Pick<
  ServerOptions,
  "frameOf" | "parseUrl" | "credentials" | "resumes" | "replays"
> {
  readonly service: AccessService;
}

export interface ServedHost {
  readonly service: AccessService;
  readonly registry: SubjectRegistry;
  readonly store: AccessStore;
  readonly data: DataFolder;
}

export function serverParts({ service, registry, store, data }: ServedHost): ServerParts {
  const signing = { signingKey: data.credentialKey, newId: randomUUID };
  const parts = {
    service,
    resumes: service.resumes,
    parseUrl: whatwgUrl,
    frameOf: (subject: Subject, phase: Phase) => registeredFrame(registry, subject, phase),
  };
  // WHY: a store with one owner is served by one process, whose memory is enough; after its restart old tokens are void.
  if (store.engine === "sqlite") return Object.freeze<ServerParts>({ ...parts, credentials: signing });
  const book = new CredentialBook(store, systemClock, service.overview);
  return Object.freeze<ServerParts>({
    ...parts,
    credentials: { ...signing, revocations: book },
    replays: sharedReplays(book),
  });
}

/** The memory of this process bounds what one key may write; that of the store is what all nodes go by. */
function sharedReplays(book: CredentialBook): ReplayMemory {
  const near = new ReplayCache();
  return {
    admit: (key, proofId, untilMs, nowMs) => {
      const admitted = near.admit(key, proofId, untilMs, nowMs);
      return admitted === "fresh" ? book.admit(key, proofId, untilMs, nowMs) : admitted;
    },
  };
}

/** The frame as it is now. A call that a reload overtakes finds its contract gone, and is asked about. */
function registeredFrame(registry: SubjectRegistry, subject: Subject, phase: Phase) {
  const entered = registry.enter(subject, { phase });
  if (!entered.ok) return null;
  entered.leave();
  return entered.frame;
}
