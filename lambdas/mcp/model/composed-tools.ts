import { createHash } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import * as z from "zod";
import { SlipwayError } from "../../../sdk/errors.ts";
import { isFinished } from "../../../sdk/wait-for-build.ts";
import { type Caller, type Data, listOf, objectIn, organizationOf, textIn } from "./caller.ts";
import { diagnose } from "./diagnosis.ts";
import { orgId } from "./route-tools.ts";
import type { Tool } from "./tool.ts";

const projectIds = { orgId, projectId: z.string() };
const waitSecondsMax = 20;

async function idsOf(caller: Caller, input: Data, ...names: string[]): Promise<Data> {
  const organization = await organizationOf(caller, textIn(input, "orgId") || undefined);
  return { orgId: organization, ...Object.fromEntries(names.map((name) => [name, input[name]])) };
}

/** Whether an answered build is final. */
const isOver = (build: Data) =>
  isFinished({ status: textIn(build, "status"), canceledAt: textIn(build, "canceledAt") || null });

/** Reads a build until it is finished, the time is over or the request has to be answered. */
async function waitFor(caller: Caller, ids: Data, seconds: number): Promise<Data> {
  const until = Date.now() + seconds * 1000;
  while (true) {
    const { data, retryAfterSeconds = 1 } = await caller.answer("get-build", ids);
    const build = objectIn(data, "build");
    const left = until - Date.now();
    if (isOver(build) || left <= 0) return build;
    await sleep(Math.min(retryAfterSeconds * 1000, 2_000, left));
  }
}

export const getBuild: Tool = {
  name: "get_build",
  description: "One build, with its addresses when ready and a diagnosis when failed. waitSeconds waits for its end.",
  input: z.strictObject({
    ...projectIds,
    buildId: z.string(),
    waitSeconds: z.number().min(0).max(waitSecondsMax).optional(),
  }),
  reads: true,
  run: async (caller, input) => {
    const ids = await idsOf(caller, input, "projectId", "buildId");
    const build = await waitFor(caller, ids, Number(input.waitSeconds ?? 0));
    if (build.status === "error") {
      const { data, nextStep } = await diagnose(caller, ids, build);
      return { note: `The build failed. Next step: ${nextStep}`, data };
    }
    if (build.status !== "ready") {
      const note = isOver(build) ? "The build was canceled." : "Not finished: call get_build again with waitSeconds.";
      return { note, data: { build } };
    }
    return { data: { build, endpoints: (await caller.call("list-endpoints", ids)).endpoints } };
  },
};

const createProject: Tool = {
  name: "create_project",
  description: "Creates a project, which is one app.",
  input: z.strictObject({ orgId, name: z.string() }),
  reads: false,
  run: async (caller, input) => {
    const ids = await idsOf(caller, input);
    return { data: await caller.call("create-project", { ...ids, name: input.name }) };
  },
};

const listVariableNames: Tool = {
  name: "list_variable_names",
  description: "The names of a project's environment variables; values are never shown.",
  input: z.strictObject(projectIds),
  reads: true,
  run: async (caller, input) => {
    const data = await caller.call("list-environments", await idsOf(caller, input, "projectId"));
    return { data: listOf(data, "environments").map(({ name, updatedAt }) => ({ name, updatedAt })) };
  },
};

const createBuild: Tool = {
  name: "create_build",
  description: "Starts a deployment: answers the upload address and the command that sends the app's zip there.",
  input: z.strictObject({ ...projectIds, title: z.string().optional(), description: z.string().optional() }),
  reads: false,
  run: async (caller, input) => {
    const ids = await idsOf(caller, input, "projectId");
    const data = await caller.call("create-build", { ...ids, title: input.title, description: input.description });
    const build = objectIn(data, "build");
    const note = [
      `Build ${textIn(build, "id")} waits for its archive for one hour. In the app's folder, run:`,
      "zip -qr /tmp/app.zip . -x '.git/*' 'node_modules/*' '.venv/*' '.env*'",
      `curl -fsS -X PUT -H 'Content-Type: application/zip' --data-binary @/tmp/app.zip '${textIn(data, "url")}'`,
      `Then call get_build with buildId ${textIn(build, "id")} and waitSeconds ${waitSecondsMax}. The address is a secret: do not store it.`,
    ];
    return { note: note.join("\n") };
  },
};

const setVariable: Tool = {
  name: "set_variable",
  description:
    "Creates or changes an environment variable; the value is not echoed. It takes effect with the next build.",
  input: z.strictObject({ ...projectIds, name: z.string(), value: z.string() }),
  reads: false,
  run: async (caller, input) => {
    const ids = await idsOf(caller, input, "projectId");
    const known = listOf(await caller.call("list-environments", ids), "environments");
    const old = known.find(({ name }) => name === input.name);
    if (old) await caller.call("update-environment", { ...ids, envId: old.id, value: input.value });
    else await caller.call("create-environment", { ...ids, name: input.name, value: input.value });
    return { note: `${old ? "Changed" : "Created"} the variable. Apply it with rebuild or the next create_build.` };
  },
};

const hashOf = (...parts: unknown[]) =>
  createHash("sha256").update(JSON.stringify(parts)).digest("base64url").slice(0, 22);
const columns = z.array(z.looseObject({ name: z.string() }));

const changeTable: Tool = {
  name: "change_table",
  description:
    "Changes a table's columns. Without planHash it is a dry run that answers the plan and its hash; with it, the plan is applied, unless the table has changed since.",
  input: z.strictObject({
    orgId,
    dbId: z.string(),
    tableName: z.string(),
    drop: z.array(z.string()).optional(),
    rename: z.array(z.strictObject({ from: z.string(), to: z.string() })).optional(),
    modify: columns.optional(),
    add: columns.optional(),
    order: z.array(z.string()).optional(),
    comment: z.string().nullable().optional(),
    planHash: z.string().optional(),
  }),
  reads: false,
  destroys: true,
  run: async (caller, { planHash, orgId: _, dbId, tableName, ...change }) => {
    const ids = await idsOf(caller, { orgId: _, dbId, tableName }, "dbId", "tableName");
    const tables = listOf(await caller.call("list-tables", ids), "tables");
    const now = tables.find((table) => table.name === tableName);
    const dryRun = await caller.call("update-table", { ...ids, ...change, dryRun: "true" });
    const hash = hashOf(ids, now, change, dryRun.plan);
    const plan = { plan: dryRun.plan, destructive: dryRun.destructive };
    if (planHash === undefined)
      return { note: `Nothing was changed. Apply this plan with planHash ${hash}.`, data: plan };
    if (planHash !== hash) {
      const message =
        "This hash is not that of the current plan: the table or the change is another. Make a dry run again.";
      throw new SlipwayError("plan_changed", message);
    }
    return { note: "The change was applied.", data: await caller.call("update-table", { ...ids, ...change }) };
  },
};

/** The tools that are more than one route. */
export const composedTools: readonly Tool[] = [
  getBuild,
  listVariableNames,
  createProject,
  createBuild,
  setVariable,
  changeTable,
];
