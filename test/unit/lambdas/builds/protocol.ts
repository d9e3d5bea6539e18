/** The safeguards of the build protocol; the search removes one at a time. */
export const safeguards = [
  "create takes the lock in its own transaction",
  "a lock without an execution gets one",
  "who stores the upload's token looks for the upload",
  "a boundary refuses a canceled build",
  "a boundary names the status before it",
  "cancel refuses a build that is deploying",
  "cancel frees the project in its own transaction",
  "a lock is released by its owner only",
  "the write that sets deploying records what serves",
  "ready is written after the swap is confirmed",
  "an end frees the project in its own transaction",
  "an execution that died has its build ended",
  "an interrupted swap is put back",
] as const;
export type Safeguard = (typeof safeguards)[number];

/** The next step of a build's execution. */
type Step =
  | "start"
  | "store"
  | "wait"
  | "begin"
  | "conclude"
  | "swap"
  | "apply"
  | "probe"
  | "finish"
  | "rollBack"
  | "fail"
  | "died"
  | "over";

export interface Build {
  status: "pending" | "analyzing" | "building" | "deploying" | "ready" | "error";
  canceled: boolean;
  step: Step;
  upload: "none" | "event sent" | "event gone";
  previous: number | null;
  /** Retries and late repetitions left: bounded, so that the search ends. */
  repeats: number;
}
export interface State {
  builds: Build[];
  lock: number | null;
  live: number | null;
}
/** A possible next event; `system` is the build that the service advances, absent for a user's action. */
export interface Event {
  name: string;
  system?: number;
  next: State;
}

export const isOver = (build: Build) => build.canceled || build.status === "ready" || build.status === "error";

type Change = (own: Build, next: State, id: number) => void;

/** The conditional writes of `lambdas/builds/model/transitions.ts`, each condition of which is a safeguard. */
function writes(keeps: (safeguard: Safeguard) => boolean) {
  const release: Change = (_, next, id) => {
    if (next.lock === id || !keeps("a lock is released by its owner only")) next.lock = null;
  };
  const end =
    (status: "ready" | "error"): Change =>
    (own, next, id) => {
      own.step = "over";
      if (own.status === "ready" || own.status === "error") return;
      own.status = status;
      if (keeps("an end frees the project in its own transaction")) release(own, next, id);
    };
  const advance =
    (from: Build["status"], to: Build["status"], then: Step): Change =>
    (own, next) => {
      const refused =
        (own.canceled && keeps("a boundary refuses a canceled build")) ||
        (own.status !== from && keeps("a boundary names the status before it"));
      if (refused) {
        own.step = own.status === to && !own.canceled ? then : "over";
        return;
      }
      Object.assign(own, { status: to, step: then });
      if (to === "deploying" && keeps("the write that sets deploying records what serves")) own.previous = next.live;
    };
  const putBack: Change = (own, next) => {
    if (own.status === "deploying") next.live = own.previous;
  };
  return { release, end, advance, putBack };
}

