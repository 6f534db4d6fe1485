/** Buttons and links that look like them. One filled button a group; danger says so in colour and in words. */
import type { ComponentProps, ReactNode } from "react";

export type ButtonLook = "primary" | "plain" | "danger" | "quiet";

const LOOKS: Readonly<Record<ButtonLook, string>> = {
  primary: "bg-accent-fill text-white hover:bg-accent-fill-over border-transparent",
  plain: "bg-surface text-ink border-line hover:bg-sunken shadow-[0_1px_1px_rgb(0_0_0/0.04)]",
  danger: "bg-surface text-danger border-line hover:bg-danger-soft",
  quiet: "bg-transparent text-ink-2 border-transparent hover:bg-sunken hover:text-ink",
};

export const buttonClass = (look: ButtonLook, className = ""): string =>
  `inline-flex min-h-8 items-center justify-center gap-1.5 rounded-md border px-3 py-1 text-sm font-medium whitespace-nowrap transition-colors disabled:cursor-not-allowed disabled:opacity-60 ${LOOKS[look]} ${className}`;

export function Button({
  look = "plain",
  className,
  ...rest
}: ComponentProps<"button"> & { readonly look?: ButtonLook }): ReactNode {
  return <button type="button" {...rest} className={buttonClass(look, className)} />;
}

/** A key on the keyboard. */
export function Key({ children }: { readonly children: ReactNode }): ReactNode {
  return (
    <kbd className="rounded border max-md:hidden border-line bg-sunken px-1 font-mono text-xs leading-4 text-ink-2">
      {children}
    </kbd>
  );
}
