import type { LiveMark } from "../builds.ts";
import { Status } from "./status.tsx";

/** Shows that a build is live, or that this is unknown; renders nothing if it is not live. */
export function LiveBadge({ mark }: { mark: LiveMark }) {
  if (mark === "live") return <Status tone="good">Live</Status>;
  if (mark === "unknown") {
    return (
      <span title="The live build could not be read just now. The page tries again by itself.">
        <Status tone="warn">Live? Could not tell</Status>
      </span>
    );
  }
  return null;
}
