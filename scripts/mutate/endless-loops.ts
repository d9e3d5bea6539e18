import type { Plugin } from "vitest/config";

/** How many iterations of loops the changed code may still run. */
export interface LoopBudget {
  left: number;
}

const name = "__mutateLoops__";
const whole = 20_000_000;

/** One budget for all changed code of this process. The runner sets it for each test; otherwise it is for a whole test file. */
export const loopBudget: LoopBudget = Reflect.get(globalThis, name) ?? { left: whole };
Reflect.set(globalThis, name, loopBudget);

/** The statement that resets the budget, for the text of a test file. */
export const resetLoops = `(globalThis.${name} ??= {}).left = ${whole};`;

const loops = new Set(["WhileStatement", "DoWhileStatement", "ForStatement", "ForOfStatement", "ForInStatement"]);
const count = `if (--globalThis.${name}.left < 0) throw new Error("This change makes a loop endless");`;

interface Body {
  start: number;
  end: number;
  type: string;
}

/** The bodies of all loops in a syntax tree, outer loops first. */
export function bodiesOf(node: unknown): Body[] {
  if (Array.isArray(node)) return node.flatMap(bodiesOf);
  if (typeof node !== "object" || node === null) return [];
  const own = loops.has(Reflect.get(node, "type")) ? [Reflect.get(node, "body")] : [];
  return [...own, ...Object.values(node).flatMap(bodiesOf)];
}

/** Inserts a count of iterations into each body. */
export function withCounts(code: string, bodies: readonly Body[]): string {
  const inserted = bodies.flatMap(({ start, end, type }) =>
    type === "BlockStatement"
      ? [{ at: start + 1, text: count }]
      : [
          { at: start, text: `{${count}` },
          { at: end, text: "}" },
        ],
  );
  // Inserts from the end, so that earlier offsets stay valid; at equal offsets, the inner loop's end comes first.
  const last = inserted.map((one, index) => ({ ...one, index })).sort((a, b) => b.at - a.at || b.index - a.index);
  return last.reduce((text, { at, text: more }) => text.slice(0, at) + more + text.slice(at), code);
}

/** Ends loops that a change made endless. Without this, the run waits until a process that reports nothing is killed. */
export const endlessLoops: Plugin = {
  name: "endless-loops",
  enforce: "post",
  transform(code) {
    if (!code.includes("stryMutAct_")) return undefined;
    const counted = withCounts(code, bodiesOf(this.parse(code)));
    return { code: `globalThis.${name} ??= { left: ${whole} };\n${counted}`, map: null };
  },
};
