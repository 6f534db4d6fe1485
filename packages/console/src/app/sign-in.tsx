/**
 * Signing in: by the one-time link, by a local account, or at the identity provider.
 */
import type { AdminSession } from "@sallyport/contract/admin";
import { LogIn } from "lucide-react";
import { type FormEvent, type ReactNode, useEffect, useState } from "react";
import { signInWithLink, signInWithPassword } from "../data/session.ts";
import { Hostile, Message } from "../display/hostile.tsx";
import { Button, buttonClass } from "../parts/button.tsx";
import { TextField } from "../parts/field.tsx";
import { textOf } from "../parts/form-text.ts";
import { errorText } from "../parts/states.tsx";
import { hearLinkTokens, keepWanted } from "./link-token.ts";
import { Mark } from "./mark.tsx";

/** INVARIANT: a link is worth one sign-in, also when this is rendered again. */
let isTokenUsed = false;

export function SignIn({
  server,
  linkToken,
}: {
  readonly server: AdminSession["server"];
  readonly linkToken: string | null;
}): ReactNode {
  const [fault, setFault] = useState<string | null>(null);
  const [busy, setBusy] = useState(false);
  const ways = server.signInWays;

  const attempt = (work: Promise<void>): void => {
    setBusy(true);
    setFault(null);
    work.catch((error: unknown) => setFault(errorText(error))).finally(() => setBusy(false));
  };

  useEffect(() => {
    if (linkToken === null || isTokenUsed) return;
    isTokenUsed = true;
    attempt(signInWithLink(linkToken));
  }, [linkToken]);

  useEffect(() => hearLinkTokens((token) => attempt(signInWithLink(token))), []);

  const submit = (event: FormEvent<HTMLFormElement>): void => {
    event.preventDefault();
    const form = new FormData(event.currentTarget);
    attempt(signInWithPassword(textOf(form, "name"), passwordOf(form)));
  };

  return (
    <main className="grid min-h-full place-items-center p-4">
      <div className="w-full max-w-sm">
        <div className="mb-6 flex items-center gap-3">
          <Mark size={34} />
          <div>
            <h1 className="text-xl font-semibold tracking-tight">Sign in to Sallyport</h1>
            <p className="text-sm text-ink-2">Approvals decide what code may touch.</p>
          </div>
        </div>
        <div className="rounded-xl border border-line bg-surface p-5 shadow-sm">
          {fault === null ? null : (
            <p role="alert" className="mb-4 rounded-md bg-danger-soft px-3 py-2 text-sm text-danger">
              <Message text={fault} />
            </p>
          )}
          {ways.includes("password") ? (
            <form onSubmit={submit} className="flex flex-col gap-3">
              <TextField label="Name" name="name" autoComplete="username" required />
              <TextField
                label="Password"
                name="password"
                type="password"
                autoComplete="current-password"
                required
              />
              <Button type="submit" look="primary" disabled={busy} className="mt-1">
                <LogIn size={15} aria-hidden />
                Sign in
              </Button>
            </form>
          ) : null}
          {ways.includes("oidc") ? (
            <a
              href="/v1/sign-in/oidc/start"
              onClick={keepWanted}
              className={buttonClass("plain", "mt-3 w-full")}
            >
              Continue with your organization
            </a>
          ) : null}
          {ways.includes("link") ? (
            <p className="mt-4 border-t border-line pt-4 text-sm text-ink-2">
              First time, or locked out? The server prints a one-time link when it starts;{" "}
              <code className="rounded bg-sunken px-1 font-mono text-xs">sallyport admin link</code> prints a
              new one.
            </p>
          ) : null}
        </div>
        <p className="mt-4 text-xs text-ink-3">
          Sallyport {server.version} at <Hostile text={server.origin} />
        </p>
      </div>
    </main>
  );
}

/** As it was typed: a space may be part of it. */
function passwordOf(form: FormData): string {
  const value = form.get("password");
  return typeof value === "string" ? value : "";
}
