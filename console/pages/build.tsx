import { useMemo } from "preact/hooks";
import { useRoute } from "preact-iso/router";
import type { SingleBuildReply } from "../../api/builds.ts";
import { client } from "../api.ts";
import { useBuildLog } from "../build-log.ts";
import { bytesText, canCancel, type ProjectIds, redeployReasons, useBuildsSummary, useEndpoints } from "../builds.ts";
import { CancelButton, RedeployButton } from "../components/build-actions.tsx";
import { Detection, Difference } from "../components/build-detection.tsx";
import { Advice, Failure } from "../components/build-evidence.tsx";
import { Timeline } from "../components/build-timeline.tsx";
import { ErrorMessage } from "../components/error-message.tsx";
import { Loading } from "../components/loading.tsx";
import { LogView } from "../components/log-view.tsx";
import { Page } from "../components/shell.tsx";
import { BuildStatus, Status } from "../components/status.tsx";
import { durationText, nowMs, Time } from "../components/time.tsx";
import { stagesOf } from "../evidence.ts";
import { useLoad } from "../load.ts";
import { useProject } from "../paths.ts";

const isFinished = (build: SingleBuildReply) =>
  build.canceledAt !== null || build.status === "ready" || build.status === "error";

/** As often as the service asks for (docs/api.md, Polling). */
function pollSeconds(build: SingleBuildReply): number | undefined {
  if (isFinished(build)) return undefined;
  const age = (Date.now() - Date.parse(build.createdAt)) / 1000;
  if (age < 15) return 1;
  return age < 60 ? 2 : 5;
}

function Facts({ build, isLive }: { build: SingleBuildReply; isLive: boolean }) {
  const running = !isFinished(build);
  const seconds = ((running ? nowMs() : Date.parse(build.updatedAt)) - Date.parse(build.createdAt)) / 1000;
  return (
    <dl class="facts">
      <div>
        <dt>Status</dt>
        <dd>
          <span class="actions" role="status">
            <BuildStatus build={build} />
            {isLive && <Status tone="good">Live</Status>}
          </span>
        </dd>
      </div>
      <div>
        <dt>Created</dt>
        <dd>
          <Time at={build.createdAt} />
        </dd>
      </div>
      <div>
        <dt>{running ? "Running for" : "Took"}</dt>
        <dd>{durationText(seconds)}</dd>
      </div>
      <div>
        <dt>Runtime</dt>
        <dd>{build.runtime ?? "–"}</dd>
      </div>
      <div>
        <dt>Archive</dt>
        <dd>{build.size === null ? "–" : bytesText(build.size)}</dd>
      </div>
      <div>
        <dt>Build id</dt>
        <dd class="mono">{build.id}</dd>
      </div>
    </dl>
  );
}

function BuildView({ ids, build }: { ids: ProjectIds; build: SingleBuildReply }) {
  const running = !isFinished(build);
  const log = useBuildLog(ids, build.id, running);
  const stages = useMemo(() => stagesOf(build, log.lines), [build, log.lines]);
  const summary = useBuildsSummary(ids).data;
  const listed = summary?.builds.find(({ id }) => id === build.id);
  const liveId = summary?.live?.id;
  const isLive = !running && (build.isLive || liveId === build.id);
  const address = useEndpoints(ids, isLive).data?.endpoints[0];
  const blockedBy = listed?.redeployBlockedBy ? redeployReasons[listed.redeployBlockedBy] : undefined;
  return (
    <>
      {build.description && (
        <p class="pre" dir="auto">
          {build.description}
        </p>
      )}
      <section class="panel" aria-label="Build">
        <Facts build={build} isLive={isLive} />
        <Timeline stages={stages} />
        <div class="actions">
          {isLive && address && (
            <a class="button primary" href={address} target="_blank" rel="noreferrer">
              Open the app
            </a>
          )}
          {running && canCancel(build.status) && <CancelButton ids={ids} build={build} />}
          {running && build.status === "deploying" && (
            <p class="muted">It cannot be canceled any more: the new version is being started and checked.</p>
          )}
          {!running && (blockedBy ? <p class="muted">{blockedBy}</p> : <RedeployButton ids={ids} build={build} />)}
        </div>
      </section>
      {build.error && <Failure error={build.error} isFirst={liveId === undefined} />}
      <Advice build={build} />
      <ErrorMessage of={log} />
      <LogView
        label="Build log"
        lines={log.lines}
        isGrowing={running}
        empty={running ? "The log begins when the image is built." : "This build has written no log."}
      />
      <div class="columns">
        <Detection build={build} />
        {liveId && liveId !== build.id && !running && <Difference ids={ids} build={build} liveId={liveId} />}
      </div>
    </>
  );
}

export function BuildPage() {
  const { ids } = useProject();
  const { buildId = "" } = useRoute().params;
  const loaded = useLoad(
    `builds/${ids.projectId}/one/${buildId}`,
    (signal) => client.getBuild({ ...ids, buildId }, { signal }),
    { every: ({ build }) => pollSeconds(build) },
  );
  const title = loaded.data ? (loaded.data.build.title ?? "Untitled build") : "Build";
  return (
    <Page title={title}>
      <Loading of={loaded} what="the build">
        {({ build }) => <BuildView ids={ids} build={build} />}
      </Loading>
    </Page>
  );
}
