/** The pages by address. Only the inbox comes with the first load; every other page is fetched when it is opened. */
import {
  createRootRoute,
  createRoute,
  createRouter,
  lazyRouteComponent,
  redirect,
} from "@tanstack/react-router";
import { parseAuditSearch } from "../activity/audit-search.ts";
import { parseInboxSearch } from "../inbox/inbox-search.ts";
import { InboxPage } from "../inbox/inbox-page.tsx";
import { Broken } from "./broken.tsx";
import { NotFound } from "./not-found.tsx";
import { Shell } from "./shell.tsx";

const rootRoute = createRootRoute({ component: Shell, notFoundComponent: NotFound });

const pages = rootRoute.addChildren([
  createRoute({
    getParentRoute: () => rootRoute,
    path: "/",
    component: InboxPage,
    validateSearch: parseInboxSearch,
  }),
  createRoute({
    getParentRoute: () => rootRoute,
    path: "/sign-in",
    // WHY: once somebody is signed in there is nothing to do here.
    beforeLoad: () => {
      throw redirect({ to: "/", hash: location.hash.slice(1) });
    },
  }),
  createRoute({
    getParentRoute: () => rootRoute,
    path: "/requests/$id",
    // WHY: this is where the links of notifications lead; the inbox is where a request is opened.
    beforeLoad: ({ params }) => {
      throw redirect({ to: "/", search: { id: params.id } });
    },
  }),
  createRoute({
    getParentRoute: () => rootRoute,
    path: "/grants",
    component: lazyRouteComponent(() => import("../policy/grants-page.tsx"), "GrantsPage"),
  }),
  createRoute({
    getParentRoute: () => rootRoute,
    path: "/denials",
    component: lazyRouteComponent(() => import("../policy/denials-page.tsx"), "DenialsPage"),
  }),
  createRoute({
    getParentRoute: () => rootRoute,
    path: "/rules",
    component: lazyRouteComponent(() => import("../policy/rules-page.tsx"), "RulesPage"),
  }),
  createRoute({
    getParentRoute: () => rootRoute,
    path: "/manifests",
    component: lazyRouteComponent(() => import("../policy/manifests-page.tsx"), "ManifestsPage"),
  }),
  createRoute({
    getParentRoute: () => rootRoute,
    path: "/jobs",
    component: lazyRouteComponent(() => import("../activity/jobs-page.tsx"), "JobsPage"),
  }),
  createRoute({
    getParentRoute: () => rootRoute,
    path: "/sessions",
    component: lazyRouteComponent(() => import("../activity/sessions-page.tsx"), "SessionsPage"),
  }),
  createRoute({
    getParentRoute: () => rootRoute,
    path: "/sandbox",
    component: lazyRouteComponent(() => import("../activity/sandbox-page.tsx"), "SandboxPage"),
  }),
  createRoute({
    getParentRoute: () => rootRoute,
    path: "/audit",
    component: lazyRouteComponent(() => import("../activity/audit-page.tsx"), "AuditPage"),
    validateSearch: parseAuditSearch,
  }),
  createRoute({
    getParentRoute: () => rootRoute,
    path: "/what-if",
    component: lazyRouteComponent(() => import("../policy/trial-page.tsx"), "TrialPage"),
  }),
  createRoute({
    getParentRoute: () => rootRoute,
    path: "/notifications",
    component: lazyRouteComponent(() => import("../activity/notifications-page.tsx"), "NotificationsPage"),
  }),
  createRoute({
    getParentRoute: () => rootRoute,
    path: "/accounts",
    component: lazyRouteComponent(() => import("../people/accounts-page.tsx"), "AccountsPage"),
  }),
  createRoute({
    getParentRoute: () => rootRoute,
    path: "/credentials",
    component: lazyRouteComponent(() => import("../people/credentials-page.tsx"), "CredentialsPage"),
  }),
  createRoute({
    getParentRoute: () => rootRoute,
    path: "/tokens",
    component: lazyRouteComponent(() => import("../people/tokens-page.tsx"), "TokensPage"),
  }),
]);

export const router = createRouter({
  routeTree: pages,
  defaultPreload: "intent",
  defaultErrorComponent: Broken,
});

declare module "@tanstack/react-router" {
  interface Register {
    router: typeof router;
  }
}
