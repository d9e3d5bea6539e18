import { chmodSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { delimiter, join } from "node:path";

/** The PATH that a container runtime sets when the image has none. */
const defaultPath = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

export interface PortMap {
  nodePreload: string;
  pythonFolder: string;
}

/** Copies the Python module to `dir`, because Python writes its byte code beside the module. */
export function installPortMap(dir: string): PortMap {
  const pythonFolder = join(dir, "port-map");
  mkdirSync(pythonFolder, { recursive: true, mode: 0o700 });
  const module = join(pythonFolder, "sitecustomize.py");
  writeFileSync(module, readFileSync(join(import.meta.dirname, "python", "sitecustomize.py")));
  chmodSync(module, 0o600);
  return { nodePreload: join(import.meta.dirname, "port-map.cjs"), pythonFolder };
}

const quoted = (path: string) => `"${path.replaceAll(/["\\]/g, "\\$&")}"`;

/** The variable that holds the id of the task that a process belongs to. */
export const taskMark = "SLIPWAY_TASK";

/**
 * The environment of a task; later layers override earlier ones. PORT becomes the task's own port on this machine, and
 * a HOST or HOSTNAME that means all interfaces becomes the address at which the gateway reaches the task.
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
