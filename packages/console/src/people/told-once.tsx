/** A secret at the one moment that it can be read: kept in this dialog and nowhere else. */
import { Copy } from "lucide-react";
import { type ReactNode, useRef } from "react";
import { Hostile } from "../display/hostile.tsx";
import { Button } from "../parts/button.tsx";
import { Modal, ModalActions } from "../parts/modal.tsx";
import { notify } from "../parts/notices.tsx";

export function ToldOnce({
  title,
  secret,
  children,
  onClose,
}: {
  readonly title: string;
  readonly secret: string;
  readonly children: ReactNode;
  readonly onClose: () => void;
}): ReactNode {
  const first = useRef<HTMLButtonElement>(null);
  const copy = (): void => {
    navigator.clipboard.writeText(secret).then(
      () => notify({ tone: "neutral", text: "Copied." }),
      () => notify({ tone: "warn", text: "The browser did not let it be copied: select the text instead." }),
    );
  };
  return (
    <Modal open onClose={onClose} title={title} first={first}>
      <div className="text-sm">{children}</div>
      <div className="mt-3 rounded-md bg-sunken p-3 text-xs select-all" data-secret>
        <Hostile mono text={secret} fold="off" />
      </div>
      <p className="mt-2 text-xs text-warn">It is shown this once. Nobody can look it up again.</p>
      <ModalActions>
        <Button ref={first} onClick={copy}>
          <Copy size={14} aria-hidden />
          Copy
        </Button>
        <Button look="primary" onClick={onClose}>
          Done
        </Button>
      </ModalActions>
    </Modal>
  );
}
