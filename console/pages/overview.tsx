import { useState } from "preact/hooks";
import { client } from "../api.ts";
import { type BuildsSummary, type ProjectIds, useBuildsSummary, useEndpoints } from "../builds.ts";
import { CancelButton, RebuildButton } from "../components/build-actions.tsx";
import { Button, LinkButton } from "../components/button.tsx";
import { Copy, Snippet } from "../components/copy.tsx";
import { DropZone } from "../components/drop-zone.tsx";
import { ErrorMessage } from "../components/error-message.tsx";
import { Loading } from "../components/loading.tsx";
import { Page, useCurrentProject } from "../components/shell.tsx";
import { BuildStatus, Status } from "../components/status.tsx";
import { Time } from "../components/time.tsx";
import { UserText } from "../components/user-text.tsx";
import { useLoad } from "../load.ts";
import { useMutation } from "../mutation.ts";
import { paths, useProject } from "../paths.ts";

function Addresses({ ids }: { ids: ProjectIds }) {
  const endpoints = useEndpoints(ids);
  return (
    <Loading of={endpoints} what="the address">
      {({ endpoints }) =>
        endpoints.length === 0 ? (
          <p class="muted">The app gets its address with the first build that becomes ready.</p>
        ) : (
          <ul class="addresses">
            {endpoints.map((address) => (
              <li key={address}>
                <a href={address} target="_blank" rel="noreferrer">
                  {address}
                </a>
                <Copy text={address} what="the address" />
              </li>
            ))}
          </ul>
        )
      }
    </Loading>
  );
}

function Serving({ ids, summary }: { ids: ProjectIds; summary: BuildsSummary }) {
  const { live, isLiveKnown } = summary;
  // The single read says whether the app crashes again and again.
  const detail = useLoad(live && `builds/${ids.projectId}/one/${live.id}`, (signal) =>
    client.getBuild({ ...ids, buildId: live?.id ?? "" }, { signal }),
  );
  const warning = detail.data?.build.warning;
  return (
    <section class="panel" aria-label="Live build">
      <div class="panel-head">
        <h2>Serving</h2>
        {live ? (
          <Status tone={warning ? "warn" : "good"}>{warning ? "Live, with a warning" : "Live"}</Status>
        ) : (
          <Status tone={isLiveKnown ? "idle" : "warn"}>{isLiveKnown ? "Nothing serves" : "Could not tell"}</Status>
        )}
      </div>
      <Addresses ids={ids} />
      {!isLiveKnown && (
        <p class="note">
          The live build could not be read just now. Your app is not affected, and this page tries again by itself.
        </p>
      )}
      {live && (
        <dl class="facts">
          <div>
            <dt>Build</dt>
            <dd>
              <a href={paths.build(ids.orgId, ids.projectId, live.id)}>
                <UserText>{live.title ?? live.id}</UserText>
              </a>
            </dd>
          </div>
          <div>
            <dt>Since</dt>
            <dd>
              <Time at={live.updatedAt} />
            </dd>
          </div>
          <div>
            <dt>Runtime</dt>
            <dd>{live.runtime ?? "–"}</dd>
          </div>
        </dl>
      )}
      {warning && (
        <p class="note warn" dir="auto">
          {warning}
        </p>
      )}
    </section>
  );
}

function LastBuild({ ids, summary }: { ids: ProjectIds; summary: BuildsSummary }) {
  const { newest, running } = summary;
  if (!newest) return null;
  return (
    <section class="panel" aria-label="Last build">
      <div class="panel-head">
        <h2>Last build</h2>
        <BuildStatus
          build={{ ...newest, canceledAt: newest.redeployBlockedBy === "canceled" ? newest.updatedAt : null }}
        />
      </div>
      <dl class="facts">
        <div>
          <dt>Build</dt>
          <dd>
            <a href={paths.build(ids.orgId, ids.projectId, newest.id)}>
              <UserText>{newest.title ?? newest.id}</UserText>
            </a>
          </dd>
        </div>
        <div>
          <dt>Created</dt>
          <dd>
            <Time at={newest.createdAt} />
          </dd>
        </div>
      </dl>
      {newest.error && (
        <p class="note bad" dir="auto">
          <span class="clip">{newest.error.split("\n")[0]}</span>
        </p>
      )}
      <div class="actions">
        <LinkButton href={paths.build(ids.orgId, ids.projectId, newest.id)}>Show the build</LinkButton>
        {running && running.status !== "deploying" && <CancelButton ids={ids} build={running} />}
        {!running && <RebuildButton ids={ids} />}
      </div>
    </section>
  );
}

const quoted = (text: string) => `'${text.replaceAll("'", "'\\''")}'`;

/** The commands of a first deployment from a terminal, with a key that is made here. */
function FromTerminal({ ids }: { ids: ProjectIds }) {
  const [key, setKey] = useState<{ access: string; secret: string } | undefined>(undefined);
  const make = useMutation(
    (_: undefined, call) => client.createCredential({ ...ids, description: "First deployment" }, call),
    {
      refreshes: `keys/${ids.projectId}`,
      onDone: ({ credential: { access, secret } }) => secret !== undefined && setKey({ access, secret }),
    },
  );
  const lines = [
    `export SLIPWAY_URL=${quoted(location.origin)}`,
    `export SLIPWAY_ORGANIZATION=${quoted(ids.orgId)} SLIPWAY_PROJECT=${quoted(ids.projectId)}`,
    `export SLIPWAY_ACCESS_KEY=${key ? quoted(key.access) : "…"}`,
    `export SLIPWAY_SECRET_KEY=${key ? quoted(key.secret) : "…"}`,
    "npm run slipway -- deploy path/to/your/app",
  ];
  return (
    <section class="panel" aria-label="From a terminal">
      <p class="muted">In the folder of Slipway, or with the installed command line, where it is called slipway:</p>
      {key ? (
        <>
          <Snippet text={lines.join("\n")} what="the commands" />
          <p class="note warn">The secret is shown only now. You can revoke this key on the page Keys.</p>
        </>
      ) : (
        <>
          <pre class="sample">{lines.join("\n")}</pre>
          <ErrorMessage of={make} />
          <div class="actions">
            <Button busy={make.busy} onClick={() => void make.run()}>
              Make a key and fill it in
            </Button>
          </div>
        </>
      )}
    </section>
  );
}

export function OverviewPage() {
  const { ids } = useProject();
  const project = useCurrentProject();
  const summary = useBuildsSummary(ids);
  return (
    <Page title={project.data?.project.name ?? "Project"}>
      <ErrorMessage of={project} />
      <Loading of={summary} what="builds">
        {(known) => {
          const isFirst = known.builds.length === 0;
          // The same zone stays mounted when the first build appears, because it holds the chosen files and the error.
          return (
            <>
              {!isFirst && (
                <div class="columns">
                  <Serving ids={ids} summary={known} />
                  <LastBuild ids={ids} summary={known} />
                </div>
              )}
              <section class="panel" aria-label={isFirst ? "First deployment" : "Deploy"}>
                <h2>{isFirst ? "Deploy your app" : "Deploy a new version"}</h2>
                {isFirst && (
                  <p class="muted">
                    Slipway detects Node.js and Python apps by their files. An app has to listen on the port in the
                    variable PORT and answer GET / below 500.
                  </p>
                )}
                <DropZone ids={ids} />
              </section>
              <details class="more" open={isFirst}>
                <summary>Deploy from a terminal</summary>
                <FromTerminal ids={ids} />
              </details>
            </>
          );
        }}
      </Loading>
    </Page>
  );
}
