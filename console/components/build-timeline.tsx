import type { Stage } from "../evidence.ts";
import { durationText, nowMs } from "./time.tsx";

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

/** The stages of a build with their times. */
export function Timeline({ stages }: { stages: readonly Stage[] }) {
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
