import jsonata from "jsonata";
import { TaskError } from "./errors.ts";
import { expressionProblems, type Scope } from "./expression-check.ts";
import { registerAwsFunctions } from "./jsonata-functions.ts";

/** A JSON value of the definition with its JSONata strings compiled. */
export type Template =
  | { kind: "literal"; value: unknown }
  | { kind: "expression"; field: string; source: string; compiled: jsonata.Expression }
  | { kind: "array"; items: Template[] }
  | { kind: "object"; entries: [string, Template][] };

/** The values of `$states` and the variables for an expression. */
export type Bindings = Record<string, unknown>;

const WHOLE = /^\{%([\s\S]*)%\}$/;

function compileString(value: string, field: string, scope: Scope, problems: string[]): Template {
  const source = WHOLE.exec(value)?.[1]?.trim();
  if (source === undefined) {
    if (/\{%|%\}/.test(value)) problems.push(`${field}: a JSONata expression must be the whole string, {% … %}`);
    return { kind: "literal", value };
  }
  try {
    const compiled = jsonata(source);
    registerAwsFunctions(compiled);
    problems.push(...expressionProblems(compiled.ast(), scope).map((problem) => `${field}: ${problem}`));
    return { kind: "expression", field, source, compiled };
  } catch (error) {
    problems.push(`${field}: not JSONata: ${messageOf(error)}`);
    return { kind: "literal", value };
  }
}

function messageOf(error: unknown): string {
  return typeof error === "object" && error !== null && "message" in error ? String(error.message) : String(error);
}

/** Compiles every `{% … %}` in a value of the definition; problems are added to `problems`. */
export function compileTemplate(value: unknown, field: string, scope: Scope, problems: string[]): Template {
  if (typeof value === "string") return compileString(value, field, scope, problems);
  if (typeof value !== "object" || value === null) return { kind: "literal", value };
  if (Array.isArray(value)) {
    const items = value.map((item, index) => compileTemplate(item, `${field}[${index}]`, scope, problems));
    return items.every((item) => item.kind === "literal") ? { kind: "literal", value } : { kind: "array", items };
  }
  const entries = Object.entries(value).map(([key, inner]): [string, Template] => {
    if (key.endsWith(".$")) problems.push(`${field}/${key}: a JSONPath key in a JSONata state`);
    return [key, compileTemplate(inner, `${field}/${key}`, scope, problems)];
  });
  const literal = entries.every(([, inner]) => inner.kind === "literal");
  return literal ? { kind: "literal", value } : { kind: "object", entries };
}

class NotJson extends Error {}

/** Copies a JSONata result, so that later expressions cannot change it; throws for functions, which are not JSON. */
function toData(value: unknown): unknown {
  if (value === null || typeof value === "string" || typeof value === "boolean") return value;
  if (typeof value === "number" && Number.isFinite(value)) return value;
  if (Array.isArray(value)) return value.map(toData);
  if (typeof value !== "object" || "_jsonata_lambda" in value || "_jsonata_function" in value) throw new NotJson();
  const entries = Object.entries(value).filter(([, inner]) => inner !== undefined);
  return Object.fromEntries(entries.map(([key, inner]) => [key, toData(inner)]));
}

function evaluationError(template: { field: string; source: string }, what: string): TaskError {
  const where = `The JSONata expression '${template.source}' specified for the field '${template.field}'`;
  return new TaskError("States.QueryEvaluationError", `${where} ${what}`);
}

/** JSONata messages may contain values, so only the error code and position are used, except for `$error` and `$assert`. */
function describe(error: unknown): string {
  if (typeof error !== "object" || error === null || !("code" in error)) return "threw an error.";
  const code = String(error.code);
  const own = code === "D3137" || code === "D3141" || code === "T0410";
  const position = "position" in error && typeof error.position === "number" ? ` at position ${error.position}` : "";
  return own ? `threw an error${position}: ${messageOf(error)}` : `threw the error ${code}${position}.`;
}

/** Evaluates a template. Throws States.QueryEvaluationError, also, as on AWS, if an expression returns undefined. */
export async function evaluate(template: Template, bindings: Bindings): Promise<unknown> {
  switch (template.kind) {
    case "literal":
      return template.value;
    case "array": {
      const items: unknown[] = [];
      for (const item of template.items) items.push(await evaluate(item, bindings));
      return items;
    }
    case "object": {
      const entries: [string, unknown][] = [];
      for (const [key, inner] of template.entries) entries.push([key, await evaluate(inner, bindings)]);
      return Object.fromEntries(entries);
    }
    case "expression": {
      let value: unknown;
      try {
        value = await template.compiled.evaluate(undefined, bindings);
      } catch (error) {
        throw evaluationError(template, describe(error));
      }
      if (value === undefined) throw evaluationError(template, "returned nothing (undefined).");
      try {
        return toData(value);
      } catch {
        throw evaluationError(template, "returned an unsupported result type.");
      }
    }
  }
}

/** Evaluates a field that must have a certain type; anything else is a States.QueryEvaluationError. */
export async function evaluateAs<T>(
  template: Template,
  bindings: Bindings,
  type: string,
  fits: (value: unknown) => value is T,
): Promise<T> {
  const value = await evaluate(template, bindings);
  if (fits(value)) return value;
  const named = template.kind === "expression" ? template : { field: "", source: "" };
  throw evaluationError(named, `returned an unexpected result type. Expected '${type}'.`);
}
