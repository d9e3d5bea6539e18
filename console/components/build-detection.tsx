import type { SingleBuildReply } from "../../api/builds.ts";
import { client } from "../api.ts";
import { bytesText, type ProjectIds } from "../builds.ts";
import { placeOf } from "../evidence.ts";
import { useLoad } from "../load.ts";
import { paths } from "../paths.ts";
import { Loading } from "./loading.tsx";
import { UserText } from "./user-text.tsx";

const detectedNames = {
  rootDirectory: "Folder",
  packageManager: "Package manager",
  installCommand: "Install",
  buildCommand: "Build",
  startCommand: "Start",
  port: "Port",
} as const;

/** What detection found, and which settings replaced it. */
export function Detection({ build }: { build: SingleBuildReply }) {
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
                      Replaced: {setting.message} {placeOf(setting)}
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
          {finding.message} {placeOf(finding)}
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

/** The known differences from the live build. */
export function Difference({ ids, build, liveId }: { ids: ProjectIds; build: SingleBuildReply; liveId: string }) {
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
