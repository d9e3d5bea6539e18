import { type Place, present } from "../table/entity.ts";
import type { Places, Rows, TableReader } from "../table/reader.ts";
import type { RowUpdater } from "../table/updater.ts";
import type { Failed, Outcome, TableWriter, Writes } from "../table/writer.ts";
import { type Change, eventOf } from "./events.ts";
import { type IdempotencyKey, storeAnswer, throwRepeated } from "./idempotency.ts";
import { recordUse } from "./key-use.ts";
import { Event, type EventRow } from "./model/event.ts";
import { IdempotencyRecord, type IdempotencyRow } from "./model/idempotency-record.ts";
import { notFound, Problem } from "./problem.ts";
import {
  type Caller,
  callerOf,
  isPlausible,
  laterChecks,
  type ProofRequest,
  type ProofRows,
  proofChecks,
  proofPlaces,
  proveCaller,
  provePermission,
  proveProject,
} from "./proof.ts";

export interface ReadAccess {
  /** Proves the caller and reads these rows in ONE BatchGetItem; throws 401, 404 or 403. */
  read<const P extends Places>(places?: P): Promise<Rows<P>>;
  /** The caller that `read` has proved. */
  caller(): Caller;
  /** The request's Idempotency-Key, for work that is not done in the table; absent without one. */
  idempotencyKey?: IdempotencyKey | undefined;
  /**
   * Does work outside the table or in several transactions: its event is recorded before, and completed after (ADR 0019).
   * `ids` names what is not in the path. A `commit` of this work adds no event of its own.
   */
  around<T>(work: () => Promise<T>, ids?: EventRow["ids"]): Promise<T>;
}

export interface Access extends ReadAccess {
  /**
   * Proves the caller (unless `read` already has) and writes, in ONE TransactWriteItems; throws 401, 404 or 403.
   * `remember` is the answer to store for the request's Idempotency-Key. A route whose writes change the rows that prove
   * its caller reads first. The event of the change is part of the transaction, with the ids of the path and of `made`.
   */
  commit<const W extends Writes>(writes: W, remember?: unknown, made?: unknown): Promise<Outcome<W>>;
  /** Takes back what the last `commit` wrote, whose event then says that nothing was changed. */
  undo<const W extends Writes>(writes: W): Promise<void>;
}

export interface AccessRequest extends ProofRequest {
  /** Rows that must exist, and be the organization's if they name one: checked before permissions and input. */
  exists?: Places;
  /** What the request's events say; absent when none are recorded. */
  change?: Change | undefined;
  idempotencyKey?: IdempotencyKey | undefined;
}

/** What proving a caller needs, `commit` if the route may write, and its events if it records them. */
export interface AccessTools {
  reader: TableReader;
  keyUses: RowUpdater;
  writer?: TableWriter | undefined;
  events?: RowUpdater | undefined;
}

/** Whether the row does not exist or belongs to another organization. */
function isMissing(row: unknown, orgId: string | undefined): boolean {
  if (typeof row !== "object" || row === null) return true;
  return "organizationId" in row && row.organizationId !== orgId;
}

/** The checks without those of rows that the transaction writes: DynamoDB accepts one action for each row. */
function checksBeside(writes: Writes, checks: Writes): Writes {
  const written = new Set(Object.values(writes).map((one) => one && `${one.key.pk}\n${one.key.sk}`));
  return Object.fromEntries(
    Object.entries(checks).filter(([, one]) => one && !written.has(`${one.key.pk}\n${one.key.sk}`)),
  );
}

/** The most that TransactWriteItems accepts. */
const transactionWritesMax = 100;

const countOf = (writes: Writes) => Object.values(writes).filter((one) => one !== undefined).length;

