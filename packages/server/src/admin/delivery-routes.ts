/** Notifications that wait or were given up, and tokens of persons for scripts. */
import {
  type AdminDeliveryFilter,
  type TokenWords,
  deliveryPageWire,
  deliveryViewWire,
  doneWire,
  madeTokenWire,
  reasonWire,
  tokenPageWire,
  tokenWordsWire,
} from "@sallyport/contract/admin";
import type { AccessService } from "@sallyport/service";
import type { Deliveries } from "../notify/deliveries.ts";
import { refusedCredential } from "../problem.ts";
import type { PersonTokens } from "../sign-in/person-tokens.ts";
import { type AdminRoutes, filterOf, pageAnswer, pageOf, paramOf } from "./admin-call.ts";

export function deliveryRoutes(deliveries: Deliveries): AdminRoutes {
  return [
    {
      method: "GET",
      path: "/deliveries",
      summary: "Notifications that wait for a try or were given up",
      scope: "runs",
      query: "deliveries",
      answer: deliveryPageWire,
      handle: async ({ caller, query }) =>
        pageAnswer(await deliveries.list(caller, filterOf<AdminDeliveryFilter>(query), pageOf(query))),
    },
    {
      method: "POST",
      path: "/deliveries/:id/retry",
      summary: "Try a notification again that was given up",
      body: reasonWire,
      answer: deliveryViewWire,
      handle: (call) => deliveries.retry(call.caller, paramOf(call, "id"), reasonOf(call.body)),
    },
  ];
}

export function tokenRoutes({ overview }: AccessService, tokens: PersonTokens): AdminRoutes {
  return [
    {
      method: "GET",
      path: "/person-tokens",
      summary: "Tokens of persons for scripts; never the token itself",
      query: "pages",
      answer: tokenPageWire,
      handle: async ({ caller, query }) => {
        await overview.authorize(caller);
        return pageAnswer(await tokens.list(pageOf(query)));
      },
    },
    {
      method: "POST",
      path: "/person-tokens",
      summary: "Make a token of your own that reads; it is told once",
      body: tokenWordsWire,
      answer: madeTokenWire,
      handle: async ({ caller, person, body }) => {
        await overview.authorize(caller);
        if (person === null) throw refusedCredential("nobody is signed in: sign in, then try again");
        return tokens.make(person, body as TokenWords);
      },
    },
    {
      method: "POST",
      path: "/person-tokens/:id/revoke",
      summary: "Revoke a token of any person",
      body: reasonWire,
      answer: doneWire,
      handle: async (call) => {
        await tokens.revoke(call.caller, paramOf(call, "id"), reasonOf(call.body));
        return {};
      },
    },
  ];
}

const reasonOf = (body: unknown): string | undefined => (body as { readonly reason?: string }).reason;
