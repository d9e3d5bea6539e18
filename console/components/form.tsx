import type { ComponentChildren, FormHTMLAttributes } from "preact";
import type { Mutation } from "../mutation.ts";
import { Button } from "./button.tsx";
import { ErrorMessage } from "./error-message.tsx";

interface FormProps extends Omit<FormHTMLAttributes, "onSubmit"> {
  onSubmit: () => void;
  children: ComponentChildren;
}

/** A form that stays on its page when it is submitted. */
export function Form({ onSubmit, children, ...attributes }: FormProps) {
  return (
    <form
      {...attributes}
      onSubmit={(event) => {
        event.preventDefault();
        onSubmit();
      }}
    >
      {children}
    </form>
  );
}

interface ChangeFormProps {
  /** The change that the form makes: its error stands above the buttons. */
  of: Pick<Mutation<never>, "busy" | "error" | "retry">;
  onSubmit: () => void;
  /** The text of the button that submits. */
  action: string;
  kind?: "primary" | "danger" | "plain";
  /** Whether the form cannot be submitted yet. */
  disabled?: boolean;
  children: ComponentChildren;
}

interface DialogFormProps extends ChangeFormProps {
  onClose: () => void;
  /** The text of the button that closes the dialog. */
  close?: string;
}

/** The form of a dialog: its fields, what went wrong, and the buttons. */
export function DialogForm(props: DialogFormProps) {
  const { of: change, onSubmit, action, kind = "primary", disabled, onClose, close = "Cancel", children } = props;
  return (
    <Form onSubmit={onSubmit}>
      {children}
      <ErrorMessage of={change} />
      <footer>
        <Button onClick={onClose}>{close}</Button>
        <Button type="submit" kind={kind} busy={change.busy} disabled={disabled}>
          {action}
        </Button>
      </footer>
    </Form>
  );
}

interface PanelFormProps extends ChangeFormProps {
  title?: string;
  /** Without the buttons, for people who may not make the change. */
  readOnly?: boolean;
  /** Stands between the error and the buttons. */
  note?: ComponentChildren;
  /** Buttons beside the one that submits. */
  more?: ComponentChildren;
}

/** A form on a page, in a frame: its fields, what went wrong, and the buttons. */
export function PanelForm(props: PanelFormProps) {
  const { of: change, onSubmit, action, kind = "primary", disabled, title, readOnly, note, more, children } = props;
  return (
    <Form class="panel" onSubmit={onSubmit}>
      {title && <h2>{title}</h2>}
      {children}
      <ErrorMessage of={change} />
      {note}
      {!readOnly && (
        <div class="actions">
          <Button type="submit" kind={kind} busy={change.busy} disabled={disabled}>
            {action}
          </Button>
          {more}
        </div>
      )}
    </Form>
  );
}
