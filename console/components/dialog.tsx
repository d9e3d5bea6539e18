import type { ComponentChildren } from "preact";
import { useEffect, useId, useRef, useState } from "preact/hooks";
import type { Mutation } from "../mutation.ts";
import { Button } from "./button.tsx";
import { TextField } from "./field.tsx";
import { DialogForm } from "./form.tsx";
import { UserText } from "./user-text.tsx";

interface DialogProps {
  title: string;
  onClose: () => void;
  children: ComponentChildren;
  wide?: boolean;
  /** True if the element that opened the dialog is removed when the dialog closes, or soon after. */
  isOpenerGone?: { readonly current: boolean };
}

/**
 * The platform's modal dialog; render it only while it is open. Escape closes it, and the focus returns to where it was, or to the
 * page's title if that is gone.
 */
export function Dialog({ title, onClose, children, wide, isOpenerGone }: DialogProps) {
  const dialog = useRef<HTMLDialogElement>(null);
  const id = useId();
  useEffect(() => {
    const element = dialog.current;
    const opener = document.activeElement;
    element?.showModal();
    return () => {
      // Elements outside of an open modal dialog cannot be focused.
      element?.close();
      const isThere = opener instanceof HTMLElement && opener.isConnected && !isOpenerGone?.current;
      const next = isThere ? opener : document.querySelector<HTMLElement>("h1");
      next?.focus({ preventScroll: true });
    };
  }, []);
  return (
    <dialog
      ref={dialog}
      class={wide ? "wide" : undefined}
      aria-labelledby={id}
      onCancel={(event) => {
        // The cancel event of an inner dialog or a file chooser may arrive here too.
        if (event.target !== dialog.current) return;
        event.preventDefault();
        onClose();
      }}
    >
      <header>
        <h2 id={id}>{title}</h2>
        <Button kind="quiet" label="Close" onClick={onClose}>
          <span aria-hidden="true">✕</span>
        </Button>
      </header>
      {children}
    </dialog>
  );
}

interface ConfirmProps {
  title: string;
  /** What will be deleted, and what stays. */
  children: ComponentChildren;
  /** The name that has to be typed. */
  name: string;
  /** The text of the button, such as "Delete project". */
  action: string;
  mutation: Mutation<string>;
  onClose: () => void;
}

/** Asks the user to type a name before something is deleted; `mutation` gets the typed text. */
export function ConfirmByName({ title, children, name, action, mutation, onClose }: ConfirmProps) {
  const [typed, setTyped] = useState("");
  const { successes } = mutation;
  const before = useRef(successes);
  const isDestroyed = useRef(false);
  // Also after "Try again", which does not submit the form.
  useEffect(() => {
    if (successes <= before.current) return;
    isDestroyed.current = true;
    onClose();
  }, [successes]);
  const submit = () => {
    if (typed === name) void mutation.run(typed);
  };
  return (
    <Dialog title={title} onClose={onClose} isOpenerGone={isDestroyed}>
      <DialogForm
        of={mutation}
        onSubmit={submit}
        action={action}
        kind="danger"
        disabled={typed !== name}
        close="Keep it"
        onClose={onClose}
      >
        <div class="prose">{children}</div>
        <p>
          Type <UserText strong>{name}</UserText> to confirm.
        </p>
        <TextField label="Name" value={typed} onInput={setTyped} autofocus />
      </DialogForm>
    </Dialog>
  );
}
