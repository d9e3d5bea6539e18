import type { ComponentType } from "preact";
import { useEffect, useState } from "preact/hooks";
import { ErrorMessage } from "./components/error-message.tsx";

/**
 * A component whose code is loaded when it is first shown. After a new version of the service the old code may be gone:
 * loading the page again brings the new one.
 */
export function lazy(load: () => Promise<ComponentType>): ComponentType {
  let loaded: ComponentType | undefined;
  return function Lazy() {
    const [, setState] = useState(0);
    const [error, setError] = useState<unknown>(undefined);
    useEffect(() => {
      if (loaded) return;
      load().then((component) => {
        loaded = component;
        setState(1);
      }, setError);
    }, []);
    if (loaded) {
      const Component = loaded;
      return <Component />;
    }
    if (error === undefined) return null;
    return <ErrorMessage of={{ error: new Error("This page could not be loaded."), retry: () => location.reload() }} />;
  };
}
