import { useMemo } from "preact/hooks";
import { useRoute } from "preact-iso/router";
import type { SingleBuildReply } from "../../api/builds.ts";
import { client } from "../api.ts";
import { useBuildLog } from "../build-log.ts";
import { bytesText, canCancel, type ProjectIds, redeployReasons, useBuildsSummary } from "../builds.ts";
import { CancelButton, RedeployButton } from "../components/build-actions.tsx";
import { ErrorMessage } from "../components/error-message.tsx";
import { Loading } from "../components/loading.tsx";
import { LogView } from "../components/log-view.tsx";
import { Page } from "../components/shell.tsx";
import { BuildStatus, Status } from "../components/status.tsx";
import { durationText, nowMs, Time } from "../components/time.tsx";
import { UserText } from "../components/user-text.tsx";
import { evidenceOf, type Stage, stagesOf } from "../evidence.ts";
import { useLoad } from "../load.ts";
import { paths, useProject } from "../paths.ts";

const isFinished = (build: SingleBuildReply) =>
  build.canceledAt !== null || build.status === "ready" || build.status === "error";

/** As often as the service asks for (docs/api.md, Polling). */
function pollSeconds(build: SingleBuildReply): number | undefined {
  if (isFinished(build)) return undefined;
  const age = (Date.now() - Date.parse(build.createdAt)) / 1000;
  if (age < 15) return 1;
  return age < 60 ? 2 : 5;
}

const stageTexts: Readonly<Record<Stage["name"], string>> = {
  pending: "Upload",
  analyzing: "Analyze",
  building: "Build the image",
  releasing: "Release command",
  deploying: "Deploy and check health",
};

const stageStates: Readonly<Record<Stage["state"], string>> = {
  done: "done",
  current: "running",
  failed: "failed",
  canceled: "canceled",
  ahead: "not started",
};

function Timeline({ stages }: { stages: readonly Stage[] }) {
  return (
    <ol class="timeline" aria-label="Stages">
      {stages.map(({ name, state, startedAt, endedAt }) => {
        const end = endedAt ? Date.parse(endedAt) : state === "current" ? nowMs() : undefined;
        const seconds = startedAt && end ? (end - Date.parse(startedAt)) / 1000 : undefined;
        return (
          <li key={name} class={state} aria-current={state === "current" ? "step" : undefined}>
            <span class="timeline-dot" aria-hidden="true" />
            <span class="timeline-name">{stageTexts[name]}</span>
            <span class="muted">
              {stageStates[state]}
              {seconds !== undefined && `, ${durationText(seconds)}`}
            </span>
          </li>
        );
      })}
    </ol>
  );
}

function Failure({ error, isFirst }: { error: string; isFirst: boolean }) {
  const { reason, output, probe, exitCode } = evidenceOf(error);
  return (
    <section class="panel failure" aria-label="Why it failed">
      <h2>Why it failed</h2>
      <p class="pre" dir="auto">
        {reason}
      </p>
      {(probe || exitCode) && (
        <dl class="facts">
          {probe && (
            <div>
              <dt>Last probe</dt>
              <dd dir="auto">{probe}</dd>
            </div>
          )}
          {exitCode && (
            <div>
              <dt>Exit code</dt>
              <dd>{exitCode}</dd>
            </div>
          )}
          <div>
            <dt>What serves now</dt>
            <dd>{isFirst ? "What served before, if anything did" : "The version that served before"}</dd>
          </div>
        </dl>
      )}
      {output.length > 0 && (
        <>
          <h3>Last output</h3>
          {/* biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, so the keyboard must reach it */}
          <pre class="output" tabIndex={0} dir="ltr">
            {output.join("\n")}
          </pre>
        </>
      )}
    </section>
  );
}

const place = ({ file, line }: { file: string | null; line: number | null }) =>
  file === null ? "" : line === null ? file : `${file}:${line}`;

function Advice({ build }: { build: SingleBuildReply }) {
  const findings = build.findings.filter(({ code }) => code !== "setting");
  if (!build.warning && !build.suggestion && findings.length === 0) return null;
  // The suggestion holds the same sentences as the findings, for people without them.
  const known = new Set(findings.map(({ message }) => message));
  const suggestions = (build.suggestion ?? "").split("\n").filter((line) => line.trim() !== "" && !known.has(line));
  return (
    <section class="panel" aria-label="Advice">
      <h2>Advice</h2>
      {build.warning && (
        <p class="note warn pre" dir="auto">
          {build.warning}
        </p>
      )}
      <ul class="findings">
        {findings.map((finding) => (
          <li key={`${finding.code} ${finding.message} ${place(finding)}`}>
            <span dir="auto">{finding.message}</span>{" "}
            {finding.file !== null && <UserText mono>{place(finding)}</UserText>}
          </li>
        ))}
        {suggestions.map((line) => (
          <li key={line} dir="auto">
            {line}
          </li>
        ))}
      </ul>
    </section>
  );
}

const detectedNames = {
  rootDirectory: "Folder",
  packageManager: "Package manager",
  installCommand: "Install",
  buildCommand: "Build",
  startCommand: "Start",
  port: "Port",
} as const;

