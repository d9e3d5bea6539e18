import { readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { taskLog } from "../../lambdas/aws/app-names.ts";
import { newId } from "../../lambdas/table/ids.ts";
import { createLogs } from "../../local/logs/server.ts";
import { names } from "../../local/names.ts";
import { jsonOf, type Measured, median, type ServiceProcess, startProcess } from "./measure.ts";

const few = 1_000;
const many = 1_000_000;
const instances = 4;
const lineEveryMs = 100;

/** Writes lines of a project's instances into the embedded CloudWatch Logs of a stopped service; the last one is from a moment ago. */
function write(home: string, projectId: string, count: number): void {
  const logs = createLogs({ dir: join(home, "logs"), streamBytesMax: 4 * 1024 ** 3 });
  const buildId = newId("bld", new Date());
  const from = Date.now() - count * lineEveryMs;
  for (let index = 0; index < count; index += 1) {
    const taskId = `${index % instances}`.padStart(32, "0");
    const logStream = taskLog({ projectId, buildId, taskId });
    const message = `GET /items/${index} 200 in ${index % 97} ms`;
    logs.put({ logGroup: names.appLog, logStream, timestamp: from + index * lineEveryMs, message });
  }
  logs.close();
}

/** A service whose project has so many lines of output. */
async function startWith(count: number): Promise<ServiceProcess> {
  const first = await startProcess();
  await first.stop();
  const { projectId } = JSON.parse(readFileSync(join(first.home, "local.json"), "utf8"));
  write(first.home, projectId, count);
  return startProcess(first.home);
}

async function page({ project, key }: ServiceProcess, query: string) {
  return jsonOf(fetch(`${project}/logs${query}`, { headers: { authorization: `Bearer ${key}` } }));
}

/** The median time of a page of each service in milliseconds, read in turn, so that other programs slow down both alike. */
async function pageMs(services: readonly ServiceProcess[], isFollowing: boolean): Promise<number[]> {
  const pages = await Promise.all(
    services.map(async (service) => {
      const { lines, followCursor } = await page(service, "");
      if (lines.length !== 100) throw new Error(`The page has ${lines.length} lines`);
      const times: number[] = [];
      return { service, times, query: isFollowing ? `?cursor=${encodeURIComponent(followCursor)}` : "" };
    }),
  );
  for (let round = 0; round < 130; round += 1) {
    for (const { service, query, times } of pages) {
      const began = performance.now();
      await page(service, query);
      if (round >= 30) times.push(performance.now() - began);
    }
  }
  return pages.map(({ times }) => median(times));
}

/** Compares a page of app output of a project that wrote much with one of a project that wrote little. */
export async function benchAppOutput(): Promise<Measured[]> {
  const services = [await startWith(few), await startWith(many)];
  try {
    const measured: Measured[] = [];
    for (const [what, isFollowing] of [
      ["newest", false],
      ["following", true],
    ] as const) {
      const [short = 0, long = 0] = await pageMs(services, isFollowing);
      measured.push({
        name: `app output: ${what} page of ${many.toLocaleString("en")} lines / of ${few.toLocaleString("en")}`,
        ratio: long / short,
        bound: 1.2,
        detail: `p50 ${long.toFixed(1)} ms against ${short.toFixed(1)} ms`,
      });
    }
    return measured;
  } finally {
    for (const service of services) {
      await service.stop();
      rmSync(service.home, { recursive: true, force: true });
    }
  }
}
