import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { begin, type Execution, replay } from "../interpreter/execution.ts";
import { loadMachine, type Machine } from "../interpreter/machine.ts";
import type { Integrations } from "../interpreter/resources.ts";
import { openJournal, readJournal } from "./journal.ts";

const JOURNAL = ".jsonl";

/** The journals of executions that are not done with, and the definitions that they run on. */
export interface Store {
  journalPath(file: string): string;
  /** Every execution with a journal, as it stood at its last written line; ended ones await the delivery of an event. */
  load(): Execution[];
}

/** Opens the store in `dir` and keeps a copy of each definition, so that a changed one does not change what runs. */
export function openStore(dir: string, machines: Machine[], integrations: Integrations): Store {
  const open = join(dir, "open");
  const definitions = join(dir, "definitions");
  for (const folder of [open, definitions]) mkdirSync(folder, { recursive: true, mode: 0o700 });
  const journalPath = (file: string) => join(open, `${file}${JOURNAL}`);
  const definitionPath = (hash: string) => join(definitions, `${hash}.json`);
  const loaded = new Map<string, Machine | undefined>(machines.map((machine) => [machine.hash, machine]));

  for (const machine of machines) {
    const path = definitionPath(machine.hash);
    if (existsSync(path)) continue;
    writeFileSync(`${path}.tmp`, machine.text, { mode: 0o600 });
    renameSync(`${path}.tmp`, path);
  }

  const machineOf = (hash: string): Machine | undefined => {
    if (loaded.has(hash)) return loaded.get(hash);
    let machine: Machine | undefined;
    try {
      machine = loadMachine(JSON.parse(readFileSync(definitionPath(hash), "utf8")), integrations);
    } catch {
      // It is gone, or names a resource that no longer exists: the execution is failed with States.Runtime.
    }
    loaded.set(hash, machine);
    return machine;
  };

  const loadOne = (file: string): Execution | undefined => {
    const path = journalPath(file);
    const { entries, damaged } = readJournal(path);
    const [first, ...rest] = entries;
    if (first?.t !== "started") {
      rmSync(path); // torn before StartExecution was answered
      return undefined;
    }
    const { t: _, ...identity } = first;
    const machine = machineOf(identity.definition);
    const execution = begin(identity, machine, machine?.startAt ?? "", file, openJournal(path));
    for (const entry of rest) replay(execution, entry);
    execution.damaged = damaged;
    return execution;
  };

  return {
    journalPath,
    load() {
      const files = readdirSync(open).filter((name) => name.endsWith(JOURNAL));
      const executions = files.map((name) => loadOne(name.slice(0, -JOURNAL.length)));
      for (const name of readdirSync(definitions)) {
        if (!loaded.has(name.replace(/\.json(\.tmp)?$/, ""))) rmSync(join(definitions, name));
      }
      return executions.filter((execution) => execution !== undefined);
    },
  };
}
