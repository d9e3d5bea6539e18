import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { command, serviceOptions } from "../command.ts";
import { openTarget } from "../configuration.ts";
import { envFileText } from "../env-file-text.ts";
import { Failure } from "../failure.ts";
import { replaceFile } from "../replace-file.ts";
import { readVariables, storeVariables } from "../variables.ts";

/** `slipway env get NAME`: the unchanged value, without a line break after it. */
export const envGet = command({
  operands: { shown: "<NAME>", min: 1, max: 1 },
  options: serviceOptions,
  run: async (args, context) => {
    const [name = ""] = args.operands;
    const { client, project } = await openTarget(args, context);
    const { environments } = await client.listEnvironments(project);
    const found = environments.find((variable) => variable.name === name);
    if (found === undefined) throw new Failure(`There is no variable ${name}. List the names with: slipway env list`);
    if (args.flag("json")) context.terminal.result(JSON.stringify({ name, value: found.value }));
    else context.terminal.raw(found.value);
    return 0;
  },
});

/** `slipway env pull [file]`: the variables as a file that `env push`, Node.js and shells read. */
export const envPull = command({
  operands: { shown: "[file]", min: 0, max: 1 },
  options: { force: { type: "boolean", describe: "replace the file if it exists" }, ...serviceOptions },
  run: async (args, context) => {
    const [name = ".env"] = args.operands;
    const file = resolve(context.workingFolder, name);
    const { client, project } = await openTarget(args, context);
    const { environments } = await client.listEnvironments(project);
    if (!args.flag("force") && existsSync(file)) throw new Failure(`${name} exists. Use --force to replace it.`);
    replaceFile(file, envFileText(environments));
    const count = environments.length === 1 ? "1 variable" : `${environments.length} variables`;
    if (args.flag("json"))
      context.terminal.result(JSON.stringify({ file, names: environments.map((one) => one.name) }));
    else context.terminal.note(`Wrote ${count} to ${name}. It holds secrets: do not commit it.`);
    return 0;
  },
});

/** `slipway env push [file]`: creates or changes the variables of a file; others stay. */
export const envPush = command({
  operands: { shown: "[file]", min: 0, max: 1 },
  options: serviceOptions,
  run: async (args, context) => {
    const [name = ".env"] = args.operands;
    const variables = readVariables(resolve(context.workingFolder, name));
    const names = await storeVariables(await openTarget(args, context), variables);
    if (args.flag("json")) context.terminal.result(JSON.stringify({ names }));
    else context.terminal.note(`Set ${names.join(", ")}. Apply the change with slipway rebuild or the next deploy.`);
    return 0;
  },
});
