import { useState } from "preact/hooks";
import type { Detected } from "../../api/build.ts";
import type { ProjectReply } from "../../api/projects.ts";
import { client } from "../api.ts";
import { Button } from "../components/button.tsx";
import { SelectField, TextField } from "../components/field.tsx";
import { PanelForm } from "../components/form.tsx";
import { RebuildNotice } from "../components/rebuild-notice.tsx";
import { UserText } from "../components/user-text.tsx";
import { fieldErrors } from "../explain.ts";
import { useMutation } from "../mutation.ts";
import { useProject } from "../paths.ts";
import {
  type SettingDraft,
  type SettingName,
  settingsChangeOf,
  settingsDraft,
  skippable,
  withoutSetting,
} from "../settings-draft.ts";

const groups: readonly { title: string; fields: readonly (readonly [SettingName, label: string, about: string])[] }[] =
  [
    {
      title: "Build",
      fields: [
        ["rootDirectory", "Root directory", "The folder of the archive that holds the app."],
        ["installCommand", "Install command", "Installs the packages, run by a shell."],
        ["buildCommand", "Build command", "Builds the app, run by a shell."],
      ],
    },
    {
      title: "Run",
      fields: [
        ["startCommand", "Start command", "Starts the app, run by a shell. The app listens on the port in $PORT."],
        [
          "releaseCommand",
          "Release command",
          "Runs once for each build before a new instance starts, such as a migration.",
        ],
        ["memory", "Memory in MiB", "Of each instance, with its share of the processor."],
        ["instances", "Instances", "How many serve the app, 1 to 10."],
      ],
    },
    {
      title: "Health check",
      fields: [
        ["healthPath", "Path", "It must answer before traffic moves to a new version."],
        ["healthTimeoutSeconds", "Time limit in seconds", "For the first healthy answer of a new version, 10 to 600."],
      ],
    },
  ];

interface SettingProps {
  name: SettingName;
  label: string;
  about: string;
  draft: SettingDraft;
  onChange: (draft: SettingDraft) => void;
  error: string | undefined;
  detected: Detected | null;
  isInFile: boolean;
  disabled: boolean;
}

/** One setting; beside it, the value that applies if it is not set. */
function Setting({ name, label, about, draft, onChange, error, detected, isInFile, disabled }: SettingProps) {
  const other = withoutSetting(name, detected);
  const field = {
    label,
    hint: about,
    value: draft.text,
    onInput: (text: string) => onChange({ ...draft, text }),
    error,
    disabled: disabled || draft.skipped,
  };
  return (
    <div class="setting">
      <div class="prose">
        {name === "memory" ? (
          <SelectField
            {...field}
            options={[["", "Default"], ...["512", "1024", "2048", "4096"].map((size) => [size, size] as const)]}
          />
        ) : (
          <TextField {...field} />
        )}
        {skippable.has(name) && (
          <label class="choice">
            <input
              type="checkbox"
              checked={draft.skipped}
              disabled={disabled}
              onChange={(event) => onChange({ text: "", skipped: event.currentTarget.checked })}
            />
            {name === "installCommand" ? "Install nothing" : "Build nothing"}
          </label>
        )}
      </div>
      <p class="setting-other">
        <span class="muted">{other.label}</span> {other.value !== null && <UserText mono>{other.value}</UserText>}
        {isInFile && <span class="note">slipway.json of the live build sets this; the value here has no effect.</span>}
      </p>
    </div>
  );
}

interface FormProps {
  project: ProjectReply;
  detected: Detected | null;
  inFile: ReadonlySet<string>;
  disabled: boolean;
}

/** All settings of a project in one form; only those that were changed are sent. */
export function SettingsForm({ project, detected, inFile, disabled }: FormProps) {
  const { ids } = useProject();
  const [draft, setDraft] = useState(() => settingsDraft(project.settings));
  const [isSaved, setSaved] = useState(false);
  const change = settingsChangeOf(project.settings, draft);
  const isChanged = Object.keys(change).length > 0;
  const save = useMutation((_: undefined) => client.updateProject({ ...ids, settings: change }), {
    refreshes: [`project/${ids.projectId}`, "projects/"],
    onDone: (reply) => {
      setDraft(settingsDraft(reply.project.settings));
      setSaved(true);
    },
  });
  const errors = fieldErrors(save.error);
  return (
    <PanelForm
      of={save}
      onSubmit={() => void save.run()}
      action="Save settings"
      disabled={!isChanged}
      readOnly={disabled}
      note={
        isSaved && !isChanged && <RebuildNotice>The settings are saved. They show with the next build.</RebuildNotice>
      }
      more={isChanged && <Button onClick={() => setDraft(settingsDraft(project.settings))}>Discard changes</Button>}
    >
      {groups.map(({ title, fields }) => (
        <section key={title} class="settings-group" aria-label={title}>
          <h2>{title}</h2>
          {fields.map(([name, label, about]) => (
            <Setting
              key={name}
              name={name}
              label={label}
              about={about}
              draft={draft[name]}
              onChange={(next) => setDraft({ ...draft, [name]: next })}
              error={errors[`settings.${name}`]}
              detected={detected}
              isInFile={inFile.has(name)}
              disabled={disabled}
            />
          ))}
        </section>
      ))}
    </PanelForm>
  );
}
