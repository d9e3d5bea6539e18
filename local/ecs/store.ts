import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { setImmediate as nextTurn } from "node:timers/promises";
import * as z from "zod";
import {
  type ServiceRecord,
  serviceRecord,
  type TaskDefinitionRecord,
  taskDefinitionRecord,
  taskRecord,
} from "./records.ts";

/** Older revisions of a family are deleted, unless a service still uses them. */
const revisionsKeptPerFamily = 50;

/** A task outside of services. */
const standaloneTaskRecord = z.object({ task: taskRecord, group: z.string(), clientToken: z.string().optional() });
export type StandaloneTaskRecord = z.infer<typeof standaloneTaskRecord>;

const rows = z.array(z.object({ name: z.string(), body: z.string() }));

/** Records as JSON by kind and name; several saves of one record in one turn of the event loop are one write. */
class Records {
  readonly #database: DatabaseSync;
  readonly #unsaved = new Map<string, { record: object; saved: Promise<void> }>();

  constructor(path: string) {
    this.#database = new DatabaseSync(path);
    // Write-ahead logging survives a SIGKILL at any instant without a sync for each write.
    this.#database.exec(`
      PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL;
      CREATE TABLE IF NOT EXISTS record (name TEXT PRIMARY KEY, body TEXT NOT NULL) STRICT`);
    // Earlier versions named services app-prj_…, which is not valid in a host name.
    this.#database.exec(`
      UPDATE record SET name = replace(name, 'app-prj_', 'app-prj-'), body = replace(body, 'app-prj_', 'app-prj-')
      WHERE name LIKE 'service/app-prj\\_%' ESCAPE '\\'`);
  }

  all<S extends z.ZodType>(kind: string, schema: S): z.infer<S>[] {
    const found = this.#database.prepare("SELECT name, body FROM record WHERE name LIKE ? || '/%'").all(kind);
    return rows.parse(found).map(({ name, body }) => {
      const parsed = schema.safeParse(JSON.parse(body));
      if (!parsed.success) throw new Error(`The record ${name} of the local ECS was written by another version`);
      return parsed.data;
    });
  }

  /** Resolves when the record, with all changes of this turn of the event loop, is on disk. */
  save(name: string, record: object): Promise<void> {
    const saved = this.#unsaved.get(name)?.saved ?? nextTurn().then(() => this.#write(name));
    this.#unsaved.set(name, { record, saved });
    return saved;
  }

  #write(name: string): void {
    const record = this.#unsaved.get(name)?.record;
    this.#unsaved.delete(name);
    this.#database
      .prepare("INSERT INTO record VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET body = excluded.body")
      .run(name, JSON.stringify(record));
  }

  remove(name: string): void {
    this.#database.prepare("DELETE FROM record WHERE name = ?").run(name);
  }

  async close(): Promise<void> {
    await Promise.allSettled([...this.#unsaved.values()].map(({ saved }) => saved));
    if (this.#database.isOpen) this.#database.close();
  }
}

const nameOf = ({ family, revision }: TaskDefinitionRecord) => `task-definition/${family}:${revision}`;

/** The saved state of the cluster: one record per service and one per task definition, so that each write is small. */
export class Store {
  readonly services: Map<string, ServiceRecord>;
  readonly taskDefinitions: Map<string, TaskDefinitionRecord>;
  /** Tasks outside of services, by id. */
  readonly tasks: Map<string, StandaloneTaskRecord>;
  readonly #records: Records;

  constructor(dir: string) {
    mkdirSync(dir, { recursive: true, mode: 0o700 });
    this.#records = new Records(join(dir, "cluster.sqlite"));
    const services = this.#records.all("service", serviceRecord);
    const definitions = this.#records.all("task-definition", taskDefinitionRecord);
    const tasks = this.#records.all("task", standaloneTaskRecord);
    this.tasks = new Map(tasks.map((record) => [record.task.id, record]));
    definitions.sort((a, b) => a.revision - b.revision);
    this.services = new Map(services.map((record) => [record.name, record]));
    this.taskDefinitions = new Map(definitions.map((record) => [record.taskDefinitionArn, record]));
    this.forgetDeleted();
  }

  saveService(record: ServiceRecord): Promise<void> {
    return this.#records.save(`service/${record.name}`, record);
  }

  async saveTask(record: StandaloneTaskRecord): Promise<void> {
    this.tasks.set(record.task.id, record);
    await this.#records.save(`task/${record.task.id}`, record);
  }

  removeTask(id: string): void {
    this.tasks.delete(id);
    this.#records.remove(`task/${id}`);
  }

  async saveTaskDefinition(record: TaskDefinitionRecord): Promise<void> {
    this.taskDefinitions.set(record.taskDefinitionArn, record);
    await this.#records.save(nameOf(record), record);
    this.#forgetOldest(record.family);
  }

  family(family: string): TaskDefinitionRecord[] {
    return [...this.taskDefinitions.values()].filter((record) => record.family === family);
  }

  #forgetOldest(family: string): void {
    const named = new Set(
      [...this.services.values()].flatMap(({ revisions }) => revisions.map((r) => r.taskDefinition)),
    );
    const old = this.family(family).slice(0, -revisionsKeptPerFamily);
    for (const record of old.filter(({ taskDefinitionArn }) => !named.has(taskDefinitionArn))) this.#forget(record);
  }

  /** Forgets the task definitions that are being deleted and that no service uses any more. */
  forgetDeleted(): void {
    const active = [...this.services.values()].filter(({ status }) => status !== "INACTIVE");
    const used = new Set(active.flatMap(({ revisions }) => revisions.map((revision) => revision.taskDefinition)));
    for (const record of this.taskDefinitions.values())
      if (record.status === "DELETE_IN_PROGRESS" && !used.has(record.taskDefinitionArn)) this.#forget(record);
  }

  #forget(record: TaskDefinitionRecord): void {
    this.taskDefinitions.delete(record.taskDefinitionArn);
    this.#records.remove(nameOf(record));
  }

  /** Finishes the pending writes and closes the database. */
  close(): Promise<void> {
    return this.#records.close();
  }
}
