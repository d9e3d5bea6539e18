import { useState } from "preact/hooks";
import { useAppLog } from "../app-log.ts";
import { useBuildsSummary } from "../builds.ts";
import { Button, LinkButton } from "../components/button.tsx";
import { EmptyState } from "../components/empty-state.tsx";
import { ErrorMessage } from "../components/error-message.tsx";
import { SelectField, TextField } from "../components/field.tsx";
import { Form } from "../components/form.tsx";
import { Loading } from "../components/loading.tsx";
import { LogView } from "../components/log-view.tsx";
import { Metrics } from "../components/metrics.tsx";
import { Page, useCurrentProject } from "../components/shell.tsx";
import { useMutation } from "../mutation.ts";
import { useProject } from "../paths.ts";

function Output({ builds }: { builds: readonly { id: string; title: string | null; createdAt: string }[] }) {
  const { ids } = useProject();
  const [typed, setTyped] = useState("");
  const [text, setText] = useState("");
  const [buildId, setBuildId] = useState("");
  const log = useAppLog(ids, { text, buildId });
  const earlier = useMutation(async () => log.earlier?.());
  return (
    <section class="block-section" aria-label="Output">
      <h2>Output</h2>
      <Form class="filters" onSubmit={() => setText(typed.trim())}>
        <TextField label="Only lines with" value={typed} onInput={setTyped} maxLength={256} type="search" />
        <SelectField
          label="Of the build"
          value={buildId}
          onInput={setBuildId}
          options={[["", "All builds"], ...builds.map(({ id, title }) => [id, title ?? id] as const)]}
        />
        <Button type="submit">Filter</Button>
      </Form>
      <ErrorMessage of={log} />
      {log.earlier && (
        <div class="actions">
          <Button busy={earlier.busy} onClick={() => void earlier.run()}>
            Show earlier lines
          </Button>
        </div>
      )}
      <LogView
        key={`${text} ${buildId}`}
        label="Output of the app"
        lines={log.lines}
        isGrowing
        empty={
          log.isLoading
            ? "Reading the output…"
            : text || buildId
              ? "No line of the last 30 days matches."
              : "The app has written nothing in the last 30 days."
        }
      />
    </section>
  );
}

export function AppPage() {
  const { ids, path } = useProject();
  const summary = useBuildsSummary(ids);
  const settings = useCurrentProject().data?.project.settings;
  const instances = settings?.instances ?? 1;
  return (
    <Page
      title="App"
      about={
        <>
          What your app writes to its output, and how it does.
          {settings && ` Its settings ask for ${instances} instance${instances === 1 ? "" : "s"}.`}
        </>
      }
    >
      <Loading of={summary} what="the app">
        {({ builds }) =>
          builds.length === 0 ? (
            <EmptyState title="No app yet">
              <p>
                After the first deployment you see here what your app writes, how many requests it answers, and how
                fast.
              </p>
              <LinkButton href={path} kind="primary">
                Deploy the first version
              </LinkButton>
            </EmptyState>
          ) : (
            <>
              <Metrics ids={ids} />
              <Output builds={builds} />
            </>
          )
        }
      </Loading>
    </Page>
  );
}
