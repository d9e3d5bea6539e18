import type { ColumnReply } from "../../api/tables.ts";
import { type CellDraft, cellText } from "../row-values.ts";

interface CellControlProps {
  column: Pick<ColumnReply, "name" | "type" | "nullable">;
  draft: CellDraft;
  onChange: (draft: CellDraft) => void;
  disabled?: boolean;
  autofocus?: boolean;
}

/** The control for one value. Null has its own check box, because an empty text is a value too. */
export function CellControl({ column, draft, onChange, disabled, autofocus }: CellControlProps) {
  const { name, type, nullable } = column;
  const shared = { "aria-label": name, disabled: disabled || draft === null, autofocus };
  return (
    <span class="cell-control">
      {type === "boolean" ? (
        <select {...shared} value={draft ?? ""} onInput={(event) => onChange(event.currentTarget.value)}>
          {draft === null && <option value="">null</option>}
          <option value="true">true</option>
          <option value="false">false</option>
        </select>
      ) : type === "text" || type === "json" ? (
        <textarea
          {...shared}
          rows={3}
          dir="auto"
          value={draft ?? ""}
          onInput={(event) => onChange(event.currentTarget.value)}
        />
      ) : (
        <input
          {...shared}
          dir="auto"
          inputMode={type === "integer" ? "numeric" : type === "float" ? "decimal" : "text"}
          placeholder={type === "date" ? "2026-11-22T12:00:00Z" : undefined}
          value={draft ?? ""}
          onInput={(event) => onChange(event.currentTarget.value)}
        />
      )}
      {nullable && (
        <label class="choice">
          <input
            type="checkbox"
            aria-label={`${name} is null`}
            checked={draft === null}
            disabled={disabled}
            onChange={(event) => onChange(event.currentTarget.checked ? null : emptyOf(type))}
          />
          null
        </label>
      )}
    </span>
  );
}

const emptyOf = (type: ColumnReply["type"]): string => (type === "boolean" ? "false" : "");

/** The first value in a new row's form: null if the column is nullable or has a default, which then applies; else an empty value. */
export function firstDraft(column: ColumnReply): CellDraft {
  if (column.nullable || column.default !== null) return null;
  return cellText(column.type === "boolean" ? false : "");
}
