/**
 * The part of the administration API that the first page of the console needs: who is signed in, what waits, and that
 * something changed. A part of its own, so that a page can begin without the rest. Parses every answer like the rest.
 */
import {
  type AdminPageRequest,
  type AdminQuery,
  type AdminRequestFilter,
  type AdminSession,
  doneWire,
  formatAdminQuery,
  linkSignInWire,
  adminSessionWire,
  liveChangeWire,
  passwordSignInWire,
  permissionStateViewWire,
  requestPageWire,
} from "@sallyport/contract/admin";
import { AdminCallError, type AdminCaller } from "./admin-call.ts";
import type { InboxClient } from "./admin-calls.ts";
import { eventData } from "./admin-stream.ts";

export function inboxClientOf(caller: AdminCaller): InboxClient {
  return new HttpInboxClient(caller);
}

const SSE = "text/event-stream, application/problem+json";

export class HttpInboxClient implements InboxClient {
  protected readonly caller: AdminCaller;

  constructor(caller: AdminCaller) {
    this.caller = caller;
  }

  async session(): Promise<AdminSession> {
    return this.#signed(await this.caller.list(adminSessionWire, "/session", {}));
  }

  async signInWithLink(token: string): Promise<AdminSession> {
    return this.#signed(
      await this.caller.post(adminSessionWire, "/sign-in/link", linkSignInWire.format({ token })),
    );
  }

  async signInWithPassword(name: string, password: string): Promise<AdminSession> {
    const words = passwordSignInWire.format({ name, password });
    return this.#signed(await this.caller.post(adminSessionWire, "/sign-in/password", words));
  }

  async signOut(): Promise<void> {
    await this.caller.post(doneWire, "/sign-out");
    this.caller.remember(null);
  }

  requests(filter: AdminRequestFilter = {}, page: AdminPageRequest = {}) {
    return this.caller.list(requestPageWire, "/requests", { ...filter, ...page });
  }

  permissionState() {
    return this.caller.call(permissionStateViewWire, { method: "GET", path: "/permission-state" });
  }

  live(signal?: AbortSignal) {
    return this.stream(liveChangeWire, "/live", {}, signal);
  }

  protected async *stream<Value>(
    wire: { readonly parse: (value: unknown) => { readonly ok: boolean; readonly value?: Value } },
    path: string,
    query: object,
    signal: AbortSignal | undefined,
  ): AsyncGenerator<Value> {
    const asked = formatAdminQuery(query as AdminQuery);
    const response = await this.caller.open({ method: "GET", path, query: asked, signal }, SSE);
    if (response.body === null) return;
    for await (const data of eventData(response.body as ReadableStream<Uint8Array>)) {
      const parsed = wire.parse(JSON.parse(data));
      if (!parsed.ok) throw new AdminCallError("unavailable", 200, "the stream is not understood");
      yield parsed.value as Value;
    }
  }

  #signed(session: AdminSession): AdminSession {
    this.caller.remember(session.csrfToken);
    return session;
  }
}
