/** A dialog: keeps the focus inside, gives it back, closes on Escape. On a phone it is a sheet at the lower edge. */
import { Dialog } from "@base-ui/react/dialog";
import { X } from "lucide-react";
import type { ReactNode, RefObject } from "react";

export function Modal({
  open,
  onClose,
  title,
  children,
  wide = false,
  first,
}: {
  readonly open: boolean;
  readonly onClose: () => void;
  readonly title: ReactNode;
  readonly children: ReactNode;
  readonly wide?: boolean;
  /** What has the focus when it opens. */
  readonly first?: RefObject<HTMLElement | null> | undefined;
}): ReactNode {
  return (
    <Dialog.Root open={open} onOpenChange={(next) => (next ? undefined : onClose())}>
      <Dialog.Portal>
        <Dialog.Backdrop className="fixed inset-0 z-40 bg-shade" />
        <Dialog.Popup
          initialFocus={first}
          className={`fixed z-50 flex max-h-[92dvh] flex-col overflow-hidden border border-line bg-surface shadow-2xl outline-none max-sm:inset-x-0 max-sm:bottom-0 max-sm:rounded-t-xl sm:top-1/2 sm:left-1/2 sm:w-[calc(100vw-2rem)] sm:-translate-x-1/2 sm:-translate-y-1/2 sm:rounded-xl ${wide ? "sm:max-w-3xl" : "sm:max-w-lg"}`}
        >
          <header className="flex items-start gap-3 border-b border-line px-5 py-3.5">
            <Dialog.Title className="min-w-0 flex-1 text-base font-semibold text-ink">{title}</Dialog.Title>
            <Dialog.Close
              aria-label="Close"
              className="-mr-1.5 rounded-md p-1.5 text-ink-2 hover:bg-sunken hover:text-ink"
            >
              <X size={16} aria-hidden />
            </Dialog.Close>
          </header>
          <div className="min-h-0 overflow-y-auto px-5 py-4">{children}</div>
        </Dialog.Popup>
      </Dialog.Portal>
    </Dialog.Root>
  );
}

export function ModalActions({ children }: { readonly children: ReactNode }): ReactNode {
  return <div className="mt-5 flex flex-wrap items-center justify-end gap-2">{children}</div>;
}
