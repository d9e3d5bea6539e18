import { createHash } from "node:crypto";
import * as z from "zod";
import { type EngineApi, EngineRefused } from "./engine-api.ts";
import { type HomeLabels, label, labelsOf } from "./labels.ts";

/** Networks of 29 addresses each, from our own range: the engine's default pools hold only about 30 networks. */
const networksMax = 2048;
const subnetOf = (index: number) => `10.213.${index >> 3}.${(index & 7) << 5}/27`;
const unusedMs = 60_000;

export interface ProjectNetworks {
  /** The name of the project's network, created if needed. */
  ensure(project: string): Promise<string>;
  /** Forgets a network that another program removed, so that `ensure` creates it again. */
  forget(project: string): void;
  /** `enter` and `leave` count containers; a network without containers is removed after a minute. */
  enter(project: string): void;
  leave(project: string): void;
  /** Takes over the networks that an earlier process of this data folder created. */
  adopt(): Promise<void>;
  /** Removes the networks without containers. */
  close(): Promise<void>;
}

const networkRows = z.array(z.object({ Name: z.string(), Labels: z.record(z.string(), z.string()) }));

/**
 * One network for each project: the engine blocks traffic between networks, and `enable_icc: false` blocks it between
 * containers of one network. As on AWS, an app reaches the internet and the service, but no other app.
 */
export function createNetworks(api: EngineApi, labels: HomeLabels): ProjectNetworks {
  const known = new Map<string, Promise<string>>();
  const inside = new Map<string, number>();
  const timers = new Map<string, NodeJS.Timeout>();

  async function create(project: string): Promise<string> {
    const name = `slipway-${labels.home}-${project.replaceAll(/[^\w.-]/g, "-")}`;
    if (await exists(name)) return name;
    const first = createHash("sha256").update(name).digest().readUInt16BE() % networksMax;
    for (let tries = 0; tries < networksMax; tries++) {
      const Subnet = subnetOf((first + tries) % networksMax);
      try {
        const body = {
          Name: name,
          Driver: "bridge",
          IPAM: { Config: [{ Subnet }] },
          Options: { "com.docker.network.bridge.enable_icc": "false" },
          Labels: { ...labelsOf(labels), [label.project]: project },
        };
        await api.call("POST", "/networks/create", z.unknown(), { body });
        return name;
      } catch (error) {
        if (!(error instanceof EngineRefused) || !/overlap/i.test(error.message)) throw error;
      }
    }
    throw new Error("no free network in 10.213.0.0/16");
  }

  async function exists(name: string): Promise<boolean> {
    return api.perform("GET", `/networks/${name}`);
  }

  async function remove(project: string): Promise<void> {
    const name = await known.get(project)?.catch(() => undefined);
    if (name === undefined || (inside.get(project) ?? 0) > 0) return;
    known.delete(project);
    await api.perform("DELETE", `/networks/${name}`).catch(() => undefined);
  }

  function removeLater(project: string): void {
    clearTimeout(timers.get(project));
    timers.set(project, setTimeout(() => void remove(project), unusedMs).unref());
  }

  return {
    ensure(project) {
      const found = known.get(project) ?? create(project);
      known.set(project, found);
      found.catch(() => known.delete(project));
      return found;
    },
    forget: (project) => void known.delete(project),
    enter(project) {
      clearTimeout(timers.get(project));
      inside.set(project, (inside.get(project) ?? 0) + 1);
    },
    leave(project) {
      const left = (inside.get(project) ?? 1) - 1;
      inside.set(project, left);
      if (left === 0) removeLater(project);
    },
    async adopt() {
      const filters = JSON.stringify({ label: [`${label.home}=${labels.home}`] });
      for (const { Name, Labels } of await api.call("GET", "/networks", networkRows, { query: { filters } })) {
        const project = Labels[label.project] ?? "";
        known.set(project, Promise.resolve(Name));
        removeLater(project);
      }
    },
    async close() {
      for (const timer of timers.values()) clearTimeout(timer);
      await Promise.all([...known.keys()].map(remove));
    },
  };
}
