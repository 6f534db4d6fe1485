/** A change from a page: its answer becomes a notice, a refusal is said and never hidden. */
import type { ChangeAnswerView } from "@sallyport/contract/admin";
import type { ReactNode } from "react";
import { Message } from "../display/hostile.tsx";
import { notify } from "../parts/notices.tsx";
import { errorText } from "../parts/states.tsx";
import { cache } from "./admin.ts";

interface Words {
  /** What is said when it is done; left out where the page shows it. */
  readonly done?: ReactNode;
  readonly topics: readonly string[];
}

export async function change(
  work: () => Promise<ChangeAnswerView>,
  { done, topics }: Words,
): Promise<boolean> {
  const answer = await attempt(work, { topics });
  if (answer === null) return false;
  if (answer.ok) notify({ tone: "neutral", text: answer.repeated ? "It was so already" : done });
  else refused(answer.message);
  return answer.ok;
}

/** For calls that answer with what they made. `null`: it was refused, and that was said. */
export async function attempt<Value>(
  work: () => Promise<Value>,
  { done, topics }: Words,
): Promise<Value | null> {
  try {
    const value = await work();
    if (done !== undefined) notify({ tone: "neutral", text: done });
    return value;
  } catch (error) {
    refused(errorText(error));
    return null;
  } finally {
    await Promise.all(topics.map((topic) => cache.invalidateQueries({ queryKey: [topic] })));
  }
}

function refused(why: string): void {
  notify({
    tone: "danger",
    text: (
      <>
        Refused: <Message text={why} />
      </>
    ),
  });
}
