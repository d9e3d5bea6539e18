import type { ComponentType, VNode } from "preact";
import { useEffect, useState } from "preact/hooks";
import { ErrorMessage } from "./components/error-message.tsx";

/** A component whose code is loaded when it is first shown, or before by `preload`. */
export interface LazyComponent {
  (): VNode | null;
  preload(): void;
}

/** After an update of the service, the old code may be gone. Then the page offers a reload, which loads the new code. */
export function lazy<Module>(load: () => Promise<Module>, pick: (module: Module) => ComponentType): LazyComponent {
  let loaded: ComponentType | undefined;
  let loading: Promise<void> | undefined;
  const start = () => {
    loading ??= load().then((module) => {
      loaded = pick(module);
    });
    return loading;
  };
  function Lazy() {
    const [, setState] = useState(0);
    const [error, setError] = useState<unknown>(undefined);
    const Component = loaded;
    const isShown = Component !== undefined;
    useEffect(() => {
      // Not `loaded`: the code may have arrived after this was rendered.
      if (!isShown) start().then(() => setState(1), setError);
    }, []);
    if (Component) return <Component />;
    if (error === undefined) return null;
    return <ErrorMessage of={{ error: new Error("This page could not be loaded."), retry: () => location.reload() }} />;
  }
  Lazy.preload = () => {
    start().catch(() => undefined);
  };
  return Lazy;
}
