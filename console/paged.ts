import { useEffect, useState } from "preact/hooks";
import { type Loaded, useLoad } from "./load.ts";

export interface PageOf<Item> {
  items: Item[];
  nextCursor: string | null;
}

export interface Paged<Item> extends Loaded<{ items: Item[]; hasMore: boolean }> {
  showMore(): void;
}

/** A list that is loaded page by page; a reload loads all pages that are shown. */
export function usePaged<Item>(
  key: string,
  loadPage: (cursor: string | undefined, signal: AbortSignal) => Promise<PageOf<Item>>,
): Paged<Item> {
  const [pages, setPages] = useState(1);
  const loaded = useLoad(key, async (signal) => {
    const items: Item[] = [];
    let cursor: string | null | undefined;
    for (let page = 0; page < pages && cursor !== null; page += 1) {
      const loadedPage = await loadPage(cursor, signal);
      items.push(...loadedPage.items);
      cursor = loadedPage.nextCursor;
    }
    return { items, hasMore: cursor !== null };
  });
  useEffect(() => {
    if (pages > 1) loaded.reload();
  }, [pages]);
  return { ...loaded, showMore: () => setPages(pages + 1) };
}
