import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createExecution, type Execution, replay } from "../interpreter/execution.ts";
import { loadMachine, type Machine } from "../interpreter/machine.ts";
import type { Integrations } from "../interpreter/resources.ts";
import { openJournal, readJournal } from "./journal.ts";

const JOURNAL = ".jsonl";

/** The journals of executions that have not ended or have undelivered events, and their definitions. */
export interface Store {
  journalPath(file: string): string;
  /** Loads all executions with a journal as of their last written line; ended ones have undelivered events. */
  load(): Execution[];
}

/** Opens the store in `dir`. It keeps a copy of each definition, so that a changed one does not affect running executions. */
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
      // The definition does not exist or uses a removed resource: the execution fails with States.Runtime.
    }
    loaded.set(hash, machine);
    return machine;
  };

  const loadOne = (file: string): Execution | undefined => {
    const path = journalPath(file);
    const { entries, damaged } = readJournal(path);
    const [first, ...rest] = entries;
    if (first?.t !== "started") {
      rmSync(path); // the process died before StartExecution was answered
      return undefined;
    }
    const { t: _, ...identity } = first;
    const machine = machineOf(identity.definition);
    const execution = createExecution(identity, machine, machine?.startAt ?? "", file, openJournal(path));
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
