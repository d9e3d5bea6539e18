import type { Paged } from "../paged.ts";
import { Button } from "./button.tsx";

/** The button below a list that has more items than are shown. */
export function ShowMore<Item>({ of: list, what }: { of: Paged<Item>; what: string }) {
  if (!list.data?.hasMore) return null;
  return (
    <p class="actions">
      <Button onClick={list.showMore} busy={list.loading}>
        {`Show more ${what}`}
      </Button>
    </p>
  );
}
