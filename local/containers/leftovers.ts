import * as z from "zod";
import { errorFields, log } from "../../lambdas/http/log.ts";
import { createEngineApi, type EngineApi } from "./engine-api.ts";
import { homeInEngine, isAbandoned, label, pathName, readHomeInEngine, writeHomeInEngine } from "./labels.ts";

const containerRows = z.array(z.object({ Id: z.string() }));
const networkRows = z.array(z.object({ Name: z.string() }));
const labels = z.record(z.string(), z.string()).nullish();
const containers = z.array(z.object({ Id: z.string(), Labels: labels }));
const networks = z.array(z.object({ Name: z.string(), Labels: labels }));
const images = z.array(z.object({ Id: z.string(), Labels: labels, RepoTags: z.array(z.string()).nullish() }));
/** An engine that hangs must not keep the service from starting. */
const awayMs = 5_000;

const filterOf = (one: string) => JSON.stringify({ label: [one] });

/** Removes the containers with this label, running or not, and returns how many there were. */
async function removeContainers(api: EngineApi, one: string, signal?: AbortSignal): Promise<number> {
  const query = { all: true, filters: filterOf(one) };
  const left = await api.call("GET", "/containers/json", containerRows, { query, signal });
  await Promise.all(
    left.map(({ Id }) => api.perform("DELETE", `/containers/${Id}`, { query: { force: true, v: true }, signal })),
  );
  return left.length;
}

async function removeNetworks(api: EngineApi, one: string, signal?: AbortSignal): Promise<void> {
  const left = await api.call("GET", "/networks", networkRows, { query: { filters: filterOf(one) }, signal });
  await Promise.all(left.map(({ Name }) => api.perform("DELETE", `/networks/${Name}`, { signal }).catch(() => false)));
}

/**
 * Removes what an earlier process of this data folder left in the engine that it used: its containers and networks.
 * Only things with the folder's label are removed. If the engine does not answer, the next start tries again.
 */
export async function leaveEngine(home: string): Promise<void> {
  if (readHomeInEngine(home) === undefined) return;
  const found = homeInEngine(home);
  if (found.host === undefined) return;
  const api = createEngineApi(new URL(found.host).pathname);
  const signal = AbortSignal.timeout(awayMs);
  const own = `${label.home}=${found.name}`;
  try {
    const removed = await removeContainers(api, own, signal);
    await removeNetworks(api, own, signal);
    writeHomeInEngine(home, { ...found, host: undefined });
    if (removed > 0)
      log("info", "Containers of an earlier start were removed", { containers: removed, engine: found.host });
  } catch (error) {
    const message = "Containers of an earlier start may still run, because their engine does not answer";
    log("error", message, { ...errorFields(error), engine: found.host });
  } finally {
    api.close();
  }
}

/**
 * Removes the containers that an earlier process of this data folder left in this engine, and in the one that it used
 * before. Returns the folder's name in the engine. Only containers with the folder's labels are removed.
 */
export async function removeLeftovers(api: EngineApi, home: string, host: string): Promise<string> {
  const { name, isNew, ...known } = homeInEngine(home);
  if (known.host !== undefined && known.host !== host) await leaveEngine(home);
  // Written before the first container, so that a later start without an engine knows which engine may have containers.
  writeHomeInEngine(home, { ...known, name, host });
  await removeContainers(api, `${label.home}=${name}`);
  // A folder that was deleted and created again, or that an earlier version used, has containers under its path only.
  if (!isNew) return name;
  const old = [`${label.path}=${pathName(home)}`, `${label.home}=${pathName(home)}`];
  await Promise.all(old.map((one) => removeContainers(api, one)));
  await Promise.all(old.map((one) => removeNetworks(api, one)));
  return name;
}

/** The rows of a list whose data folder no longer exists. */
async function abandonedIn<Row extends { Labels?: Readonly<Record<string, string>> | null | undefined }>(
  api: EngineApi,
  path: string,
  rows: z.ZodType<Row[]>,
): Promise<Row[]> {
  const query = { all: true, filters: filterOf(label.folder) };
  const found = await api.call("GET", path, rows, { query });
  return found.filter(({ Labels }) => isAbandoned(Labels ?? {}));
}

/**
 * Removes the containers, networks and images of data folders that were deleted, for example by tests. Keeps everything
 * without the label of a folder on this machine, and images that are in use.
 */
export async function removeAbandoned(api: EngineApi): Promise<void> {
  const remove = (path: string, query = {}) => api.perform("DELETE", path, { query }).catch(() => false);
  for (const { Id } of await abandonedIn(api, "/containers/json", containers))
    await remove(`/containers/${Id}`, { force: true, v: true });
  for (const { Name } of await abandonedIn(api, "/networks", networks)) await remove(`/networks/${Name}`);
  for (const { Id, RepoTags } of await abandonedIn(api, "/images/json", images))
    for (const name of [...(RepoTags ?? []), Id]) await remove(`/images/${name}`);
}
