import type { ComponentChildren } from "preact";

interface ButtonProps {
  children: ComponentChildren;
  onClick?: () => void;
  type?: "button" | "submit";
  kind?: "primary" | "danger" | "plain" | "quiet";
  /** Shows that its work is in progress; it cannot be pressed meanwhile. */
  busy?: boolean;
  disabled?: boolean;
  /** A full description, if the text alone does not say what the button does. */
  label?: string;
  title?: string;
}

export function Button({
  children,
  onClick,
  type = "button",
  kind = "plain",
  busy,
  disabled,
  label,
  title,
}: ButtonProps) {
  // A disabled button would lose the focus; this one keeps it and does nothing.
  const press = (event: Event) => {
    if (busy) event.preventDefault();
    else onClick?.();
  };
  return (
    <button
      type={type}
      class={`button ${kind}`}
      onClick={press}
      disabled={disabled}
      aria-disabled={busy || undefined}
      aria-busy={busy || undefined}
      aria-label={label}
      title={title}
    >
      {children}
    </button>
  );
}

interface LinkProps {
  href: string;
  children: ComponentChildren;
  kind?: "primary" | "plain" | "quiet";
}

/** A link that looks like a button and opens another page. */
export function LinkButton({ href, children, kind = "plain" }: LinkProps) {
  return (
    <a class={`button ${kind}`} href={href}>
      {children}
    </a>
  );
}
