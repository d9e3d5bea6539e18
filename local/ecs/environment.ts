import { chmodSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { delimiter, join } from "node:path";

/** What a container runtime gives a process that was told nothing else. */
const defaultPath = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

export interface PortMap {
  nodePreload: string;
  pythonFolder: string;
}

/** Python writes its byte code beside the module, so it gets a copy in a folder of ours. */
export function installPortMap(dir: string): PortMap {
  const pythonFolder = join(dir, "port-map");
  mkdirSync(pythonFolder, { recursive: true, mode: 0o700 });
  const module = join(pythonFolder, "sitecustomize.py");
  writeFileSync(module, readFileSync(join(import.meta.dirname, "python", "sitecustomize.py")));
  chmodSync(module, 0o600);
  return { nodePreload: join(import.meta.dirname, "port-map.cjs"), pythonFolder };
}

const quoted = (path: string) => `"${path.replaceAll(/["\\]/g, "\\$&")}"`;

/** The variable that tells which task a process belongs to. */
export const taskMark = "SLIPWAY_TASK";

/**
 * The environment of a task, later layers winning. The container's port becomes the task's own port on this machine,
 * and an address that means "everywhere" becomes the address at which the gateway reaches the task.
 */
export function taskEnvironment(
  taskId: string,
  layers: Record<string, string>[],
  place: { containerPort: number; port: number; address: string },
  portMap: PortMap,
): Record<string, string> {
  const env: Record<string, string> = Object.assign({ PATH: defaultPath }, ...layers);
  if (env.PORT === String(place.containerPort)) env.PORT = String(place.port);
  for (const name of ["HOST", "HOSTNAME"])
    if (/^(0\.0\.0\.0|::|\[::\])$/.test(env[name] ?? "")) env[name] = place.address;
  env[taskMark] = taskId;
  env.SLIPWAY_PORT_MAP = `${place.containerPort}:${place.port}`;
  env.NODE_OPTIONS = [`--require ${quoted(portMap.nodePreload)}`, env.NODE_OPTIONS].filter(Boolean).join(" ");
  env.PYTHONPATH = [portMap.pythonFolder, env.PYTHONPATH].filter(Boolean).join(delimiter);
  return env;
}
