import { useState } from "preact/hooks";
import { client } from "../api.ts";
import type { ProjectIds } from "../builds.ts";
import { type ChangeCall, useMutation } from "../mutation.ts";
import { paths, useGo } from "../paths.ts";
import { Button } from "./button.tsx";
import { Dialog } from "./dialog.tsx";
import { ErrorMessage } from "./error-message.tsx";
import { UserText } from "./user-text.tsx";

interface ActionProps {
  ids: ProjectIds;
  build: { id: string; title: string | null };
}

export const named = (build: ActionProps["build"]) => build.title ?? build.id;

interface AskProps {
  ids: ProjectIds;
  title: string;
  about: preact.ComponentChildren;
  /** The text of the button that makes the change; without it, the dialog only explains why the change is not possible. */
  action: string | undefined;
  kind?: "danger" | "primary";
  /** Resolves with the id of the build to show. */
  change: (call: ChangeCall) => Promise<string>;
  onClose: () => void;
}

/** Asks before a build is changed, and shows why the change was refused. */
function Ask({ ids, title, about, action, kind = "primary", change, onClose }: AskProps) {
  const go = useGo();
  const mutation = useMutation((_: undefined, call) => change(call), {
    refreshes: `builds/${ids.projectId}`,
    onDone: (buildId) => {
      onClose();
      go(paths.build(ids.orgId, ids.projectId, buildId));
    },
  });
  return (
    <Dialog title={title} onClose={onClose}>
      <div class="prose">
        {about}
        <ErrorMessage of={mutation} />
        <footer>
          <Button onClick={onClose}>Close</Button>
          {action !== undefined && (
            <Button kind={kind} busy={mutation.busy} onClick={() => void mutation.run()}>
              {action}
            </Button>
          )}
        </footer>
      </div>
    </Dialog>
  );
}

interface AskingButtonProps {
  text: string;
  label?: string;
  kind?: "danger" | "plain";
  children: (onClose: () => void) => preact.ComponentChildren;
}

/** A button that opens a dialog. */
function AskingButton({ text, label, kind, children }: AskingButtonProps) {
  const [isOpen, setOpen] = useState(false);
  return (
    <>
      <Button kind={kind} label={label} onClick={() => setOpen(true)}>
        {text}
      </Button>
      {isOpen && children(() => setOpen(false))}
    </>
  );
}

/** Builds the deployed source again, with today's variables. */
export function RebuildButton({ ids }: { ids: ProjectIds }) {
  return (
    <AskingButton text="Rebuild">
      {(onClose) => (
        <Ask
          ids={ids}
          onClose={onClose}
          title="Rebuild what is deployed?"
          about={<p>The source that serves now is built again, with the variables and settings as they are today.</p>}
          action="Rebuild"
          change={async (call) => (await client.rebuild(ids, call)).build.id}
        />
      )}
    </AskingButton>
  );
}

type DialogProps = ActionProps & { onClose: () => void };

/** Runs the whole pipeline again on the archive of an earlier build, or says why that is not possible: `blockedBy`. */
export function RedeployDialog({ ids, build, blockedBy, onClose }: DialogProps & { blockedBy: string | undefined }) {
  return (
    <Ask
      ids={ids}
      onClose={onClose}
      title={blockedBy === undefined ? "Redeploy this build?" : "This build cannot be redeployed"}
      about={
        blockedBy === undefined ? (
          <p>
            The source of <UserText strong>{named(build)}</UserText> is built and deployed again, with the variables as
            they are today. The live version keeps serving until the new version is healthy.
          </p>
        ) : (
          <p>{blockedBy}</p>
        )
      }
      action={blockedBy === undefined ? "Redeploy" : undefined}
      change={async (call) => (await client.redeployBuild({ ...ids, buildId: build.id }, call)).build.id}
    />
  );
}

export function RedeployButton({ ids, build }: ActionProps) {
  return (
    <AskingButton text="Redeploy" label={`Redeploy ${named(build)}`}>
      {(onClose) => <RedeployDialog ids={ids} build={build} blockedBy={undefined} onClose={onClose} />}
    </AskingButton>
  );
}

/** Cancels a build that is not being deployed yet. */
export function CancelDialog({ ids, build, onClose }: DialogProps) {
  return (
    <Ask
      ids={ids}
      onClose={onClose}
      title="Cancel this build?"
      about={<p>The live version keeps serving. The project can be built again at once.</p>}
      action="Cancel the build"
      kind="danger"
      change={async (call) => (await client.cancelBuild({ ...ids, buildId: build.id }, call)).build.id}
    />
  );
}

export function CancelButton({ ids, build }: ActionProps) {
  return (
    <AskingButton text="Cancel" label={`Cancel ${named(build)}`} kind="danger">
      {(onClose) => <CancelDialog ids={ids} build={build} onClose={onClose} />}
    </AskingButton>
  );
}
