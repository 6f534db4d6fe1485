/** Declarations held against every recorded check of their subject. */
import { type ManifestView, declaredUseWire } from "@sallyport/contract/admin";
import type { AccessService } from "@sallyport/service";
import { type AdminRoutes, notFound } from "./admin-call.ts";

export function useRoutes(
  { overview }: AccessService,
  manifests: () => readonly ManifestView[],
): AdminRoutes {
  return [
    {
      method: "GET",
      path: "/manifests/use",
      summary: "What a subject declared, held against every recorded check of it",
      scope: "runs",
      query: "use",
      answer: declaredUseWire,
      handle: async ({ caller, query }) => {
        await overview.authorize(caller);
        const { subjectType, subjectName, phase = "runtime" } = query;
        const view = manifests().find(
          ({ subject, phase: declared }) =>
            subject.type === subjectType && subject.name === subjectName && declared === phase,
        );
        if (view === undefined) throw notFound("manifest");
        return overview.declaredUse(caller, {
          subject: view.subject,
          phase: view.phase,
          access: view.access,
        });
      },
    },
  ];
}
