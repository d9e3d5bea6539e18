import { createHash } from "node:crypto";
import { realpathSync } from "node:fs";
import { hostname } from "node:os";
import * as z from "zod";
import type { EngineApi } from "./engine-api.ts";

/** The labels of everything that Slipway creates in an engine. */
export const label = { home: "slipway.home", task: "slipway.task", project: "slipway.project" } as const;

/** A data folder's name in an engine that others use too: the same after a restart, another one for a copy of the folder. */
export function homeName(home: string): string {
  return createHash("sha256")
    .update(`${hostname()}\0${realpathSync(home)}`)
    .digest("hex")
    .slice(0, 12);
}

const rows = z.array(z.object({ Id: z.string() }));

/**
 * Removes the containers that an earlier process of this data folder left behind, running or not. Returns how many there
 * were. Containers without this folder's label are not touched.
 */
export async function removeLeftovers(api: EngineApi, home: string): Promise<number> {
  const filters = JSON.stringify({ label: [`${label.home}=${home}`] });
  const left = await api.call("GET", "/containers/json", rows, { query: { all: true, filters } });
  await Promise.all(
    left.map(({ Id }) => api.perform("DELETE", `/containers/${Id}`, { query: { force: true, v: true } })),
  );
  return left.length;
}
