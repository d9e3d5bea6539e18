import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { Button } from "./button.tsx";
import { useVisibleRows } from "./use-visible-rows.ts";

export interface LogLine {
  at: string;
  /** The source of the line: a stage or an instance. */
  source: string;
  text: string;
}

const rowHeight = 20;

/** Colors and cursor movements of terminals, and other control characters, which would be shown as boxes. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are the characters to remove
const controls = /\u001b\[[0-9;?]*[A-Za-z]|\u001b\][^\u0007]*\u0007|[\u0000-\u0008\u000b-\u001f\u007f]/g;
const shownText = (text: string) => text.replace(controls, "").replaceAll("\t", "    ");

/** "09:05:07", in the person's time zone. */
const clock = (at: string) => new Date(at).toTimeString().slice(0, 8);

/** The text, with the matches of the search marked. */
function Marked({ text, searched }: { text: string; searched: string }) {
  if (searched === "") return <>{text}</>;
  const parts = [];
  const lower = text.toLowerCase();
  let from = 0;
  for (let at = lower.indexOf(searched); at !== -1; at = lower.indexOf(searched, from)) {
    parts.push(text.slice(from, at), <mark key={at}>{text.slice(at, at + searched.length)}</mark>);
    from = at + searched.length;
  }
  parts.push(text.slice(from));
  return <>{parts}</>;
}

interface LogViewProps {
  label: string;
  lines: readonly LogLine[];
  /** Whether more lines may come: the view then follows the end until the person scrolls up. */
  isGrowing: boolean;
  /** Shown instead of lines while there are none. */
  empty: string;
}

/** A log of any length: only the visible lines are in the document. It scrolls with new lines, and can be searched. */
export function LogView({ label, lines, isGrowing, empty }: LogViewProps) {
  const box = useRef<HTMLDivElement>(null);
  const [follows, setFollows] = useState(isGrowing);
  const [text, setText] = useState("");
  const [current, setCurrent] = useState(0);
  const list = useRef<HTMLDivElement>(null);
  const { from, to } = useVisibleRows(list, { count: lines.length, rowHeight, overscan: 20 }, box);
  const searched = text.toLowerCase();
  const hits = useMemo(
    () =>
      searched === "" ? [] : lines.flatMap((line, at) => (line.text.toLowerCase().includes(searched) ? [at] : [])),
    [searched, lines],
  );

  useEffect(() => {
    if (follows && box.current) box.current.scrollTop = box.current.scrollHeight;
  }, [lines.length, follows]);

  const jump = (to: number) => {
    if (hits.length === 0) return;
    const next = (to + hits.length) % hits.length;
    setFollows(false);
    setCurrent(next);
    const element = box.current;
    if (element) element.scrollTop = (hits[next] ?? 0) * rowHeight - (element.clientHeight - rowHeight) / 2;
  };
  const search = (value: string) => {
    setText(value);
    setCurrent(0);
  };
  useEffect(() => {
    if (hits.length > 0) jump(0);
  }, [searched]);
  const onScroll = () => {
    const element = box.current;
    if (!element) return;
    const isAtEnd = element.scrollHeight - element.scrollTop - element.clientHeight < rowHeight;
    if (isAtEnd !== follows) setFollows(isAtEnd && isGrowing);
  };
  const width = useMemo(() => lines.reduce((max, line) => Math.max(max, line.text.length), 0), [lines]);

  return (
    <section class="log" aria-label={label}>
      <div class="log-tools">
        <input
          type="search"
          aria-label={`Search in: ${label}`}
          placeholder="Search"
          value={text}
          onInput={(event) => search(event.currentTarget.value)}
          onKeyDown={(event) => {
            if (event.key === "Enter") jump(current + (event.shiftKey ? -1 : 1));
          }}
        />
        <span class="muted nowrap" role="status">
          {searched === "" ? `${lines.length} lines` : `${hits.length === 0 ? 0 : current + 1} of ${hits.length}`}
        </span>
        {hits.length > 0 && (
          <>
            <Button kind="quiet" label="Previous hit" onClick={() => jump(current - 1)}>
              ↑
            </Button>
            <Button kind="quiet" label="Next hit" onClick={() => jump(current + 1)}>
              ↓
            </Button>
          </>
        )}
        <span class="grow" />
        {isGrowing && (
          <label class="check">
            <input type="checkbox" checked={follows} onChange={(event) => setFollows(event.currentTarget.checked)} />
            Follow
          </label>
        )}
      </div>
      <section
        class="log-box"
        style={{ height: `min(60vh, ${Math.max(lines.length, 6) * rowHeight + 14}px)` }}
        ref={box}
        // biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, so the keyboard must reach it
        tabIndex={0}
        aria-label={`Lines of: ${label}`}
        onScroll={onScroll}
      >
        {lines.length === 0 && <p class="muted log-empty">{empty}</p>}
        <div
          ref={list}
          class="log-lines"
          style={{ height: `${lines.length * rowHeight}px`, minWidth: `calc(${width}ch + 170px)` }}
        >
          {lines.slice(from, to).map((line, position) => {
            const index = from + position;
            return (
              <div
                key={index}
                class={hits[current] === index ? "log-line hit" : "log-line"}
                style={{ transform: `translateY(${index * rowHeight}px)` }}
              >
                <time dateTime={line.at} title={line.at}>
                  {clock(line.at)}
                </time>
                <span class="log-source">{line.source}</span>
                <bdi dir="ltr">
                  <Marked text={shownText(line.text)} searched={searched} />
                </bdi>
              </div>
            );
          })}
        </div>
      </section>
    </section>
  );
}
