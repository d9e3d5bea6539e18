import { useEffect, useRef, useState } from "preact/hooks";
import { isTransient } from "../sdk/retry.ts";
import { refresh } from "./load.ts";

/** Options for the client's POST calls: with this key, a repeated change takes effect once, even if an answer was lost. */
export interface ChangeCall {
  idempotencyKey: string;
}

/** A change by the user, with the state to show beside the control that makes it. */
export interface Mutation<Input> {
  /** Resolves with true if it succeeded, else with false; the error is in `error`. A change without input takes `undefined`. */
  run(...input: undefined extends Input ? [input?: Input] : [input: Input]): Promise<boolean>;
  busy: boolean;
  error: unknown;
  /** How often it has succeeded. */
  successes: number;
  /** Makes the same change again; undefined if there is nothing to repeat. */
  retry: (() => void) | undefined;
  /** Clears the error, for example when a dialog is opened again. */
  clear(): void;
}

interface MutationOptions<Result> {
  /** After a success, loads whose keys start with this are refreshed. */
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
      // After a permanent error, the next attempt is a new change, so it gets a new key.
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
