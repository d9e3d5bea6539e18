import { updateProject } from "../../api/projects.ts";
import { changedSettings } from "../../api/stored-settings.ts";
import { endpoint } from "../http/endpoint.ts";
import { changeProject } from "./model/change-project.ts";
import { projectReply } from "./model/project.ts";

export const handler = endpoint(updateProject, async (call) => {
  const { name, settings } = call.body;
  const row = await changeProject(call, {}, (stored) => ({
    set: {
      ...(name !== undefined && { name }),
      ...(settings && { settings: changedSettings(stored.settings, settings) }),
    },
  }));
  return { project: projectReply(row) };
});
