import { Template } from "aws-cdk-lib/assertions";
import { templateRemovals } from "./definition-mutants.ts";

/**
 * Runs before each test file of the template: records every synthesized template, so that the runner can remove one part from
 * all of them and put it back. A part's id is its path as JSON.
 */
type Part = { parent: object; index: string | number; before: [string, unknown][] | unknown[] };

/** Only every n-th part is tried. */
const every = Number(process.env.MUTATE_EVERY ?? 1);

const synthesized = Template.prototype.toJSON;
const templates: object[] = [];
let active: string | undefined = process.env.__STRYKER_ACTIVE_MUTANT__;
let removed: Part[] = [];

function remove(template: object, path: readonly (string | number)[]): void {
  let parent: unknown = template;
  for (const key of path.slice(0, -1)) parent = Reflect.get(Object(parent), key);
  const index = path.at(-1) ?? "";
  if (typeof parent !== "object" || parent === null || !(index in parent)) return;
  removed.push({ parent, index, before: Array.isArray(parent) ? [...parent] : Object.entries(parent) });
  if (Array.isArray(parent)) parent.splice(Number(index), 1);
  else Reflect.deleteProperty(parent, index);
}

function restore(): void {
  for (const { parent, before } of removed) {
    if (Array.isArray(parent)) parent.splice(0, parent.length, ...before);
    else {
      for (const key of Object.keys(parent)) Reflect.deleteProperty(parent, key);
      Object.assign(parent, Object.fromEntries(before as [string, unknown][]));
    }
  }
  removed = [];
}

Template.prototype.toJSON = function () {
  const template = synthesized.call(this);
  if (active !== undefined) remove(template, JSON.parse(active));
  templates.push(template);
  return template;
};

const switches: object = Reflect.get(globalThis, "__stryker__") ?? {};
Reflect.set(globalThis, "__stryker__", switches);
Object.defineProperties(switches, {
  activeMutant: {
    get: () => active,
    set(part: string | undefined) {
      restore();
      active = part;
      if (part !== undefined) for (const template of templates) remove(template, JSON.parse(part));
    },
  },
  // Any test may notice any part of the file's first template, which has the default settings.
  everywhere: {
    get: () =>
      templates[0]
        ? templateRemovals(JSON.parse(JSON.stringify(templates[0])))
            .filter((_, index) => index % every === 0)
            .map(({ path }) => JSON.stringify(path))
        : [],
  },
});
