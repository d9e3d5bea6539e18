/** The colors of a state. Its text always says the same. */
export type Tone = "good" | "bad" | "busy" | "warn" | "idle";

/** A state as a colored dot with its name. */
export function Status({ tone, children }: { tone: Tone; children: string }) {
  return <span class={`status ${tone}`}>{children}</span>;
}

const buildStates: Readonly<Record<string, readonly [tone: Tone, text: string]>> = {
  pending: ["busy", "Pending"],
  analyzing: ["busy", "Analyzing"],
  building: ["busy", "Building"],
  deploying: ["busy", "Deploying"],
  ready: ["good", "Ready"],
  error: ["bad", "Failed"],
};

/** The state of a build; `canceledAt` is known only for a single build. */
export function BuildStatus({ build }: { build: { status: string; canceledAt?: string | null } }) {
  if (build.canceledAt) return <Status tone="idle">Canceled</Status>;
  const [tone, text] = buildStates[build.status] ?? ["idle", build.status];
  return <Status tone={tone}>{text}</Status>;
}
