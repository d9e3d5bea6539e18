import type { SingleBuildReply } from "../../api/builds.ts";
import { evidenceOf, placeOf } from "../evidence.ts";
import { UserText } from "./user-text.tsx";

/** Why a build failed, with the probe, the exit code and the output from its error. */
export function Failure({ error, isFirst }: { error: string; isFirst: boolean }) {
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
            <dt>Live version</dt>
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

/** Warning, suggestions and findings of a build; nothing if there are none. */
export function Advice({ build }: { build: SingleBuildReply }) {
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
          <li key={`${finding.code} ${finding.message} ${placeOf(finding)}`}>
            <span dir="auto">{finding.message}</span>{" "}
            {finding.file !== null && <UserText mono>{placeOf(finding)}</UserText>}
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
