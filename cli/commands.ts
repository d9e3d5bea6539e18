import type { Command } from "./command.ts";
import { analyze } from "./commands/analyze.ts";
import { builds } from "./commands/builds.ts";
import { cancel } from "./commands/cancel.ts";
import { deploy } from "./commands/deploy.ts";
import { endpoints } from "./commands/endpoints.ts";
import { envList, envSet, envUnset } from "./commands/env.ts";
import { keysCreate, keysDelete, keysList } from "./commands/keys.ts";
import { logs } from "./commands/logs.ts";
import { rebuild, redeploy } from "./commands/rebuild.ts";
import { status } from "./commands/status.ts";

/** Every command, in the order of the help. */
export const commands: readonly Command[] = [
  deploy,
  analyze,
  builds,
  status,
  logs,
  cancel,
  rebuild,
  redeploy,
  endpoints,
  envList,
  envSet,
  envUnset,
  keysList,
  keysCreate,
  keysDelete,
];
