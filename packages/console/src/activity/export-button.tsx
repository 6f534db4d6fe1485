/** Takes the log along as JSON lines. WHY not a link: it would carry the cookie alone, which is worth nothing. */
import { Download } from "lucide-react";
import { type ReactNode, useState } from "react";
import { admin } from "../data/late-admin.ts";
import { Message } from "../display/hostile.tsx";
import { Button } from "../parts/button.tsx";
import { notify } from "../parts/notices.tsx";
import { errorText } from "../parts/states.tsx";

const FILE = "sallyport-events.jsonl";

export function ExportButton(): ReactNode {
  const [busy, setBusy] = useState(false);
  const take = (): void => {
    setBusy(true);
    wholeLog()
      .then(save, (error: unknown) =>
        notify({ tone: "danger", text: <Message text={`the log was not taken: ${errorText(error)}`} /> }),
      )
      .finally(() => setBusy(false));
  };
  return (
    <Button disabled={busy} onClick={take}>
      <Download size={15} aria-hidden />
      {busy ? "Exporting…" : "Export"}
    </Button>
  );
}

async function wholeLog(): Promise<Blob> {
  const lines: string[] = [];
  for await (const line of admin.exportEvents()) lines.push(`${line}\n`);
  return new Blob(lines, { type: "application/x-ndjson" });
}

function save(log: Blob): void {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(log);
  link.download = FILE;
  link.click();
  URL.revokeObjectURL(link.href);
}
