import { createBuild } from "../../api/builds.ts";
import { endpoint } from "../http/endpoint.ts";
import { newId } from "../table/ids.ts";
import { archiveKey, buildReply } from "./model/replies.ts";
import { Lock } from "./model/rows.ts";
import { buildInProgress, startBuild } from "./model/start-build.ts";
import { newBuild } from "./model/transitions.ts";

export const handler = endpoint(
  createBuild,
  async ({ params, body, access, now }, tools) => {
    const id = newId("bld", now);
    const owner = { organizationId: params.orgId, projectId: params.projectId };
    // Signed before anything is stored: a build without an address would lock the project for an hour.
    const url = await tools.uploads.address(archiveKey({ ...owner, id }), now).catch(async (error) => {
      const { lock } = await access.read({ lock: Lock.at({ projectId: params.projectId }) });
      throw lock ? buildInProgress(lock) : error;
    });
    const { row, writes } = newBuild({ id, ...owner, ...body, source: { kind: "upload" } }, now);
    const build = buildReply(row);
    await startBuild({ row, writes, access, tools, remember: { build } });
    return { build, url };
  },
  {
    replay: async (reply, { params, now }, { uploads }) => {
      const key = archiveKey({ organizationId: params.orgId, projectId: params.projectId, id: reply.build.id });
      return { build: reply.build, url: await uploads.address(key, now) };
    },
  },
);
