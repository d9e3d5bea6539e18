import { useState } from "preact/hooks";
import { type EnvFile, parseEnvFile } from "../../sdk/env-file.ts";
import { client } from "../api.ts";
import { Dialog } from "../components/dialog.tsx";
import { TextArea } from "../components/field.tsx";
import { DialogForm } from "../components/form.tsx";
import { Status } from "../components/status.tsx";
import { Table } from "../components/table.tsx";
import { UserText } from "../components/user-text.tsx";
import { type PlannedVariable, planVariables } from "../env-file.ts";
import { useMutation } from "../mutation.ts";
import { useProject } from "../paths.ts";
import type { Variable } from "./variables-form.tsx";

const effects = { add: ["good", "New"], change: ["warn", "Changes"], keep: ["idle", "Stays the same"] } as const;

function sizeText(value: string): string {
  const { length } = [...value];
  if (length === 0) return "empty";
  return length === 1 ? "1 character" : `${length} characters`;
}

function Preview({
  planned,
  ignoredLines,
}: {
  planned: readonly PlannedVariable[];
  ignoredLines: EnvFile["ignoredLines"];
}) {
  return (
    <div class="prose">
      <Table
        label="What the file does"
        rows={planned}
        rowKey={({ name }) => name}
        columns={[
          { head: "Line", cell: ({ line }) => line },
          { head: "Name", cell: ({ name }) => <UserText mono>{name}</UserText> },
          { head: "Value", cell: ({ value }) => sizeText(value) },
          {
            head: "Effect",
            cell: ({ effect }) => <Status tone={effects[effect][0]}>{effects[effect][1]}</Status>,
          },
        ]}
      />
      {ignoredLines.length > 0 && (
        <p class="note">
          {ignoredLines.length === 1 ? "Line" : "Lines"} {ignoredLines.join(", ")}{" "}
          {ignoredLines.length === 1 ? "holds" : "hold"} no NAME=value and will be left out.
        </p>
      )}
    </div>
  );
}

/** Stores the variables of a pasted .env file, after showing what that does. */
export function EnvFileDialog({ existing, onClose }: { existing: readonly Variable[]; onClose: () => void }) {
  const { ids } = useProject();
  const [text, setText] = useState("");
  const [stored, setStored] = useState(0);
  const { variables, ignoredLines } = parseEnvFile(text);
  const planned = planVariables(variables, existing);
  const changes = planned.filter(({ effect }) => effect !== "keep");
  const store = useMutation(
    async (_: undefined) => {
      setStored(0);
      // Reads the present variables, because an earlier attempt may have stored some.
      const { environments } = await client.listEnvironments(ids);
      for (const { id, name, value, effect } of planVariables(variables, environments)) {
        if (effect === "add") await client.createEnvironment({ ...ids, name, value });
        if (effect === "change" && id) await client.updateEnvironment({ ...ids, envId: id, value });
        if (effect !== "keep") setStored((count) => count + 1);
      }
    },
    { refreshes: `variables/${ids.projectId}`, onDone: onClose },
  );
  const count = changes.length === 1 ? "1 variable" : `${changes.length} variables`;
  return (
    <Dialog title="Paste a .env file" onClose={onClose} wide>
      <DialogForm
        of={store}
        onSubmit={() => void store.run()}
        action={changes.length === 0 ? "Store variables" : `Store ${count}`}
        disabled={changes.length === 0}
        onClose={onClose}
      >
        <TextArea
          label="Content of the file"
          hint="One NAME=value per line, with quotes where a value has several lines. Variables that are not named stay."
          value={text}
          onInput={setText}
          rows={8}
          autofocus
        />
        {planned.length + ignoredLines.length > 0 && <Preview planned={planned} ignoredLines={ignoredLines} />}

        <p class="muted" role="status">
          {store.busy && `${stored} of ${count} stored…`}
        </p>
      </DialogForm>
    </Dialog>
  );
}
