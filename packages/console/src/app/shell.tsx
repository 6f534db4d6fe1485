/** What stands around every page: who is signed in, where one can go, and whether what is shown is current. */
import { Outlet } from "@tanstack/react-router";
import { type ReactNode, Suspense, lazy, useEffect, useState } from "react";
import { useLive, useLiveState } from "../data/live.ts";
import { useSession } from "../data/session.ts";
import { Notices, notify } from "../parts/notices.tsx";
import { Failed, Loading } from "../parts/states.tsx";
import type { AdminSession } from "@sallyport/contract/admin";
import { Lock, Snowflake, TriangleAlert, WifiOff } from "lucide-react";
import { MODE_WORDS } from "../display/words.ts";
import { fetchLateParts } from "../inbox/late-parts.tsx";
import { fetchLateRequest } from "../inbox/late-request.ts";
import { Sidebar, TopBar } from "./navigation.tsx";
import { useHelpKey } from "./shortcuts.ts";
import { hearLinkTokens, takeLinkToken } from "./link-token.ts";

const NavigationDrawer = lazy(async () => ({
  default: (await import("./navigation-drawer.tsx")).NavigationDrawer,
}));
const ShortcutHelp = lazy(async () => ({ default: (await import("./shortcut-help.tsx")).ShortcutHelp }));
const SignIn = lazy(async () => ({ default: (await import("./sign-in.tsx")).SignIn }));

/** WHY when the module loads: the address is cleaned before any page can be rendered, shared or reloaded. */
const linkToken = takeLinkToken();
const IDLE_MS = 300;

export function Shell(): ReactNode {
  const session = useSession();
  if (session.isPending) return <Loading label="Loading the console" />;
  if (session.data === undefined)
    return (
      <main className="p-6">
        <h1 className="text-xl font-semibold">Sallyport</h1>
        <Failed
          error={session.error}
          onRetry={() => {
            session.refetch().catch(() => undefined);
          }}
        />
      </main>
    );
  return (
    <>
      {session.data.user === null ? (
        <Suspense fallback={<Loading label="Loading the sign-in" />}>
          <SignIn server={session.data.server} linkToken={linkToken} />
        </Suspense>
      ) : (
        <SignedIn session={session.data} />
      )}
      <Notices />
    </>
  );
}

function SignedIn({ session }: { readonly session: AdminSession }): ReactNode {
  useLive();
  const [isMenuOpen, setMenuOpen] = useState(false);
  const [isHelpOpen, setHelpOpen] = useState(false);
  useHelpKey(() => setHelpOpen(true));
  useEffect(
    () =>
      hearLinkTokens(() =>
        notify({ tone: "warn", text: "You are signed in already: sign out, then open the link again." }),
      ),
    [],
  );
  useEffect(() => {
    fetchLateRequest();
    const timer = setTimeout(fetchLateParts, IDLE_MS);
    return () => clearTimeout(timer);
  }, []);
  return (
    <div className="flex h-full">
      <a
        href="#page"
        className="sr-only z-50 rounded bg-surface px-3 py-2 text-accent focus:not-sr-only focus:absolute focus:m-2"
      >
        Skip to the page
      </a>
      <Sidebar session={session} onHelp={() => setHelpOpen(true)} />
      <div className="flex min-w-0 flex-1 flex-col">
        <TopBar onMenu={() => setMenuOpen(true)} />
        <Banners session={session} />
        <main id="page" tabIndex={-1} className="min-h-0 flex-1 outline-none">
          <Outlet />
        </main>
      </div>
      <Suspense fallback={null}>
        {isMenuOpen ? (
          <NavigationDrawer
            session={session}
            onClose={() => setMenuOpen(false)}
            onHelp={() => setHelpOpen(true)}
          />
        ) : null}
        {isHelpOpen ? <ShortcutHelp onClose={() => setHelpOpen(false)} /> : null}
      </Suspense>
    </div>
  );
}

/** What changes the meaning of everything below it is said at the top. */
function Banners({ session }: { readonly session: AdminSession }): ReactNode {
  const live = useLiveState();
  const { server, mayDecide } = session;
  return (
    <>
      {live === "lost" ? (
        <Banner tone="bg-warn-soft text-warn" icon={<WifiOff size={15} aria-hidden />}>
          The connection to the server is lost. What you see may be old; trying again.
        </Banner>
      ) : null}
      {server.frozen === true ? (
        <Banner tone="bg-danger-soft text-danger" icon={<Snowflake size={15} aria-hidden />}>
          Frozen: everything outside the allowlist is refused, whatever was approved.
        </Banner>
      ) : null}
      {server.mode !== undefined && server.mode !== "default" ? (
        <Banner tone="bg-warn-soft text-warn" icon={<TriangleAlert size={15} aria-hidden />}>
          Mode “{MODE_WORDS[server.mode].label}”: {MODE_WORDS[server.mode].about}
        </Banner>
      ) : null}
      {mayDecide ? null : (
        <Banner tone="bg-sunken text-ink-2" icon={<Lock size={15} aria-hidden />}>
          You may not decide: your account has no super role, or belongs to one organization.
        </Banner>
      )}
    </>
  );
}

function Banner({
  tone,
  icon,
  children,
}: {
  readonly tone: string;
  readonly icon: ReactNode;
  readonly children: ReactNode;
}): ReactNode {
  return (
    <p
      role="status"
      className={`flex items-center gap-2 border-b border-line px-4 py-1.5 text-sm sm:px-6 ${tone}`}
    >
      {icon}
      <span>{children}</span>
    </p>
  );
}
