import type { ComponentChildren } from "preact";
import { client } from "../api.ts";
import { useMutation } from "../mutation.ts";
import { paths, useGo, useProject } from "../paths.ts";
import { Button } from "./button.tsx";
import { ErrorMessage } from "./error-message.tsx";

/** Says that a change takes effect with the next build, and offers to rebuild the live build. */
export function RebuildNotice({ children }: { children: ComponentChildren }) {
  const { ids } = useProject();
  const go = useGo();
  const rebuild = useMutation((_: undefined, call) => client.rebuild(ids, call), {
    refreshes: ["builds/", "live-build/"],
    onDone: ({ build }) => go(paths.build(ids.orgId, ids.projectId, build.id)),
  });
  return (
    <div class="note">
      <div class="page-head">
        <p class="grow">{children}</p>
        <Button kind="primary" onClick={() => void rebuild.run()} busy={rebuild.busy}>
          Rebuild
        </Button>
      </div>
      <ErrorMessage of={rebuild} />
    </div>
  );
}
