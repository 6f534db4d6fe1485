/**
 * Keeps what is shown current: hears from the server that something changed, and asks again for what that concerns.
 * After a break everything is asked for again: what was missed is not known.
 */
import type { LiveTopic } from "@sallyport/contract/admin";
import { useEffect, useSyncExternalStore } from "react";
import { cache, inboxAdmin, isSignedOut } from "./admin.ts";
import { refreshHead } from "./request-pages.ts";
import { refreshSession } from "./session.ts";

export type LiveState = "connecting" | "live" | "lost";

/** Which questions a change makes old. */
const CONCERNS: Readonly<Record<LiveTopic, readonly string[]>> = {
  requests: ["request", "permission-state", "sessions"],
  approvals: ["approvals", "request", "sessions"],
  denials: ["denials", "request"],
  rules: ["rules", "permission-state"],
  mode: ["mode", "permission-state", "session"],
  freeze: ["freeze", "permission-state", "session"],
  sessions: ["sessions", "approvals"],
  jobs: ["jobs"],
  deliveries: ["deliveries"],
  events: ["events", "stats"],
};

const GATHER_MS = 150;
const PAUSE_MS = 500;
const PAUSE_MS_MAX = 8000;

let state: LiveState = "connecting";
const listeners = new Set<() => void>();

function become(next: LiveState): void {
  if (state === next) return;
  state = next;
  for (const listener of listeners) listener();
}

const subscribe = (listener: () => void): (() => void) => {
  listeners.add(listener);
  return () => listeners.delete(listener);
};

export const useLiveState = (): LiveState => useSyncExternalStore(subscribe, () => state);

let waiting = new Set<LiveTopic>();
let gathering: ReturnType<typeof setTimeout> | undefined;

/** WHY gathered: a thousand requests in a second are one question to the server, not a thousand. */
function gather(topics: readonly LiveTopic[]): void {
  for (const topic of topics) waiting.add(topic);
  gathering ??= setTimeout(() => {
    gathering = undefined;
    const heard = waiting;
    waiting = new Set();
    if (heard.has("requests")) refreshHead().catch(() => undefined);
    const roots = new Set([...heard].flatMap((topic) => CONCERNS[topic]));
    for (const root of roots) cache.invalidateQueries({ queryKey: [root] }).catch(() => undefined);
  }, GATHER_MS);
}

async function follow(signal: AbortSignal): Promise<void> {
  let pauseMs = PAUSE_MS;
  let isFirst = true;
  while (!signal.aborted) {
    try {
      for await (const change of inboxAdmin.live(signal)) {
        pauseMs = PAUSE_MS;
        become("live");
        if (change.kind === "hello" && !isFirst) await cache.invalidateQueries();
        else gather(change.what);
        isFirst = false;
      }
    } catch (error) {
      if (signal.aborted) return;
      if (isSignedOut(error)) await refreshSession();
    }
    if (signal.aborted) return;
    become("lost");
    await paused(pauseMs, signal);
    pauseMs = Math.min(PAUSE_MS_MAX, pauseMs * 2);
  }
}

function paused(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms);
    const stop = (): void => {
      clearTimeout(timer);
      resolve();
    };
    signal.addEventListener("abort", stop, { once: true });
    globalThis.addEventListener("online", stop, { once: true });
  });
}

/** Follows for as long as the page of a signed-in person is open. */
export function useLive(): void {
  useEffect(() => {
    const stop = new AbortController();
    become("connecting");
    follow(stop.signal).catch(() => become("lost"));
    return () => stop.abort();
  }, []);
}
