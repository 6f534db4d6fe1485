/** Where one can go: a column beside the page, or on a phone a drawer over it. */
import type { AdminSession } from "@sallyport/contract/admin";
import { useQuery } from "@tanstack/react-query";
import { Link, type LinkProps } from "@tanstack/react-router";
import {
  Ban,
  BellRing,
  Box,
  FileCheck,
  FlaskConical,
  Inbox,
  Keyboard,
  KeyRound,
  KeySquare,
  LogOut,
  type LucideIcon,
  Menu,
  Play,
  Scale,
  ScrollText,
  Ticket,
  Users,
  UsersRound,
} from "lucide-react";
import { type ReactNode, Suspense, lazy, useState } from "react";
import { inboxAdmin } from "../data/admin.ts";
import { useLiveState } from "../data/live.ts";
import { signOut } from "../data/session.ts";
import { Hostile } from "../display/hostile.tsx";
import { notify } from "../parts/notices.tsx";
import { errorText } from "../parts/states.tsx";
import { Mark } from "./mark.tsx";
import { THEMES, type Theme, prefer, usePreferences } from "./preferences.ts";

const OwnPasswordDialog = lazy(async () => ({
  default: (await import("../people/own-password-dialog.tsx")).OwnPasswordDialog,
}));

interface Place {
  readonly to: NonNullable<LinkProps["to"]>;
  readonly label: string;
  readonly icon: LucideIcon;
}

const GROUPS: readonly { readonly title: string; readonly places: readonly Place[] }[] = [
  { title: "Decide", places: [{ to: "/", label: "Inbox", icon: Inbox }] },
  {
    title: "Policy",
    places: [
      { to: "/grants", label: "Grants", icon: KeyRound },
      { to: "/denials", label: "Denials", icon: Ban },
      { to: "/rules", label: "Rules and mode", icon: Scale },
      { to: "/manifests", label: "Manifests", icon: FileCheck },
      { to: "/what-if", label: "What if", icon: FlaskConical },
    ],
  },
  {
    title: "Activity",
    places: [
      { to: "/audit", label: "Audit", icon: ScrollText },
      { to: "/jobs", label: "Resume jobs", icon: Play },
      { to: "/sessions", label: "Sessions", icon: Users },
      { to: "/sandbox", label: "Sandbox", icon: Box },
      { to: "/notifications", label: "Notifications", icon: BellRing },
    ],
  },
  {
    title: "People",
    places: [
      { to: "/accounts", label: "Accounts", icon: UsersRound },
      { to: "/credentials", label: "Runtime credentials", icon: KeySquare },
      { to: "/tokens", label: "Tokens", icon: Ticket },
    ],
  },
];

export interface NavigationProps {
  readonly session: AdminSession;
  readonly onHelp: () => void;
  readonly onGo?: (() => void) | undefined;
}

export function Sidebar(props: NavigationProps): ReactNode {
  return (
    <aside
      aria-label="Sallyport"
      className="hidden w-56 shrink-0 flex-col border-r border-line bg-surface lg:flex"
    >
      <div className="flex items-center gap-2.5 px-4 pt-4 pb-3">
        <Mark size={24} />
        <span className="text-base font-semibold tracking-tight">Sallyport</span>
      </div>
      <Navigation {...props} />
    </aside>
  );
}

export function TopBar({ onMenu }: { readonly onMenu: () => void }): ReactNode {
  return (
    <header className="flex items-center gap-2.5 border-b border-line bg-surface px-3 py-2 lg:hidden">
      <button
        type="button"
        aria-label="Open the menu"
        className="rounded-md p-1.5 text-ink-2 hover:bg-sunken"
        onClick={onMenu}
      >
        <Menu size={18} aria-hidden />
      </button>
      <Mark size={20} />
      <span className="font-semibold tracking-tight">Sallyport</span>
    </header>
  );
}

