import * as toml from "smol-toml";
import type { App } from "./app.ts";
import { lineAt, NoPlan } from "./diagnostics.ts";
import { isTable, type Table } from "./values.ts";

const parsedPackages = new WeakMap<App, Table>();

/** package.json as a table, undefined when there is none; throws `NoPlan` (broken_manifest) when it cannot be read. */
export function packageJson(app: App): Table | undefined {
  const path = "package.json";
  const known = parsedPackages.get(app);
  if (known !== undefined || !app.has(path)) return known;
  const table = jsonTable(app.shown(path), app.text(path), '{"scripts": {"start": "node server.js"}}');
  parsedPackages.set(app, table);
  return table;
}

/** The object in a JSON file's text, which is undefined if the file is not text; throws `NoPlan` (broken_manifest) otherwise. */
export function jsonTable(shown: string, text: string | undefined, example: string): Table {
  if (text === undefined)
    throw broken(
      `${shown} cannot be read as text: it is a link, binary or larger than 32 MiB. Replace it with a plain JSON file.`,
    );
  const parsed = parseJson(text);
  if (!parsed.ok)
    throw broken(`${shown} is not valid JSON${placeOf(text, parsed.reason)}. Correct it and deploy again.`);
  if (!isTable(parsed.value)) throw broken(`${shown} holds no JSON object. Write an object such as ${example}.`);
  return parsed.value;
}

/** A JSON file that detection can do without: undefined when it is missing or broken. */
export function optionalJson(app: App, path: string): Table | undefined {
  const text = app.text(path);
  if (text === undefined) return undefined;
  const parsed = parseJson(text);
  return parsed.ok && isTable(parsed.value) ? parsed.value : undefined;
}

/** A TOML manifest as a table, undefined when there is none; throws `NoPlan` (broken_manifest) when it cannot be read. */
export function tomlManifest(app: App, path: string): Table | undefined {
  if (!app.has(path)) return undefined;
  const shown = app.shown(path);
  const text = app.text(path);
  if (text === undefined)
    throw broken(
      `${shown} cannot be read as text: it is a link, binary or larger than 32 MiB. Replace it with a plain TOML file.`,
    );
  try {
    return toml.parse(text);
  } catch (error) {
    const place = error instanceof toml.TomlError ? ` (line ${error.line}, column ${error.column})` : "";
    throw broken(`${shown} is not valid TOML${place}. Correct it and deploy again.`);
  }
}

/** A TOML file that detection can do without: undefined when it is missing or broken. */
export function optionalToml(app: App, path: string): Table | undefined {
  const text = app.text(path);
  if (text === undefined) return undefined;
  try {
    return toml.parse(text);
  } catch {
    return undefined;
  }
}

const broken = (message: string) => new NoPlan("broken_manifest", message);

function parseJson(text: string): { ok: true; value: unknown } | { ok: false; reason: string } {
  try {
    const value: unknown = JSON.parse(text);
    return { ok: true, value };
  } catch (error) {
    return { ok: false, reason: error instanceof Error ? error.message : "" };
  }
}

/** The position of a JSON syntax error, from V8's message. V8's excerpt of the file is used to find the line and is not shown. */
function placeOf(text: string, reason: string): string {
  if (text.trim() === "") return ": it is empty";
  const position = /at position (\d+)/.exec(reason)?.[1];
  if (position !== undefined) return ` (line ${lineAt(text, Number(position))})`;
  const [, token = "", before = "", excerpt] =
    /^Unexpected token '(.)', (\.\.\.)?"([\s\S]+?)"(?:\.\.\.)? is not valid JSON$/.exec(reason) ?? [];
  const start = excerpt === undefined ? -1 : text.indexOf(excerpt);
  if (start !== -1) return ` (line ${lineAt(text, before === "" ? text.indexOf(token) : start + excerptLead)})`;
  return /end of JSON input|Unterminated/i.test(reason) ? ": it ends too early" : "";
}

/** The number of characters that V8 shows before the unexpected one. */
const excerptLead = 10;
