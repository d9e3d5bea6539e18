import { Component } from "preact";
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import type { ListedBuildReply } from "../../api/builds.ts";
import { client } from "../api.ts";
import { buildSeconds, canCancel, isRunning, liveMark, type ProjectIds, redeployReasons } from "../builds.ts";
import { CancelDialog, named, RebuildButton, RedeployDialog } from "../components/build-actions.tsx";
import { LinkButton } from "../components/button.tsx";
import { EmptyState } from "../components/empty-state.tsx";
import { ErrorMessage } from "../components/error-message.tsx";
import { LiveBadge } from "../components/live.tsx";
import { Loading } from "../components/loading.tsx";
import { Page } from "../components/shell.tsx";
import { BuildStatus } from "../components/status.tsx";
import { durationText, nowMs, Time } from "../components/time.tsx";
import { useVisibleRows } from "../components/use-visible-rows.ts";
import { useLoad } from "../load.ts";
import { paths, useProject } from "../paths.ts";

interface BuildsPart {
  builds: ListedBuildReply[];
  nextCursor: string | null;
  isLiveKnown: boolean;
}

async function loadPart(ids: ProjectIds, cursor: string | undefined, signal?: AbortSignal): Promise<BuildsPart> {
  const { builds, nextCursor, redeployAvailability } = await client.listBuilds(
    { ...ids, limit: 100, cursor },
    signal && { signal },
  );
  return { builds, nextCursor, isLiveKnown: redeployAvailability.status === "available" };
}

const isNarrow = matchMedia("(max-width: 640px)");

function useIsNarrow(): boolean {
  const [narrow, setNarrow] = useState(isNarrow.matches);
  useEffect(() => {
    const change = () => setNarrow(isNarrow.matches);
    isNarrow.addEventListener("change", change);
    return () => isNarrow.removeEventListener("change", change);
  }, []);
  return narrow;
}

/** The duration of a build; while the build runs and the row is visible, it grows. */
function Duration({ build }: { build: ListedBuildReply }) {
  const running = isRunning(build);
  return <>{durationText(buildSeconds(build, running, running ? nowMs() : 0))}</>;
}

interface RowProps {
  ids: ProjectIds;
  build: ListedBuildReply;
  isLiveKnown: boolean;
  index: number;
  count: number;
  rowHeight: number;
  onAsk: (build: ListedBuildReply) => void;
}

/** A row is rendered again only if its content changes: while the list scrolls, most rows stay the same. */
class Row extends Component<RowProps> {
  override shouldComponentUpdate(next: RowProps): boolean {
    const { props } = this;
    return (
      next.build !== props.build ||
      next.isLiveKnown !== props.isLiveKnown ||
      next.index !== props.index ||
      next.count !== props.count ||
      next.rowHeight !== props.rowHeight
    );
  }

  override render({ ids, build, isLiveKnown, index, count, rowHeight, onAsk }: RowProps) {
    const running = isRunning(build);
    const canceledAt = build.redeployBlockedBy === "canceled" ? build.updatedAt : null;
    return (
      <li
        aria-setsize={count}
        aria-posinset={index + 1}
        style={{ transform: `translateY(${index * rowHeight}px)`, height: `${rowHeight}px` }}
      >
        <BuildStatus build={{ ...build, canceledAt }} />
        <span class="build-title">
          <a href={paths.build(ids.orgId, ids.projectId, build.id)} dir="auto">
            {build.title ?? "Untitled build"}
          </a>
          <LiveBadge mark={liveMark(build, isLiveKnown)} />
        </span>
        <span class="build-facts muted">
          <span>{build.runtime ?? "–"}</span>
          <span class="end">
            <Duration build={build} />
          </span>
          <Time at={build.createdAt} />
        </span>
        {(!running || canCancel(build.status)) && (
          <button
            type="button"
            class={`button ${running ? "danger" : blockedBy(build) === undefined ? "quiet" : "quiet muted"}`}
            aria-haspopup="dialog"
            aria-label={`${running ? "Cancel" : "Redeploy"} ${named(build)}`}
            onClick={() => onAsk(build)}
          >
            {running ? "Cancel" : "Redeploy"}
          </button>
        )}
      </li>
    );
  }
}

