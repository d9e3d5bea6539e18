import type { ComponentChildren } from "preact";

/** What a list shows while it is empty: what belongs there, and the first step. */
export function EmptyState({ title, children }: { title: string; children?: ComponentChildren }) {
  return (
    <div class="empty">
      <h2>{title}</h2>
      {children}
    </div>
  );
}
