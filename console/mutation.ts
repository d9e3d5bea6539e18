import { useEffect, useRef, useState } from "preact/hooks";
import { isTransient } from "../sdk/retry.ts";
import { refresh } from "./load.ts";

/** The key under which a change counts once, also if its answer was lost; give it to the client's POST calls. */
export interface ChangeCall {
  idempotencyKey: string;
}

/** A change that the person makes: what became of it is shown where they made it. */
export interface Mutation<Input> {
  /** Resolves with whether it succeeded; the error is in `error`. A change without input takes `undefined`. */
  run(...input: undefined extends Input ? [input?: Input] : [input: Input]): Promise<boolean>;
  busy: boolean;
  error: unknown;
  /** How often it has succeeded. */
  successes: number;
  /** Makes the same change again; undefined if there is nothing to repeat. */
  retry: (() => void) | undefined;
  /** Takes the error away, such as when a dialog is opened again. */
  clear(): void;
}

interface MutationOptions<Result> {
  /** The start of the keys of `useLoad` that show what was changed. */
  refreshes?: string | readonly string[];
  onDone?: (result: Result) => void;
}

/**
 * A change with its progress and error. `change` gets the input, and the options for the client's call:
 * `useMutation((name: string, call) => client.createProject({ orgId, name }, call), { refreshes: "projects/" })`.
 */
export function useMutation<Input, Result>(
  change: (input: Input, call: ChangeCall) => Promise<Result>,
  options: MutationOptions<Result> = {},
): Mutation<Input> {
  const [state, setState] = useState<{ busy: boolean; error: unknown }>({ busy: false, error: undefined });
  const [successes, setSuccesses] = useState(0);
  const latest = useRef({ change, options });
  latest.current = { change, options };
  const last = useRef<{ input: Input; idempotencyKey: string } | undefined>(undefined);
  const isMounted = useRef(true);
  useEffect(() => {
    isMounted.current = true;
    return () => {
      isMounted.current = false;
    };
  }, []);
  const show = (error: unknown, busy: boolean) => {
    if (isMounted.current) setState({ busy, error });
  };

  async function attempt(input: Input, idempotencyKey: string): Promise<boolean> {
    last.current = { input, idempotencyKey };
    show(undefined, true);
    try {
      const result = await latest.current.change(input, { idempotencyKey });
      last.current = undefined;
      show(undefined, false);
      const { refreshes = [], onDone } = latest.current.options;
      for (const start of typeof refreshes === "string" ? [refreshes] : refreshes) refresh(start);
      if (isMounted.current) {
        setSuccesses((count) => count + 1);
        onDone?.(result);
      }
      return true;
    } catch (error) {
      // After a definite answer the next attempt is a change of its own.
      if (!isTransient(error)) last.current = { input, idempotencyKey: crypto.randomUUID() };
      show(error, false);
      return false;
    }
  }

  const repeat = () => {
    const again = last.current;
    if (again) void attempt(again.input, again.idempotencyKey);
  };
  return {
    run: (...[input]) => attempt(input as Input, crypto.randomUUID()),
    busy: state.busy,
    error: state.error,
    successes,
    retry: state.error !== undefined && last.current ? repeat : undefined,
    clear: () => show(undefined, false),
  };
}