/** The possible results of each step of an execution. */
function stepsOf(keeps: (safeguard: Safeguard) => boolean): Record<Step, (build: Build) => [string, Change][]> {
  const { end, advance, putBack } = writes(keeps);
  const goes = (step: Step): [string, Change] => [step, (own) => void Object.assign(own, { step })];
  const none = () => [];
  const storeToken: Change = (own) => {
    const seen = own.upload !== "none" && keeps("who stores the upload's token looks for the upload");
    own.step = own.canceled ? "over" : seen ? "begin" : "wait";
  };
  const event: Change = (own) => {
    own.upload = "event gone";
    if (own.step === "wait" && !own.canceled) own.step = "begin";
  };
  const apply: Change = (own, next, id) => {
    if (!keeps("the write that sets deploying records what serves")) own.previous = next.live;
    next.live = id;
    if (!keeps("ready is written after the swap is confirmed")) end("ready")(own, next, id);
    own.step = "probe";
  };
  const ended =
    (back: boolean): Change =>
    (own, next, id) => {
      if (back) putBack(own, next, id);
      end("error")(own, next, id);
    };
  return {
    // The request's process may have died after its transaction: then only reconcile-locks starts the execution.
    start: () => (keeps("a lock without an execution gets one") ? [goes("store")] : []),
    store: ({ upload }) => [
      ["store", storeToken],
      ...(upload === "event sent" ? [["event", event] as [string, Change]] : []),
    ],
    wait: ({ upload, canceled }) => [
      ...(upload === "event sent" ? [["event", event] as [string, Change]] : []),
      ...(upload === "none" || canceled ? [goes("fail")] : []),
    ],
    begin: () => [["analyzing", advance("pending", "analyzing", "conclude")]],
    conclude: () => [goes("fail"), ["building", advance("analyzing", "building", "swap")]],
    swap: () => [goes("fail"), ["deploying", advance("building", "deploying", "apply")]],
    apply: () => [["apply", apply]],
    probe: ({ repeats }) => [
      goes("finish"),
      goes("rollBack"),
      ...(repeats > 0
        ? [["again", (own) => void Object.assign(own, { step: "apply", repeats: 0 })] as [string, Change]]
        : []),
    ],
    finish: () => [["finish", end("ready")]],
    rollBack: () => [["rolled back", ended(true)]],
    fail: () => [["failed", end("error")]],
    died: ({ canceled }) => {
      if (!keeps("an execution that died has its build ended")) return [];
      // A canceled build keeps the stage it stopped at.
      return canceled ? [goes("over")] : [["end orphaned build", ended(keeps("an interrupted swap is put back"))]];
    },
    over: none,
  };
}

/** A repeated step or event of an execution that has ended. */
function lateChanges(keeps: (safeguard: Safeguard) => boolean): [string, Change][] {
  const { advance, end, release } = writes(keeps);
  const late =
    (...changes: Change[]): Change =>
    (own, next, id) => {
      for (const change of changes) change(own, next, id);
      Object.assign(own, { step: "over", repeats: 0 });
    };
  return [
    ["late deploying", late(advance("building", "deploying", "over"))],
    ["late end", late(end("error"), release)],
  ];
}

/** Everything that can happen next: users, the service's conditional writes, deaths, late and repeated events. */
export function events(state: State, buildsMax: number, dropped?: Safeguard): Event[] {
  const keeps = (safeguard: Safeguard) => safeguard !== dropped;
  const steps = stepsOf(keeps);
  const found: Event[] = [];
  const happens = (name: string, change: (next: State) => void, system?: number) => {
    const next: State = JSON.parse(JSON.stringify(state));
    change(next);
    // Values that are no longer read are removed, so that otherwise equal states are merged.
    for (const build of next.builds) {
      if (!["start", "store", "wait"].includes(build.step)) build.upload = "event gone";
      if (build.step === "over") build.previous = null;
    }
    found.push({ name, next, ...(system !== undefined && { system }) });
  };

  if (
    state.builds.length < buildsMax &&
    (state.lock === null || !keeps("create takes the lock in its own transaction"))
  ) {
    happens("create", (next) => {
      const created: Build = {
        status: "pending",
        canceled: false,
        step: "start",
        upload: "none",
        previous: null,
        repeats: 1,
      };
      next.lock = next.builds.push(created) - 1;
    });
  }
  for (const [id, build] of state.builds.entries()) {
    const on = (change: Change) => (next: State) => change(next.builds[id] as Build, next, id);
    if (build.upload === "none")
      happens(
        `upload ${id}`,
        on((own) => void Object.assign(own, { upload: "event sent" })),
      );
    if (!isOver(build) && (build.status !== "deploying" || !keeps("cancel refuses a build that is deploying"))) {
      const cancel: Change = (own, next) => {
        own.canceled = true;
        if (keeps("cancel frees the project in its own transaction")) writes(keeps).release(own, next, id);
      };
      happens(`cancel ${id}`, on(cancel));
    }
    if (!["start", "died", "over"].includes(build.step)) {
      happens(
        `died ${id}`,
        on((own) => void Object.assign(own, { step: "died" })),
        id,
      );
    }
    const late = build.step === "over" && build.repeats > 0 ? lateChanges(keeps) : [];
    for (const [name, change] of [...steps[build.step](build), ...late]) happens(`${name} ${id}`, on(change), id);
  }
  return found;
}
