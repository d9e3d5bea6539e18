import type { RefObject } from "preact";
import { useLayoutEffect, useState } from "preact/hooks";

interface Rows {
  count: number;
  /** In pixels; all rows have the same height. */
  rowHeight: number;
  /** How many rows outside the view are rendered as well. */
  overscan: number;
}

/** The rows to render: from the first index, up to but without the last. */
interface VisibleRows {
  from: number;
  to: number;
}

/** The rows in a view that begins `top` pixels below the start of the list. */
function rowsIn(top: number, height: number, { count, rowHeight, overscan }: Rows): VisibleRows {
  const from = Math.max(0, Math.floor(top / rowHeight) - overscan);
  const to = Math.min(count, Math.ceil((top + height) / rowHeight) + overscan);
  return { from: Math.min(from, to), to };
}

/**
 * The rows of a list of any length that are seen. The list scrolls in `box`, or with the page when there is none; it is
 * rendered again only when other rows come into view.
 */
export function useVisibleRows(
  list: RefObject<HTMLElement | null>,
  rows: Rows,
  box?: RefObject<HTMLElement | null>,
): VisibleRows {
  const measure = (): VisibleRows => {
    if (!list.current) return rowsIn(0, innerHeight, rows);
    const view = box?.current?.getBoundingClientRect() ?? { top: 0, height: innerHeight };
    return rowsIn(view.top - list.current.getBoundingClientRect().top, view.height, rows);
  };
  const [visible, setVisible] = useState(measure);
  const update = () => {
    const next = measure();
    setVisible((before) => (before.from === next.from && before.to === next.to ? before : next));
  };
  useLayoutEffect(() => {
    update();
    const scroller = box?.current ?? window;
    const resized = new ResizeObserver(update);
    resized.observe(box?.current ?? document.documentElement);
    scroller.addEventListener("scroll", update, { passive: true });
    addEventListener("resize", update);
    return () => {
      resized.disconnect();
      scroller.removeEventListener("scroll", update);
      removeEventListener("resize", update);
    };
  }, [rows.count, rows.rowHeight]);
  return visible;
}
