import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";

const root = join(import.meta.dirname, "..", "..", "..");

interface State {
  Type: string;
  End?: boolean;
  Next?: string;
  Default?: string;
  Choices?: { Next: string }[];
  Catch?: { Next: string }[];
}

function transitions(file: string): string[] {
  const text = readFileSync(join(root, "statemachines", file), "utf8");
  const { StartAt, States }: { StartAt: string; States: Record<string, State> } = JSON.parse(text);
  const edges = Object.entries(States).flatMap(([name, state]) => {
    const targets = [
      state.Next,
      state.Default,
      ...[...(state.Choices ?? []), ...(state.Catch ?? [])].map((one) => one.Next),
    ];
    const found = targets.flatMap((target) => (target === undefined ? [] : [`${name} --> ${target}`]));
    return state.Type === "Succeed" || state.End ? [...found, `${name} --> [*]`] : found;
  });
  return [...new Set([`[*] --> ${StartAt}`, ...edges])];
}

test.each([
  ["The state machine", "deployment.asl.json"],
  ["What a deletion leaves", "removal.asl.json"],
])("the diagram under %s shows every transition of %s and no other", (heading, file) => {
  const page = readFileSync(join(root, "docs", "architecture.md"), "utf8");
  const section = page.slice(page.indexOf(`## ${heading}\n`));
  const diagram = /```mermaid\nstateDiagram-v2\n([\s\S]*?)```/.exec(section)?.[1] ?? "";
  const drawn = diagram.split("\n").flatMap((line) => (line.trim() === "" ? [] : [line.trim()]));
  expect(drawn.toSorted()).toEqual(transitions(file).toSorted());
});
