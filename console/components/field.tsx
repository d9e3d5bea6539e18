import type { ComponentChildren, InputHTMLAttributes } from "preact";
import { useId } from "preact/hooks";

interface FieldProps {
  label: string;
  /** A sentence below the label. */
  hint?: ComponentChildren;
  /** What is wrong with the value. */
  error?: string | undefined;
  /** Renders the control, with the attributes that connect it to its label, hint and error. */
  children: (control: Control) => ComponentChildren;
}

interface Control {
  id: string;
  "aria-describedby": string | undefined;
  "aria-invalid": true | undefined;
}

/** A control with its label, hint and error. */
export function Field({ label, hint, error, children }: FieldProps) {
  const id = useId();
  const described = [hint && `${id}-hint`, error && `${id}-error`].filter(Boolean).join(" ");
  return (
    <div class="field">
      <label for={id}>{label}</label>
      {hint && (
        <p class="hint" id={`${id}-hint`}>
          {hint}
        </p>
      )}
      {children({ id, "aria-describedby": described || undefined, "aria-invalid": error ? true : undefined })}
      {error && (
        <p class="field-error" id={`${id}-error`}>
          {error}
        </p>
      )}
    </div>
  );
}

type Common = Pick<FieldProps, "label" | "hint" | "error"> & {
  value: string;
  onInput: (value: string) => void;
  required?: boolean;
  disabled?: boolean;
  autofocus?: boolean;
  /** In UTF-16 units, as browsers count. */
  maxLength?: number;
  placeholder?: string;
};

interface TextFieldProps extends Common {
  type?: "text" | "email" | "number" | "password" | "search" | "date" | "datetime-local";
  inputMode?: "text" | "url" | "email" | "numeric" | "decimal";
  autocomplete?: string;
  min?: number;
  max?: number;
  step?: number | "any";
  pattern?: string;
  list?: string;
}

/** A line of text. */
export function TextField({ label, hint, error, value, onInput, ...attributes }: TextFieldProps) {
  return (
    <Field label={label} hint={hint} error={error}>
      {(control) => (
        <input
          type="text"
          dir="auto"
          autocomplete="off"
          spellcheck={false}
          // Preact has a type for each kind of input, but no union of them.
          {...(attributes as InputHTMLAttributes<HTMLInputElement>)}
          {...control}
          value={value}
          onInput={(event) => onInput(event.currentTarget.value)}
        />
      )}
    </Field>
  );
}

/** Several lines of text. */
export function TextArea({ label, hint, error, value, onInput, ...attributes }: Common & { rows?: number }) {
  return (
    <Field label={label} hint={hint} error={error}>
      {(control) => (
        <textarea
          dir="auto"
          rows={4}
          spellcheck={false}
          {...attributes}
          {...control}
          value={value}
          onInput={(event) => onInput(event.currentTarget.value)}
        />
      )}
    </Field>
  );
}

/** A choice among a few values, each with its text. */
export function SelectField({
  label,
  hint,
  error,
  value,
  onInput,
  options,
  ...attributes
}: Omit<Common, "maxLength" | "placeholder"> & { options: readonly (readonly [value: string, text: string])[] }) {
  return (
    <Field label={label} hint={hint} error={error}>
      {(control) => (
        <select {...attributes} {...control} value={value} onInput={(event) => onInput(event.currentTarget.value)}>
          {options.map(([option, text]) => (
            <option key={option} value={option}>
              {text}
            </option>
          ))}
        </select>
      )}
    </Field>
  );
}
