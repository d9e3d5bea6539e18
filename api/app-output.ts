import * as z from "zod";
import { lengthOf, pageLimit, timestamp } from "./common.ts";
import { limits } from "./limits.ts";
import { route } from "./route.ts";

const project = "/organizations/{orgId}/projects/{projectId}" as const;

const since = z.iso
  .datetime({ offset: true, error: "must be a timestamp() such as 2026-11-20T01:02:03.456Z" })
  .optional();

/** The position of a page, with the filters that it was read with: longer than the cursors of other lists. */
const cursor = z.string().min(1, { error: "must be a cursor that this list gave out" }).max(4096).optional();

const appLine = z.object({ at: timestamp(), buildId: z.string(), instance: z.string(), text: z.string() });

export const listAppLogs = route("list-app-logs", `GET ${project}/logs`, {
  summary: "What the project's apps wrote, newest page first, with secrets masked.",
  query: () =>
    z.object({
      limit: pageLimit(limits.appLogsPageMax, limits.appLogsPageDefault),
      cursor,
      since,
      buildId: z.string().optional(),
      text: z
        .string()
        .refine((text) => lengthOf(text) <= limits.searchedTextLengthMax, {
          error: `must have at most ${limits.searchedTextLengthMax} characters`,
        })
        .optional(),
    }),
  tool: { name: "get_app_logs", description: "Output of the running app, newest page first, secrets masked." },
  reply: () =>
    z.object({
      lines: z.array(appLine),
      /** Leads back in time; null at the end. */
      nextCursor: z.string().nullable(),
      /** Leads forward: as `cursor` it gives the lines that were written since. */
      followCursor: z.string(),
    }),
  status: 200,
  errors: [],
  uses: ["table:read", "build-values:read", "app-output:read"],
});

const measured = z.number().nullable();

const metricPoint = z.object({
  /** The start of the step. */
  at: timestamp(),
  requests: measured,
  errors: measured,
  latencyMsP50: measured,
  latencyMsP95: measured,
  memoryMiB: measured,
  cpuPercent: measured,
  restarts: measured,
});
export type MetricPoint = z.infer<typeof metricPoint>;

export const getMetrics = route("get-metrics", `GET ${project}/metrics`, {
  summary: "What was measured of the project's app, oldest first; null where nothing was.",
  query: () => z.object({ since }),
  tool: {
    name: "get_metrics",
    description: "Requests, errors, latency, memory, CPU and restarts of the app over time.",
  },
  reply: () =>
    z.object({ from: timestamp(), stepSeconds: z.int(), points: z.array(metricPoint).max(limits.metricPointsMax) }),
  status: 200,
  errors: [],
  uses: ["table:read", "app-metrics:read"],
});