/** Binds a request's credential to the table: authentication, authorization and the work's own rows in one round trip. */
export function accessFor(request: AccessRequest, tools: AccessTools): Access & { proved(): boolean } {
  const { idempotencyKey, now } = request;
  const existing = Object.entries(request.exists ?? {}).flatMap(([name, place]) =>
    place ? [[`exists:${name}`, place] as const] : [],
  );
  let proved = false;
  let caller: Caller | undefined;
  let recorded: EventRow | undefined;
  let isInside = false;

  /** Records an event in a write of its own, because the transaction is full or the work is outside the table. */
  async function record(event: EventRow): Promise<void> {
    const { id, ownerId } = event;
    if (!tools.events) throw new Error("The route declares no event");
    await tools.events.update(Event.update({ ownerId, id }, { set: event }));
    recorded = event;
  }

  async function conclude(outcome: EventRow["outcome"]): Promise<void> {
    if (!recorded) return;
    const { id, ownerId } = recorded;
    await tools.events?.update(Event.update({ ownerId, id }, { set: { outcome } }, { id: present }));
  }

  /** An event that cannot be completed says that its outcome is unknown; the change itself was made. */
  const concludeBestEffort = (outcome: EventRow["outcome"]) => conclude(outcome).catch(() => undefined);

  async function read<const P extends Places>(places?: P): Promise<Rows<P>> {
    const record: Place<IdempotencyRow> | undefined = idempotencyKey && IdempotencyRecord.at(idempotencyKey);
    const rows: Rows<Places> = await tools.reader.read<Places>({
      ...proofPlaces(request),
      ...Object.fromEntries(existing),
      "idempotency:record": record,
      ...places,
    });
    const proof = rows as ProofRows;
    proveCaller(request, proof);
    recordUse(tools.keyUses, request.credential, now);
    proveProject(request, proof);
    if (existing.some(([name]) => isMissing(rows[name], request.orgId))) throw notFound();
    provePermission(request, proof);
    proved = true;
    caller = callerOf(request, proof);
    if (idempotencyKey) throwRepeated(rows["idempotency:record"] as IdempotencyRow | undefined, idempotencyKey, now);
    return rows as Rows<P>;
  }

  async function commit<const W extends Writes>(writes: W, remember?: unknown, made = remember): Promise<Outcome<W>> {
    if (!tools.writer) throw new Error("The route does not declare table:write");
    if (!proved && !isPlausible(request)) await read();
    const checks = checksBeside(writes, proved ? laterChecks(request) : proofChecks(request));
    const own: Writes = {
      ...checks,
      "idempotency:record":
        idempotencyKey && remember !== undefined ? storeAnswer(idempotencyKey, remember, now) : undefined,
      ...writes,
    };
    const fits = countOf(own) < transactionWritesMax;
    const change = countOf(writes) > 0 && !isInside ? request.change : undefined;
    const event = change && eventOf(change, request, made, fits ? "done" : "unknown");
    if (event && !fits) await record(event);
    const outcome = await tools.writer.write<Writes>({
      ...own,
      "event:change": event && fits ? Event.put(event, event) : undefined,
    });
    if (event && !fits) await concludeBestEffort(outcome.ok ? "done" : "refused");
    if (!outcome.ok && Object.keys(checks).some((name) => outcome.failed[name])) {
      if (proved) throw notFound();
      // Throws the refusal, in the order of checks; it returns only if the credential has become valid in the meantime.
      await read();
      return commit(writes, remember, made);
    }
    proved = true;
    recordUse(tools.keyUses, request.credential, now);
    if (outcome.ok) return outcome;
    const { "idempotency:record": stored, ...failed } = outcome.failed;
    if (stored && idempotencyKey) throwRepeated(stored.old as IdempotencyRow | undefined, idempotencyKey, now);
    return { ok: false, failed: failed as Failed<W> };
  }

  async function undo<const W extends Writes>(writes: W): Promise<void> {
    await tools.writer?.write<Writes>({ ...laterChecks(request), ...writes });
    await concludeBestEffort("refused");
  }

  async function around<T>(work: () => Promise<T>, ids: EventRow["ids"] = {}): Promise<T> {
    const { change } = request;
    if (!change || !proved) throw new Error("The route declares no event, or its caller is not proved");
    await record(eventOf({ ...change, ids: { ...change.ids, ...ids } }, request, undefined, "unknown"));
    isInside = true;
    try {
      const result = await work();
      await concludeBestEffort("done");
      return result;
    } catch (error) {
      if (error instanceof Problem && error.status < 500) await concludeBestEffort("refused");
      throw error;
    } finally {
      isInside = false;
    }
  }

  return {
    read,
    commit,
    undo,
    around,
    idempotencyKey,
    proved: () => proved,
    caller() {
      if (!caller) throw new Error("The caller is known after a read");
      return caller;
    },
  };
}
