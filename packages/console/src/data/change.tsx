/** A change of policy from a page: its answer becomes a notice, a refusal is said and never hidden. */
import type { ChangeAnswerView } from "@sallyport/contract/admin";
import type { ReactNode } from "react";
import { Hostile } from "../display/hostile.tsx";
import { notify } from "../parts/notices.tsx";
import { errorText } from "../parts/states.tsx";
import { cache } from "./admin.ts";

export async function change(
  work: () => Promise<ChangeAnswerView>,
  { done, topics }: { readonly done: ReactNode; readonly topics: readonly string[] },
): Promise<boolean> {
  try {
    const answer = await work();
    if (answer.ok) notify({ tone: "neutral", text: answer.repeated ? "It was so already" : done });
    else
      notify({
        tone: "danger",
        text: (
          <>
            Refused: <Hostile text={answer.message} />
          </>
        ),
      });
    return answer.ok;
  } catch (error) {
    notify({
      tone: "danger",
      text: (
        <>
          Refused: <Hostile text={errorText(error)} />
        </>
      ),
    });
    return false;
  } finally {
    await Promise.all(topics.map((topic) => cache.invalidateQueries({ queryKey: [topic] })));
  }
}