/** What detection found, and which settings replaced it. */
function Detection({ build }: { build: SingleBuildReply }) {
  const settings = build.findings.filter(({ code }) => code === "setting");
  const sourceOf = (name: string) => settings.find(({ message }) => message.startsWith(`${name} `));
  const others = settings.filter(
    ({ message }) => !Object.keys(detectedNames).some((name) => message.startsWith(`${name} `)),
  );
  if (!build.detected && settings.length === 0) return null;
  return (
    <section class="panel" aria-label="Detected">
      <h2>Detected</h2>
      {build.detected && (
        <dl class="rows">
          <div>
            <dt>Runtime</dt>
            <dd class="mono">{build.runtime ?? "–"}</dd>
          </div>
          {Object.entries(detectedNames).map(([name, text]) => {
            const value = build.detected?.[name as keyof typeof detectedNames];
            const setting = sourceOf(name);
            if ((value === null || value === undefined) && !setting) return null;
            return (
              <div key={name}>
                <dt>{text}</dt>
                <dd>
                  {value === null || value === undefined ? (
                    <span class="muted">nothing detected</span>
                  ) : (
                    <UserText mono>{value === "" ? "/" : String(value)}</UserText>
                  )}
                  {setting && (
                    <small class="block muted" dir="auto">
                      Replaced: {setting.message} {place(setting)}
                    </small>
                  )}
                </dd>
              </div>
            );
          })}
        </dl>
      )}
      {others.map((finding) => (
        <p key={finding.message} class="muted" dir="auto">
          {finding.message} {place(finding)}
        </p>
      ))}
    </section>
  );
}

function differencesOf(build: SingleBuildReply, live: SingleBuildReply): [name: string, own: string, other: string][] {
  const text = (value: unknown) => (value === null || value === undefined || value === "" ? "–" : String(value));
  const size = (bytes: number | null) => (bytes === null ? "–" : bytesText(bytes));
  const settingsOf = ({ findings }: SingleBuildReply) =>
    findings.flatMap(({ code, message }) => (code === "setting" ? [message] : [])).join(" ");
  const all: [string, string, string][] = [
    ["Title", text(build.title), text(live.title)],
    ["Runtime", text(build.runtime), text(live.runtime)],
    ["Archive", size(build.size), size(live.size)],
    ...Object.entries(detectedNames).map(([name, shown]): [string, string, string] => [
      shown,
      text(build.detected?.[name as keyof typeof detectedNames]),
      text(live.detected?.[name as keyof typeof detectedNames]),
    ]),
    ["Settings", text(settingsOf(build)), text(settingsOf(live))],
  ];
  return all.filter(([, own, other]) => own !== other);
}

function Difference({ ids, build, liveId }: { ids: ProjectIds; build: SingleBuildReply; liveId: string }) {
  const live = useLoad(`builds/${ids.projectId}/one/${liveId}`, (signal) =>
    client.getBuild({ ...ids, buildId: liveId }, { signal }),
  );
  return (
    <section class="panel" aria-label="Compared with the live build">
      <h2>Compared with the live build</h2>
      <Loading of={live} what="the live build">
        {({ build: other }) => {
          const rows = differencesOf(build, other);
          if (rows.length === 0) return <p class="muted">The two do not differ in what is known of them.</p>;
          return (
            <table class="compare">
              <thead>
                <tr>
                  <th scope="col">
                    <span class="visually-hidden">Field</span>
                  </th>
                  <th scope="col">This build</th>
                  <th scope="col">
                    <a href={paths.build(ids.orgId, ids.projectId, liveId)}>Live build</a>
                  </th>
                </tr>
              </thead>
              <tbody>
                {rows.map(([name, own, theirs]) => (
                  <tr key={name}>
                    <th scope="row">{name}</th>
                    <td dir="auto">{own}</td>
                    <td dir="auto">{theirs}</td>
                  </tr>
                ))}
              </tbody>
            </table>
          );
        }}
      </Loading>
    </section>
  );
}

function Facts({ build, isLive }: { build: SingleBuildReply; isLive: boolean }) {
  const running = !isFinished(build);
  const seconds = ((running ? nowMs() : Date.parse(build.updatedAt)) - Date.parse(build.createdAt)) / 1000;
  return (
    <dl class="facts">
      <div>
        <dt>Status</dt>
        <dd class="actions">
          <BuildStatus build={build} />
          {isLive && <Status tone="good">Live</Status>}
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
  const blockedBy = listed?.redeployBlockedBy ? redeployReasons[listed.redeployBlockedBy] : undefined;
  return (
    <>
      {build.description && (
        <p class="pre" dir="auto">
          {build.description}
        </p>
      )}
      <section class="panel" aria-label="Build">
        <Facts build={build} isLive={!running && (build.isLive || liveId === build.id)} />
        <Timeline stages={stages} />
        <div class="actions">
          {running && canCancel(build.status) && <CancelButton ids={ids} build={build} />}
          {running && build.status === "deploying" && (
            <p class="muted">It cannot be canceled any more: the new version is being started and checked.</p>
          )}
          {!running && <RedeployButton ids={ids} build={build} blockedBy={blockedBy} />}
          {!running && blockedBy && <p class="muted">{blockedBy}</p>}
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
