import type { ComponentChildren } from "preact";

/** What an empty list shows: its purpose, and the first step. */
export function EmptyState({ title, children }: { title: string; children?: ComponentChildren }) {
  return (
    <div class="empty">
      <h2>{title}</h2>
      {children}
    </div>
  );
}
