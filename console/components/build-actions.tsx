import { useState } from "preact/hooks";
import { client } from "../api.ts";
import type { ProjectIds } from "../builds.ts";
import { useMutation } from "../mutation.ts";
import { paths, useGo } from "../paths.ts";
import { Button } from "./button.tsx";
import { Dialog } from "./dialog.tsx";
import { ErrorMessage } from "./error-message.tsx";
import { UserText } from "./user-text.tsx";

interface ActionProps {
  ids: ProjectIds;
  build: { id: string; title: string | null };
}

const named = (build: ActionProps["build"]) => build.title ?? build.id;

interface AskProps {
  text: string;
  label?: string;
  title: string;
  about: preact.ComponentChildren;
  action: string;
  kind?: "danger" | "plain" | "quiet";
  disabled?: boolean;
  reason?: string | undefined;
  change: (call: { idempotencyKey: string }) => Promise<string>;
  ids: ProjectIds;
}

/** A button that asks before it changes something, and shows in its dialog why the change was refused. */
function Ask({ text, label, title, about, action, kind = "plain", disabled, reason, change, ids }: AskProps) {
  const [isOpen, setOpen] = useState(false);
  const go = useGo();
  const mutation = useMutation((_: undefined, call) => change(call), {
    refreshes: `builds/${ids.projectId}`,
    onDone: (buildId) => {
      setOpen(false);
      go(paths.build(ids.orgId, ids.projectId, buildId));
    },
  });
  return (
    <>
      <Button
        kind={kind}
        label={label}
        disabled={disabled}
        title={reason}
        onClick={() => {
          mutation.clear();
          setOpen(true);
        }}
      >
        {text}
      </Button>
      {isOpen && (
        <Dialog title={title} onClose={() => setOpen(false)}>
          <div class="prose">
            {about}
            <ErrorMessage of={mutation} />
            <footer>
              <Button onClick={() => setOpen(false)}>Close</Button>
              <Button
                kind={kind === "danger" ? "danger" : "primary"}
                busy={mutation.busy}
                onClick={() => void mutation.run()}
              >
                {action}
              </Button>
            </footer>
          </div>
        </Dialog>
      )}
    </>
  );
}

/** Builds the deployed source again, with today's variables. */
export function RebuildButton({ ids }: { ids: ProjectIds }) {
  return (
    <Ask
      ids={ids}
      text="Rebuild"
      title="Rebuild what is deployed?"
      about={<p>The source that serves now is built again, with the variables and settings as they are today.</p>}
      action="Rebuild"
      change={async (call) => (await client.rebuild(ids, call)).build.id}
    />
  );
}

/** Runs the whole pipeline again on the archive of an earlier build. `blockedBy` says why that is not possible. */
export function RedeployButton({
  ids,
  build,
  blockedBy,
  quiet,
}: ActionProps & { blockedBy?: string | undefined; quiet?: boolean }) {
  return (
    <Ask
      ids={ids}
      text="Redeploy"
      label={`Redeploy ${named(build)}`}
      title="Redeploy this build?"
      about={
        <p>
          The source of <UserText strong>{named(build)}</UserText> is built and deployed again, with the variables as
          they are today. What serves now keeps serving until the new version is healthy.
        </p>
      }
      action="Redeploy"
      kind={quiet ? "quiet" : "plain"}
      disabled={blockedBy !== undefined}
      reason={blockedBy}
      change={async (call) => (await client.redeployBuild({ ...ids, buildId: build.id }, call)).build.id}
    />
  );
}

/** Cancels a build that is not being deployed yet. */
export function CancelButton({ ids, build }: ActionProps) {
  return (
    <Ask
      ids={ids}
      text="Cancel"
      label={`Cancel ${named(build)}`}
      title="Cancel this build?"
      about={<p>What serves now keeps serving. The project can be built again at once.</p>}
      action="Cancel the build"
      kind="danger"
      change={async (call) => (await client.cancelBuild({ ...ids, buildId: build.id }, call)).build.id}
    />
  );
}
