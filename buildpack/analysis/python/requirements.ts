import { posix } from "node:path";
import type { App } from "../app.ts";

/** A Python package's name as PyPI compares it. */
export const packageName = (name: string): string => name.toLowerCase().replace(/[-_.]+/g, "-");

/** The names of production requirements files, in order of preference. */
const REQUIREMENTS = [
  "requirements.txt",
  ...["production", "prod", "base", "common", "requirements"].map((name) => `requirements/${name}.txt`),
  "requirements.in",
];

/** requirements.txt, else the file of the requirements folder that a deployment needs, else the requirements.in that pip-tools would compile. */
export const requirementsFile = (app: App): string | undefined => REQUIREMENTS.find((path) => app.has(path));

/** The requirements of a requirements file and of those that it includes with `-r`; a URL counts as the package name that it declares. */
export const requirementLines = (app: App, path: string): string[] =>
  requirementTexts(app, path).flatMap((text) => {
    const egg = /[#&]egg=([\w.-]+)/.exec(text)?.[1];
    return text.startsWith("-") ? (egg === undefined ? [] : [egg]) : [egg ?? text];
  });

/** The options in the same files: `--find-links wheels`, `--hash=…`, `-e .`. */
export const requirementOptions = (app: App, path: string): string[] =>
  requirementTexts(app, path).filter((text) => text.startsWith("-"));

/** The file itself and all that it names with `-r` and `-c`, directly or not. */
export function requirementFiles(app: App, path: string): ReadonlySet<string> {
  const seen = new Set<string>();
  requirementTexts(app, path, seen);
  return seen;
}

function requirementTexts(app: App, path: string, seen: Set<string> = new Set()): string[] {
  if (seen.has(path) || seen.size > 20) return [];
  seen.add(path);
  const folder = path.includes("/") ? `${path.slice(0, path.lastIndexOf("/"))}/` : "";
  return (app.text(path) ?? "").split("\n").flatMap((line) => {
    const text = line.replace(/(^|\s)#.*$/, "").trim();
    const [, option = "", named] = /^(-[rc]|--(?:requirement|constraint)[= ])\s*(\S+)/.exec(text) ?? [];
    if (named === undefined) return [text];
    const included = requirementTexts(app, posix.normalize(folder + named), seen);
    return /^--?r/.test(option) ? included : [];
  });
}
