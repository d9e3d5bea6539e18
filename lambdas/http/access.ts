import type { Place } from "../table/entity.ts";
import type { Places, Rows, TableReader } from "../table/reader.ts";
import type { RowUpdater } from "../table/updater.ts";
import type { Failed, Outcome, TableWriter, Writes } from "../table/writer.ts";
import { type IdempotencyKey, storeAnswer, throwRepeated } from "./idempotency.ts";
import { recordUse } from "./key-use.ts";
import { IdempotencyRecord, type IdempotencyRow } from "./model/idempotency-record.ts";
import { notFound } from "./problem.ts";
import {
  type FailedChecks,
  isPlausible,
  type ProofRequest,
  type ProofRows,
  proofChecks,
  proofPlaces,
  proveCaller,
  proveProject,
  refusalOf,
} from "./proof.ts";

export interface ReadAccess {
  /** Proves the caller and reads these rows in ONE BatchGetItem; throws 401, 404 or 403. */
  read<const P extends Places>(places?: P): Promise<Rows<P>>;
  /** The request's Idempotency-Key, for work that is not done in the table; absent without one. */
  idempotencyKey?: IdempotencyKey | undefined;
}

export interface Access extends ReadAccess {
  /**
   * Proves the caller (unless `read` already has) and writes, in ONE TransactWriteItems; throws 401, 404 or 403.
   * `remember` is the answer to store for the request's Idempotency-Key.
   */
  commit<const W extends Writes>(writes: W, remember?: unknown): Promise<Outcome<W>>;
}

export interface AccessRequest extends ProofRequest {
  /** Rows that must exist: checked before permissions and input. */
  exists?: Places;
  idempotencyKey?: IdempotencyKey | undefined;
}

/** What proving a caller needs, and `commit` if the route may write. */
export interface AccessTools {
  reader: TableReader;
  keyUses: RowUpdater;
  writer?: TableWriter | undefined;
}

/** Binds a request's credential to the table: authentication, authorization and the work's own rows in one round trip. */
export function accessFor(request: AccessRequest, tools: AccessTools): Access & { proved(): boolean } {
  const { idempotencyKey, now } = request;
  const existing = Object.entries(request.exists ?? {}).map(([name, place]) => [`exists:${name}`, place] as const);
  let proved = false;

  async function read<const P extends Places>(places?: P): Promise<Rows<P>> {
    const record: Place<IdempotencyRow> | undefined = idempotencyKey && IdempotencyRecord.at(idempotencyKey);
    const rows: Rows<Places> = await tools.reader.read<Places>({
      ...proofPlaces(request),
      ...Object.fromEntries(existing),
      "idempotency:record": record,
      ...places,
    });
    proveCaller(request, rows as ProofRows);
    recordUse(tools.keyUses, request.credential, now);
    if (existing.some(([name]) => rows[name] === undefined)) throw notFound();
    proveProject(request, rows as ProofRows);
    proved = true;
    if (idempotencyKey) throwRepeated(rows["idempotency:record"] as IdempotencyRow | undefined, idempotencyKey, now);
    return rows as Rows<P>;
  }

  async function commit<const W extends Writes>(writes: W, remember?: unknown): Promise<Outcome<W>> {
    if (!tools.writer) throw new Error("The route does not declare table:write");
    if (!proved && !isPlausible(request)) await read();
    const outcome = await tools.writer.write<Writes>({
      ...(proved ? {} : proofChecks(request)),
      "idempotency:record":
        idempotencyKey && remember !== undefined ? storeAnswer(idempotencyKey, remember, now) : undefined,
      ...writes,
    });
    const refused = !outcome.ok && !proved && refusalOf(outcome.failed as FailedChecks, request);
    if (refused) throw refused;
    proved = true;
    recordUse(tools.keyUses, request.credential, now);
    if (outcome.ok) return outcome;
    const { "idempotency:record": stored, ...failed } = outcome.failed;
    if (stored && idempotencyKey) throwRepeated(stored.old as IdempotencyRow | undefined, idempotencyKey, now);
    return { ok: false, failed: failed as Failed<W> };
  }

  return { read, commit, idempotencyKey, proved: () => proved };
}
