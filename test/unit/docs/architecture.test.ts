import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";

const root = join(import.meta.dirname, "..", "..", "..");

interface State {
  Type: string;
  Next?: string;
  Default?: string;
  Choices?: { Next: string }[];
  Catch?: { Next: string }[];
}

function transitions(): string[] {
  const text = readFileSync(join(root, "statemachines", "deployment.asl.json"), "utf8");
  const { StartAt, States }: { StartAt: string; States: Record<string, State> } = JSON.parse(text);
  const edges = Object.entries(States).flatMap(([name, state]) => {
    const targets = [
      state.Next,
      state.Default,
      ...[...(state.Choices ?? []), ...(state.Catch ?? [])].map((one) => one.Next),
    ];
    const found = targets.flatMap((target) => (target === undefined ? [] : [`${name} --> ${target}`]));
    return state.Type === "Succeed" ? [...found, `${name} --> [*]`] : found;
  });
  return [...new Set([`[*] --> ${StartAt}`, ...edges])];
}

test("the diagram of the state machine shows every transition of its file and no other", () => {
  const page = readFileSync(join(root, "docs", "architecture.md"), "utf8");
  const diagram = /```mermaid\nstateDiagram-v2\n([\s\S]*?)```/.exec(page)?.[1] ?? "";
  const drawn = diagram.split("\n").flatMap((line) => (line.trim() === "" ? [] : [line.trim()]));
  expect(drawn.toSorted()).toEqual(transitions().toSorted());
});
