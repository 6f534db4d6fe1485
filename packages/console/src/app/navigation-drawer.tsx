/** The pages on a phone: a sheet over the page. */
import type { ReactNode } from "react";
import { Modal } from "../parts/modal.tsx";
import { Navigation, type NavigationProps } from "./navigation.tsx";

export function NavigationDrawer({
  onClose,
  session,
  onHelp,
}: NavigationProps & {
  readonly onClose: () => void;
}): ReactNode {
  const help = (): void => {
    onClose();
    onHelp();
  };
  return (
    <Modal open onClose={onClose} title="Menu">
      <Navigation session={session} onHelp={help} onGo={onClose} />
    </Modal>
  );
}
