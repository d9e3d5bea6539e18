import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import type { ListedBuildReply } from "../../api/builds.ts";
import { client } from "../api.ts";
import { buildSeconds, canCancel, isRunning, liveMark, type ProjectIds, redeployReasons } from "../builds.ts";
import { CancelButton, RebuildButton, RedeployButton } from "../components/build-actions.tsx";
import { LinkButton } from "../components/button.tsx";
import { EmptyState } from "../components/empty-state.tsx";
import { ErrorMessage } from "../components/error-message.tsx";
import { LiveBadge } from "../components/live.tsx";
import { Loading } from "../components/loading.tsx";
import { Page } from "../components/shell.tsx";
import { BuildStatus } from "../components/status.tsx";
import { durationText, nowMs, Time } from "../components/time.tsx";
import { useVirtualPage } from "../components/use-virtual.ts";
import { UserText } from "../components/user-text.tsx";
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

function Row({ ids, build, isLiveKnown }: { ids: ProjectIds; build: ListedBuildReply; isLiveKnown: boolean }) {
  const running = isRunning(build);
  const canceledAt = build.redeployBlockedBy === "canceled" ? build.updatedAt : null;
  return (
    <>
      <span class="build-state">
        <BuildStatus build={{ ...build, canceledAt }} />
      </span>
      <span class="build-title">
        <a href={paths.build(ids.orgId, ids.projectId, build.id)}>
          <UserText>{build.title ?? "Untitled build"}</UserText>
        </a>
        <LiveBadge mark={liveMark(build, isLiveKnown)} />
      </span>
      <span class="build-facts muted">
        <span>{build.runtime ?? "–"}</span>
        <span class="end">{durationText(buildSeconds(build, running, nowMs()))}</span>
        <span>
          <Time at={build.createdAt} />
        </span>
      </span>
      <span class="build-actions">
        {running && canCancel(build.status) && <CancelButton ids={ids} build={build} />}
        {!running && (
          <RedeployButton
            quiet
            ids={ids}
            build={build}
            blockedBy={
              build.redeployBlockedBy
                ? redeployReasons[build.redeployBlockedBy]
                : build.canRedeploy
                  ? undefined
                  : "What serves could not be read just now; try again in a few seconds."
            }
          />
        )}
      </span>
    </>
  );
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
  const [top, setTop] = useState(0);
  const narrow = useIsNarrow();
  const rowHeight = narrow ? 104 : 49;
  const { items, totalHeight } = useVirtualPage({ count: builds.length, rowHeight }, top);
  useEffect(() => {
    if (list.current) setTop(list.current.getBoundingClientRect().top + scrollY);
  }, []);
  const last = items.at(-1)?.index ?? 0;
  useEffect(() => {
    if (last >= builds.length - 20) onEnd();
  }, [last, builds.length]);
  return (
    <ul class="builds" ref={list} style={{ height: `${totalHeight}px` }} aria-label="Builds, newest first">
      {items.map(({ index, start }) => {
        const build = builds[index];
        if (!build) return null;
        return (
          <li
            key={build.id}
            aria-setsize={builds.length}
            aria-posinset={index + 1}
            style={{ transform: `translateY(${start - top}px)`, height: `${rowHeight}px` }}
          >
            <Row ids={ids} build={build} isLiveKnown={isLiveKnown} />
          </li>
        );
      })}
    </ul>
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
