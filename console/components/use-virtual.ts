import {
  elementScroll,
  observeElementOffset,
  observeElementRect,
  observeWindowOffset,
  observeWindowRect,
  type VirtualItem,
  Virtualizer,
  windowScroll,
} from "@tanstack/virtual-core";
import type { RefObject } from "preact";
import { useLayoutEffect, useReducer, useState } from "preact/hooks";

interface Rows {
  count: number;
  /** In pixels; all rows have the same height. */
  rowHeight: number;
  /** How many rows outside the view are rendered as well. */
  overscan?: number;
}

export interface Virtual {
  items: VirtualItem[];
  totalHeight: number;
  scrollTo(index: number): void;
}

function useRows<Scroller extends Element | Window>(
  rows: Rows,
  make: () => Pick<
    ConstructorParameters<typeof Virtualizer<Scroller, Element>>[0],
    "getScrollElement" | "observeElementRect" | "observeElementOffset" | "scrollToFn"
  >,
  scrollMargin = 0,
): Virtual {
  const [, render] = useReducer((count: number) => count + 1, 0);
  const options = () => ({
    ...make(),
    count: rows.count,
    estimateSize: () => rows.rowHeight,
    overscan: rows.overscan ?? 12,
    scrollMargin,
    onChange: () => render(undefined),
  });
  const [virtualizer] = useState(() => new Virtualizer<Scroller, Element>(options()));
  virtualizer.setOptions(options());
  useLayoutEffect(() => virtualizer._didMount(), []);
  useLayoutEffect(() => virtualizer._willUpdate());
  return {
    items: virtualizer.getVirtualItems(),
    totalHeight: virtualizer.getTotalSize(),
    scrollTo: (index) => virtualizer.scrollToIndex(index, { align: "center" }),
  };
}

/** The visible rows of a box that scrolls by itself. */
export function useVirtualBox(box: RefObject<HTMLElement | null>, rows: Rows): Virtual {
  return useRows<HTMLElement>(rows, () => ({
    getScrollElement: () => box.current,
    observeElementRect,
    observeElementOffset,
    scrollToFn: elementScroll,
  }));
}

/** The visible rows of a list that scrolls with the page and begins `top` pixels below its start. */
export function useVirtualPage(rows: Rows, top: number): Virtual {
  return useRows<Window>(
    rows,
    () => ({
      getScrollElement: () => window,
      observeElementRect: observeWindowRect,
      observeElementOffset: observeWindowOffset,
      scrollToFn: windowScroll,
    }),
    top,
  );
}
