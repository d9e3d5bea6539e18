import { type SettingsChange, settingNames, settingsChange } from "../../api/settings.ts";
import { command, serviceOptions } from "../command.ts";
import { openTarget } from "../configuration.ts";
import { UsageError } from "../failure.ts";
import { showDone, showRows } from "../show.ts";
import { printable } from "../terminal.ts";

const afterwards = "It takes effect with the next build.";
const numbers = ["healthTimeoutSeconds", "memory", "instances"];

function nameOf(given: string): (typeof settingNames)[number] {
  const name = settingNames.find((one) => one === given);
  if (name === undefined)
    throw new UsageError(`There is no setting ${JSON.stringify(given)}. The settings are ${settingNames.join(", ")}.`);
  return name;
}

const shown = (value: string | number | null) => (value === null ? "(detected)" : printable(String(value)));

/** `slipway settings get [name]`: all settings, or the value of one and nothing else. */
export const settingsGet = command({
  operands: { shown: "[name]", min: 0, max: 1 },
  options: serviceOptions,
  run: async (args, context) => {
    const [wanted] = args.operands;
    const name = wanted === undefined ? undefined : nameOf(wanted);
    const { client, project } = await openTarget(args, context);
    const { settings } = (await client.getProject(project)).project;
    if (name !== undefined) {
      const value = settings[name];
      if (args.flag("json")) context.terminal.result(JSON.stringify({ [name]: value }));
      else if (value !== null) context.terminal.result(printable(String(value)));
      return 0;
    }
    return showRows(
      args,
      context,
      { settings },
      settingNames.map((one) => [one, shown(settings[one])]),
    );
  },
});

/** A change as the service would check it, so that a wrong value is told before anything is sent. */
function readChange(pairs: readonly string[]): SettingsChange {
  const entries = pairs.map((pair) => {
    const equals = pair.indexOf("=");
    if (equals < 1) throw new UsageError("Invalid setting. Write name=value.");
    const name = nameOf(pair.slice(0, equals));
    const value = pair.slice(equals + 1);
    return [name, numbers.includes(name) && /^\d+$/.test(value) ? Number(value) : value];
  });
  const change = settingsChange.safeParse(Object.fromEntries(entries));
  if (change.success) return change.data;
  const [issue] = change.error.issues;
  throw new UsageError(`${issue?.path.join(".")} ${issue?.message}.`);
}

/** `slipway settings set name=value…`. */
export const settingsSet = command({
  operands: { shown: "name=value…", min: 1, max: settingNames.length },
  options: serviceOptions,
  run: async (args, context) => {
    const settings = readChange(args.operands);
    const { client, project } = await openTarget(args, context);
    const reply = await client.updateProject({ ...project, settings });
    return showDone(args, context, reply, `Set ${Object.keys(settings).join(", ")}. ${afterwards}`);
  },
});

/** `slipway settings unset name…`: detection decides again. */
export const settingsUnset = command({
  operands: { shown: "name…", min: 1, max: settingNames.length },
  options: serviceOptions,
  run: async (args, context) => {
    const names = args.operands.map(nameOf);
    const { client, project } = await openTarget(args, context);
    const settings = Object.fromEntries(names.map((name) => [name, null]));
    const reply = await client.updateProject({ ...project, settings });
    return showDone(args, context, reply, `Removed ${names.join(", ")}. ${afterwards}`);
  },
});
