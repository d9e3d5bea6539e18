import type { LiveMark } from "../builds.ts";
import { Status } from "./status.tsx";

/** Whether a build serves: yes, or nobody can tell right now; nothing for no. */
export function LiveBadge({ mark }: { mark: LiveMark }) {
  if (mark === "live") return <Status tone="good">Live</Status>;
  if (mark === "unknown") {
    return (
      <span title="What serves could not be read just now. The page tries again by itself.">
        <Status tone="warn">Live? Could not tell</Status>
      </span>
    );
  }
  return null;
}