export function Navigation({ session, onHelp, onGo }: NavigationProps): ReactNode {
  const pending = useQuery({ queryKey: ["permission-state"], queryFn: () => inboxAdmin.permissionState() })
    .data?.pending;
  return (
    <>
      <nav aria-label="Pages" className="flex flex-1 flex-col gap-4 overflow-y-auto px-2 py-2">
        {GROUPS.map(({ title, places }) => (
          <div key={title}>
            <p className="px-2 pb-1 text-xs font-medium text-ink-3">{title}</p>
            <ul className="flex flex-col gap-px">
              {places.map(({ to, label, icon: Icon }) => (
                <li key={to}>
                  <Link
                    to={to}
                    onClick={onGo}
                    activeOptions={{ exact: to === "/", includeSearch: false }}
                    className="flex items-center gap-2.5 rounded-md px-2 py-1.5 text-sm text-ink-2 hover:bg-sunken hover:text-ink"
                    activeProps={{
                      className: "bg-accent-soft !text-accent font-medium",
                      "aria-current": "page",
                    }}
                  >
                    <Icon size={16} aria-hidden />
                    <span className="flex-1">{label}</span>
                    {to === "/" && pending !== undefined && pending > 0 ? (
                      <span className="rounded-full bg-accent-fill px-1.5 text-xs font-semibold text-white">
                        {pending.toLocaleString("en")}
                        <span className="sr-only"> pending</span>
                      </span>
                    ) : null}
                  </Link>
                </li>
              ))}
            </ul>
          </div>
        ))}
      </nav>
      <Footer session={session} onHelp={onHelp} />
    </>
  );
}

const LIVE_WORDS = {
  live: { label: "Live", dot: "bg-good" },
  connecting: { label: "Connecting", dot: "bg-line-strong" },
  lost: { label: "Offline", dot: "bg-danger" },
} as const;

const leave = (): void => {
  signOut().catch((error: unknown) => notify({ tone: "danger", text: errorText(error) }));
};

function Footer({ session, onHelp }: NavigationProps): ReactNode {
  const { theme } = usePreferences();
  const [isPassword, setPassword] = useState(false);
  const live = LIVE_WORDS[useLiveState()];
  return (
    <div className="border-t border-line px-3 py-3 text-sm">
      <div className="mb-2 flex items-center gap-2 text-xs text-ink-3">
        <span className={`size-2 rounded-full ${live.dot}`} aria-hidden />
        <span data-live>{live.label}</span>
        <label className="ml-auto flex items-center gap-1">
          <span className="sr-only">Colours</span>
          <select
            value={theme}
            onChange={(event) => prefer({ theme: event.target.value as Theme })}
            className="rounded border border-line bg-surface px-1 py-0.5 text-xs text-ink-2"
          >
            {THEMES.map((name) => (
              <option key={name} value={name}>
                {name}
              </option>
            ))}
          </select>
        </label>
        <button
          type="button"
          aria-label="Keyboard shortcuts"
          title="Keyboard shortcuts"
          onClick={onHelp}
          className="rounded p-1 hover:bg-sunken hover:text-ink"
        >
          <Keyboard size={15} aria-hidden />
        </button>
      </div>
      <div className="flex items-center gap-2">
        <div className="min-w-0 flex-1 leading-tight">
          <p className="truncate font-medium text-ink">
            <Hostile text={session.user?.name ?? ""} fold="line" />
          </p>
          <p className="truncate text-xs text-ink-3">{session.mayDecide ? "may decide" : "may not decide"}</p>
        </div>
        {session.hasAccount ? (
          <button
            type="button"
            aria-label="Your password"
            title="Your password"
            onClick={() => setPassword(true)}
            className="rounded-md p-1.5 text-ink-2 hover:bg-sunken hover:text-ink"
          >
            <KeyRound size={16} aria-hidden />
          </button>
        ) : null}
        <button
          type="button"
          aria-label="Sign out"
          title="Sign out"
          onClick={leave}
          className="rounded-md p-1.5 text-ink-2 hover:bg-sunken hover:text-ink"
        >
          <LogOut size={16} aria-hidden />
        </button>
      </div>
      {isPassword ? (
        <Suspense fallback={null}>
          <OwnPasswordDialog way={session.way} onClose={() => setPassword(false)} />
        </Suspense>
      ) : null}
    </div>
  );
}
