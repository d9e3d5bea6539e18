import { readFileSync } from "node:fs";
import { join } from "node:path";
import * as z from "zod";
import { type Measured, median, startProcess } from "./measure.ts";

const width = 10;
const rounds = 5;
const localFile = z.object({ organizationId: z.string(), databaseId: z.string() });

/** Compares ten concurrent changes of one table with ten sequential ones, through the whole service. */
export async function benchParallelChanges(): Promise<Measured> {
  const service = await startProcess();
  const headers = { authorization: `Bearer ${service.key}`, "content-type": "application/json" };
  async function call(method: string, path: string, body?: object) {
    const response = await fetch(service.baseUrl + path, {
      method,
      headers,
      ...(body && { body: JSON.stringify(body) }),
    });
    if (!response.ok) throw new Error(`${method} ${path} answered ${response.status}`);
    await response.arrayBuffer();
  }
  try {
    const seed = localFile.parse(JSON.parse(readFileSync(join(service.home, "local.json"), "utf8")));
    const tables = `/organizations/${seed.organizationId}/databases/${seed.databaseId}/tables`;
    const change = (table: string, name: string) =>
      call("PUT", `${tables}/${table}`, { add: [{ name, type: "integer", default: 1 }] });
    const names = Array.from({ length: width }, (_, index) => `c${index}`);
    const inTurn: number[] = [];
    const atOnce: number[] = [];
    for (let round = 0; round <= rounds; round += 1) {
      const [one, other] = [`turn_${round}`, `once_${round}`];
      for (const name of [one, other]) await call("POST", tables, { name, columns: [{ name: "a", type: "text" }] });
      const began = performance.now();
      for (const name of names) await change(one, name);
      const between = performance.now();
      await Promise.all(names.map((name) => change(other, name)));
      // The first round starts PostgreSQL and loads the functions.
      if (round === 0) continue;
      inTurn.push(between - began);
      atOnce.push(performance.now() - between);
    }
    const [turn, once] = [median(inTurn), median(atOnce)];
    return {
      name: `tables: ${width} changes of one table at once / one after the other`,
      ratio: once / turn,
      bound: 5,
      detail: `${once.toFixed(0)} ms, one after the other ${turn.toFixed(0)} ms, all succeed, medians of ${rounds}`,
    };
  } finally {
    await service.stop();
  }
}
