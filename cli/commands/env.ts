import { resolve } from "node:path";
import { text } from "node:stream/consumers";
import { command, serviceOptions } from "../command.ts";
import { openTarget } from "../configuration.ts";
import { Failure, UsageError } from "../failure.ts";
import { columnsText } from "../terminal.ts";
import { readVariables, storeVariables } from "../variables.ts";

const afterwards = "Apply the change with slipway rebuild or the next deploy.";

/** `slipway env list`: names only, since the values are secrets. */
export const envList = command({
  options: serviceOptions,
  run: async (args, context) => {
    const { client, project } = await openTarget(args, context);
    const { environments } = await client.listEnvironments(project);
    const shown = environments.map(({ id, name, createdAt, updatedAt }) => ({ id, name, createdAt, updatedAt }));
    if (args.flag("json")) context.terminal.result(JSON.stringify({ environments: shown }));
    else if (shown.length === 0) context.terminal.note("No variables yet. Set one with: slipway env set NAME=value");
    else
      for (const line of columnsText(shown.map(({ name, updatedAt }) => [name, updatedAt])))
        context.terminal.result(line);
    return 0;
  },
});

/** `slipway env set NAME=value…`; a bare NAME reads its value from standard input, which process lists and shell histories do not show. */
export const envSet = command({
  operands: { shown: "NAME=value… | NAME | --env-file <file>", min: 0, max: 500 },
  options: {
    "env-file": { type: "string", value: "file", describe: "read the variables from this file" },
    ...serviceOptions,
  },
  run: async (args, context) => {
    const file = args.text("env-file");
    const variables = new Map(file === undefined ? [] : readVariables(resolve(context.workingFolder, file)));
    for (const operand of args.operands) {
      const equals = operand.indexOf("=");
      if (equals === 0) throw new UsageError("Invalid variable. Write NAME=value.");
      if (equals > 0) variables.set(operand.slice(0, equals), operand.slice(equals + 1));
      else if (args.operands.length > 1) throw new UsageError("Only one variable can be read from standard input.");
      else variables.set(operand, await text(context.stdin));
    }
    if (variables.size === 0) throw new UsageError("Name a variable: slipway env set NAME=value.");
    const names = await storeVariables(await openTarget(args, context), variables);
    if (args.flag("json")) context.terminal.result(JSON.stringify({ names }));
    else context.terminal.note(`Set ${names.join(", ")}. ${afterwards}`);
    return 0;
  },
});

/** `slipway env unset NAME…`. */
export const envUnset = command({
  operands: { shown: "NAME…", min: 1, max: 500 },
  options: serviceOptions,
  run: async (args, context) => {
    const { client, project } = await openTarget(args, context);
    const { environments } = await client.listEnvironments(project);
    const found = args.operands.map((name) => {
      const variable = environments.find((candidate) => candidate.name === name);
      if (variable === undefined)
        throw new Failure(`There is no variable ${name}. List the names with: slipway env list`);
      return variable;
    });
    for (const { id } of found) await client.deleteEnvironment({ ...project, envId: id });
    const names = found.map(({ name }) => name);
    if (args.flag("json")) context.terminal.result(JSON.stringify({ names }));
    else context.terminal.note(`Deleted ${names.join(", ")}. ${afterwards}`);
    return 0;
  },
});
