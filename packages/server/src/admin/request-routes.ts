/** Requests, and several decisions at once. Single decisions have routes of their own (`decision-routes.ts`). */
import { type UrlParser } from "@sallyport/contract";
import {
  type DecisionBatch,
  batchAnswerWire,
  decisionBatchWire,
  requestDetailWire,
  requestPageWire,
} from "@sallyport/contract/admin";
import type { AccessService, BatchItem } from "@sallyport/service";
import { byOf } from "../decision-routes.ts";
import { type AdminRoutes, filterOf, notFound, pageAnswer, pageOf, paramOf } from "./admin-call.ts";

export function requestRoutes(service: AccessService, parseUrl: UrlParser): AdminRoutes {
  const { overview } = service;
  return [
    {
      method: "GET",
      path: "/requests",
      summary: "Requests, newest first, by every identity field",
      scope: "requests",
      query: "requests",
      answer: requestPageWire,
      handle: async ({ caller, query }) =>
        pageAnswer(await overview.requests(caller, filterOf(query), pageOf(query))),
    },
    {
      method: "GET",
      path: "/requests/:id",
      summary: "One request with widenings, why it was asked, grants and near misses",
      scope: "requests",
      answer: requestDetailWire,
      handle: async (call) => {
        const detail = await overview.request(call.caller, paramOf(call, "id"));
        if (detail === null) throw notFound("request");
        return detail;
      },
    },
    {
      method: "POST",
      path: "/decisions/batch",
      summary: "Several decisions in one transaction: all or none",
      body: decisionBatchWire,
      answer: batchAnswerWire,
      handle: async ({ caller, body }) => {
        const items: BatchItem[] = [];
        for (const { kind, by, words } of (body as DecisionBatch).items) {
          const about = byOf({ by, words }, parseUrl);
          const raw = await rawWords(service, about, words as BatchItem["words"]);
          items.push({ kind, by: about, words: raw });
        }
        const { committed, answers } = await service.decideBatch(caller, items);
        return { committed, answers: answers.map((answer) => overview.shownDecision(answer)) };
      },
    },
  ];
}

/** A widening that was shown masked, as it is decided on. */
export async function rawWords<Words extends BatchItem["words"]>(
  { overview }: AccessService,
  by: BatchItem["by"],
  words: Words,
): Promise<Words> {
  if (words.widen === undefined || !("requestId" in by)) return words;
  return { ...words, widen: await overview.rawWidening(by.requestId, words.widen) };
}
