import { type ColumnDraft, moved, newColumn, type TableDraft, withType } from "../schema-draft.ts";
import { Button } from "./button.tsx";
import { SelectField, TextField } from "./field.tsx";

const types = ["string", "text", "integer", "float", "boolean", "date", "json"] as const;

function DefaultField({ column, onChange, error }: ColumnProps & { error: string | undefined }) {
  const { type } = column;
  const common = { label: "Default", value: column.default ?? "", error };
  const set = (text: string) => onChange({ ...column, default: text === "" ? undefined : text });
  if (type === "text" || type === "json")
    return <TextField {...common} onInput={set} disabled placeholder="not possible" />;
  if (type === "boolean") {
    const options = [
      ["", "none"],
      ["true", "true"],
      ["false", "false"],
    ] as const;
    return <SelectField {...common} onInput={set} options={options} />;
  }
  if (type === "date") {
    const options = [
      ["", "none"],
      ["CURRENT_TIMESTAMP", "now"],
      ["CURRENT_TIMESTAMP ON UPDATE CURRENT_TIMESTAMP", "now, at each update"],
    ] as const;
    return <SelectField {...common} onInput={set} options={options} />;
  }
  return <TextField {...common} onInput={set} placeholder="none" />;
}

interface ColumnProps {
  column: ColumnDraft;
  onChange: (column: ColumnDraft) => void;
}

interface Place {
  index: number;
  count: number;
  onMove: (by: -1 | 1) => void;
  onRemove: () => void;
  errorOf: (field: string) => string | undefined;
}

function ColumnRow({ column, onChange, index, count, onMove, onRemove, errorOf }: ColumnProps & Place) {
  const name = column.name || `column ${index + 1}`;
  const isPlain = column.type === "text" || column.type === "json";
  return (
    <fieldset class="column">
      <legend class="visually-hidden">{name}</legend>
      <div class="column-fields">
        <TextField
          label="Column"
          value={column.name}
          onInput={(text) => onChange({ ...column, name: text })}
          error={errorOf("name")}
          required
        />
        <SelectField
          label="Type"
          value={column.type}
          onInput={(value) => onChange(withType(column, types.find((type) => type === value) ?? "string"))}
          options={types.map((type) => [type, type] as const)}
          error={errorOf("type")}
        />
        <DefaultField column={column} onChange={onChange} error={errorOf("default")} />
        <TextField
          label="Comment"
          value={column.comment}
          onInput={(comment) => onChange({ ...column, comment })}
          error={errorOf("comment")}
        />
      </div>
      <div class="actions">
        <label class="choice">
          <input
            type="checkbox"
            checked={!column.nullable}
            onChange={(event) => onChange({ ...column, nullable: !event.currentTarget.checked })}
          />
          Required
        </label>
        <label class="choice">
          <input
            type="checkbox"
            checked={column.unique}
            disabled={isPlain}
            onChange={(event) => onChange({ ...column, unique: event.currentTarget.checked })}
          />
          Unique
        </label>
        <span class="grow" />
        <span class="actions">
          <Button kind="quiet" label={`Move ${name} up`} disabled={index === 0} onClick={() => onMove(-1)}>
            ↑
          </Button>
          <Button kind="quiet" label={`Move ${name} down`} disabled={index === count - 1} onClick={() => onMove(1)}>
            ↓
          </Button>
          <Button kind="danger" label={`Remove ${name}`} onClick={onRemove}>
            Remove
          </Button>
        </span>
      </div>
    </fieldset>
  );
}

interface EditorProps {
  draft: TableDraft;
  onChange: (draft: TableDraft) => void;
  errorOf: (column: ColumnDraft, field: string) => string | undefined;
}

/** The columns of a table in a form: nothing is changed before the form is sent. */
export function ColumnsEditor({ draft, onChange, errorOf }: EditorProps) {
  const { columns } = draft;
  const set = (next: readonly ColumnDraft[]) => onChange({ ...draft, columns: next });
  return (
    <div class="prose editor">
      <TextField
        label="Comment of the table"
        value={draft.comment}
        onInput={(comment) => onChange({ ...draft, comment })}
      />
      {columns.map((column, index) => (
        <ColumnRow
          key={column.key}
          column={column}
          index={index}
          count={columns.length}
          onChange={(next) => set(columns.map((one) => (one.key === next.key ? next : one)))}
          onMove={(by) => set(moved(columns, index, by))}
          onRemove={() => set(columns.filter((one) => one.key !== column.key))}
          errorOf={(field) => errorOf(column, field)}
        />
      ))}
      <div class="actions">
        <Button onClick={() => set([...columns, newColumn()])}>Add column</Button>
      </div>
    </div>
  );
}
