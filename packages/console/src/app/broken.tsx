/** A page that could not be shown: most often the console was replaced by a newer one while it was open. */
import type { ReactNode } from "react";
import { Button } from "../parts/button.tsx";
import { Failed } from "../parts/states.tsx";

export function Broken({ error }: { readonly error: unknown }): ReactNode {
  return (
    <main className="p-4">
      <h1 className="sr-only">Something broke</h1>
      <Failed error={error} />
      <p className="mx-4 mb-3 text-sm text-ink-2">
        If the server was updated meanwhile, loading the page again helps.
      </p>
      <Button className="mx-4" onClick={() => location.reload()}>
        Load again
      </Button>
    </main>
  );
}
