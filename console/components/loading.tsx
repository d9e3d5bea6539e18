import type { ComponentChildren } from "preact";
import type { Loaded } from "../load.ts";
import { ErrorMessage } from "./error-message.tsx";

interface LoadingProps<T> {
  of: Loaded<T>;
  /** What is being loaded, for "Loading builds…". */
  what: string;
  children: (data: T) => ComponentChildren;
}

/** Shows loaded data. Until it arrives, shows that it is loading; an error of a later load is shown above the old data. */
export function Loading<T>({ of: loaded, what, children }: LoadingProps<T>) {
  if (loaded.data !== undefined) {
    return (
      <>
        {loaded.error !== undefined && <ErrorMessage of={loaded} />}
        {children(loaded.data)}
      </>
    );
  }
  if (loaded.error !== undefined) return <ErrorMessage of={loaded} />;
  return (
    <p class="loading" role="status">
      Loading {what}…
    </p>
  );
}