/** Why a build cannot be deployed again, in words; undefined if it can. */
function blockedBy({ redeployBlockedBy, canRedeploy }: ListedBuildReply): string | undefined {
  if (redeployBlockedBy) return redeployReasons[redeployBlockedBy];
  return canRedeploy ? undefined : "The live build could not be read just now; try again in a few seconds.";
}

interface RowsProps {
  ids: ProjectIds;
  builds: readonly ListedBuildReply[];
  isLiveKnown: boolean;
  onEnd: () => void;
}

/** The list scrolls with the page; only the rows in view are in the document. */
function Rows({ ids, builds, isLiveKnown, onEnd }: RowsProps) {
  const list = useRef<HTMLUListElement>(null);
  const [asked, setAsked] = useState<ListedBuildReply | undefined>(undefined);
  const rowHeight = useIsNarrow() ? 104 : 49;
  const { from, to } = useVisibleRows(list, { count: builds.length, rowHeight, overscan: 10 });
  useEffect(() => {
    if (to >= builds.length - 20) onEnd();
  }, [to, builds.length]);
  const dialog = asked && { ids, build: asked, onClose: () => setAsked(undefined) };
  return (
    <>
      <ul
        class="builds"
        ref={list}
        style={{ height: `${builds.length * rowHeight}px` }}
        aria-label="Builds, newest first"
      >
        {builds.slice(from, to).map((build, position) => (
          <Row
            key={build.id}
            ids={ids}
            build={build}
            isLiveKnown={isLiveKnown}
            index={from + position}
            count={builds.length}
            rowHeight={rowHeight}
            onAsk={setAsked}
          />
        ))}
      </ul>
      {dialog &&
        (isRunning(dialog.build) ? (
          <CancelDialog {...dialog} />
        ) : (
          <RedeployDialog {...dialog} blockedBy={blockedBy(dialog.build)} />
        ))}
    </>
  );
}

export function BuildsPage() {
  const { ids, path } = useProject();
  const first = useLoad(`builds/${ids.projectId}/list`, (signal) => loadPart(ids, undefined, signal), {
    every: ({ builds, isLiveKnown }) => (builds.some(isRunning) ? 2 : isLiveKnown ? 15 : 5),
  });
  const [older, setOlder] = useState<BuildsPart[]>([]);
  const [olderError, setOlderError] = useState<unknown>(undefined);
  const isLoadingOlder = useRef(false);

  const all = useMemo(() => {
    const known = new Map<string, ListedBuildReply>();
    for (const part of [...older.toReversed(), ...(first.data ? [first.data] : [])]) {
      for (const build of part.builds) known.set(build.id, build);
    }
    return [...known.values()].sort((one, other) => (one.id < other.id ? 1 : -1));
  }, [first.data, older]);

  const more = async () => {
    const cursor = (older.at(-1) ?? first.data)?.nextCursor;
    if (!cursor || isLoadingOlder.current) return;
    isLoadingOlder.current = true;
    setOlderError(undefined);
    try {
      const part = await loadPart(ids, cursor);
      setOlder((parts) => [...parts, part]);
    } catch (error) {
      setOlderError(error);
    } finally {
      isLoadingOlder.current = false;
    }
  };

  return (
    <Page title="Builds" actions={all.length > 0 && <RebuildButton ids={ids} />}>
      <Loading of={first} what="builds">
        {({ isLiveKnown }) =>
          all.length === 0 ? (
            <EmptyState title="No builds yet">
              <p>A build takes a zip of your source, makes an image of it, starts it, and checks that it is healthy.</p>
              <LinkButton href={path} kind="primary">
                Deploy the first one
              </LinkButton>
            </EmptyState>
          ) : (
            <>
              {!isLiveKnown && (
                <p class="note">
                  Which build serves could not be read just now, so no build is marked. Your app is not affected, and
                  this page tries again by itself.
                </p>
              )}
              <Rows ids={ids} builds={all} isLiveKnown={isLiveKnown} onEnd={() => void more()} />
              <ErrorMessage of={{ error: olderError, retry: () => void more() }} />
            </>
          )
        }
      </Loading>
    </Page>
  );
}
