import { mkdirSync, readdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { setImmediate as nextTurn } from "node:timers/promises";
import type * as z from "zod";
import { type ServiceRecord, serviceRecord, type TaskDefinitionRecord, taskDefinitionRecord } from "./records.ts";

/** Older revisions of a family are forgotten, unless a service still names them. */
const revisionsKeptPerFamily = 50;

function readAll<S extends z.ZodType>(dir: string, schema: S): z.infer<S>[] {
  mkdirSync(dir, { recursive: true, mode: 0o700 });
  return readdirSync(dir)
    .filter((name) => name.endsWith(".json"))
    .map((name) => {
      const parsed = schema.safeParse(JSON.parse(readFileSync(join(dir, name), "utf8")));
      if (!parsed.success) throw new Error(`${join(dir, name)} is not a record of this version`);
      return parsed.data;
    });
}

/** One JSON file, replaced atomically; what is saved in one turn of the event loop is one write. */
class AtomicFile {
  readonly #path: string;
  #written = "";
  #text = () => "";
  #next: Promise<void> | undefined;

  constructor(path: string) {
    this.#path = path;
  }

  /** Resolves when what `text` gives at the end of this turn is on disk. */
  save(text: () => string): Promise<void> {
    this.#text = text;
    this.#next ??= nextTurn().then(() => {
      this.#next = undefined;
      this.#write(this.#text());
    });
    return this.#next;
  }

  /** The files are small: writing them at once takes less than waiting for a thread to do it. */
  #write(text: string): void {
    if (text === this.#written) return;
    writeFileSync(`${this.#path}.new`, text, { mode: 0o600 });
    renameSync(`${this.#path}.new`, this.#path);
    this.#written = text;
  }
}

/** What the cluster remembers: a file per service and one per task definition, so that each write is small. */
export class Store {
  readonly services: Map<string, ServiceRecord>;
  readonly taskDefinitions: Map<string, TaskDefinitionRecord>;
  readonly #dir: string;
  readonly #files = new Map<string, AtomicFile>();

  constructor(dir: string) {
    this.#dir = dir;
    const services = readAll(join(dir, "services"), serviceRecord);
    const definitions = readAll(join(dir, "task-definitions"), taskDefinitionRecord);
    definitions.sort((a, b) => a.revision - b.revision);
    this.services = new Map(services.map((record) => [record.name, record]));
    this.taskDefinitions = new Map(definitions.map((record) => [record.taskDefinitionArn, record]));
  }

  #file(path: string): AtomicFile {
    const file = this.#files.get(path) ?? new AtomicFile(path);
    this.#files.set(path, file);
    return file;
  }

  saveService(record: ServiceRecord): Promise<void> {
    return this.#file(join(this.#dir, "services", `${record.name}.json`)).save(() => JSON.stringify(record));
  }

  #definitionPath({ family, revision }: TaskDefinitionRecord): string {
    return join(this.#dir, "task-definitions", `${family}.${revision}.json`);
  }

  async saveTaskDefinition(record: TaskDefinitionRecord): Promise<void> {
    this.taskDefinitions.set(record.taskDefinitionArn, record);
    await this.#file(this.#definitionPath(record)).save(() => JSON.stringify(record));
    await this.#forgetOldest(record.family);
  }

  family(family: string): TaskDefinitionRecord[] {
    return [...this.taskDefinitions.values()].filter((record) => record.family === family);
  }

  async #forgetOldest(family: string): Promise<void> {
    const named = new Set(
      [...this.services.values()].flatMap(({ revisions }) => revisions.map((r) => r.taskDefinition)),
    );
    const old = this.family(family).slice(0, -revisionsKeptPerFamily);
    for (const record of old.filter(({ taskDefinitionArn }) => !named.has(taskDefinitionArn))) {
      this.taskDefinitions.delete(record.taskDefinitionArn);
      this.#files.delete(this.#definitionPath(record));
      await rm(this.#definitionPath(record), { force: true });
    }
  }
}
