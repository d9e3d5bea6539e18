import { AWS_FUNCTIONS } from "./jsonata-functions.ts";

/** The values that an expression may read, depending on its field. */
export interface Scope {
  /** All variables that any Assign of the state machine sets. */
  variables: ReadonlySet<string>;
  result: boolean;
  errorOutput: boolean;
  taskToken: boolean;
}

const BUILT_IN = new Set(
  `sum count max min average string substring substringBefore substringAfter lowercase uppercase length trim pad match
  contains replace split join formatNumber formatBase formatInteger parseInteger number floor ceil round abs sqrt power
  boolean not map zip filter single reduce sift keys lookup append exists spread merge reverse each error assert type
  sort shuffle distinct base64encode base64decode encodeUrlComponent encodeUrl decodeUrlComponent decodeUrl toMillis
  fromMillis clone now millis`
    .split(/\s+/)
    .concat(AWS_FUNCTIONS),
);

const CONTEXT: Record<string, readonly string[]> = {
  Execution: ["Id", "Input", "Name", "RoleArn", "StartTime"],
  State: ["EnteredTime", "Name", "RetryCount"],
  StateMachine: ["Id", "Name"],
  Task: ["Token"],
};

/** Parts of an expression with another context than the (empty) root: predicates, groupings, transformations. */
const DERIVED = new Set(["stages", "predicate", "group", "pattern", "update", "delete"]);

type Node = { [key: string]: unknown };

function isNode(value: unknown): value is Node {
  return typeof value === "object" && value !== null && !Array.isArray(value) && !(value instanceof RegExp);
}

function children(value: unknown, skip?: ReadonlySet<string>): Node[] {
  if (Array.isArray(value)) return value.flatMap((item) => (isNode(item) ? [item] : children(item, skip)));
  if (!isNode(value)) return [];
  return Object.entries(value).flatMap(([key, inner]) => {
    if (skip?.has(key)) return [];
    return isNode(inner) ? [inner] : children(inner, skip);
  });
}

function everyNode(root: Node): Node[] {
  const found = new Set<Node>([root]);
  for (const node of found) for (const child of children(node)) found.add(child);
  return [...found];
}

/** The nodes that are evaluated in the root context, which is empty in Step Functions. */
function rootNodes(root: Node): Node[] {
  const found = new Set<Node>([root]);
  for (const node of found) {
    const first = node.type === "path" && Array.isArray(node.steps) ? node.steps.slice(0, 1) : undefined;
    for (const child of first ? children(first) : children(node, DERIVED)) found.add(child);
  }
  return [...found];
}

function text(value: unknown): string | undefined {
  return typeof value === "string" ? value : undefined;
}

function unknownVariables(nodes: Node[], scope: Scope): string[] {
  const local = new Set<string>();
  for (const node of nodes) {
    for (const name of [node.focus, node.index]) if (typeof name === "string") local.add(name);
    const declared = node.type === "lambda" ? node.arguments : node.type === "bind" ? [node.lhs] : [];
    for (const variable of children(declared)) local.add(text(variable.value) ?? "");
  }
  return nodes.flatMap((node) => {
    const name = node.type === "variable" ? text(node.value) : undefined;
    if (name === undefined || name === "" || name === "states" || name === "$") return [];
    if (name === "eval") return ["$eval is not available in Step Functions; use $parse"];
    if (local.has(name) || scope.variables.has(name) || BUILT_IN.has(name)) return [];
    return [`$${name} is neither a function nor a variable that any state assigns`];
  });
}

function unknownContext(steps: string[]): string[] {
  const [section, field] = steps;
  if (section === undefined) return [];
  const fields = Object.hasOwn(CONTEXT, section) ? CONTEXT[section] : undefined;
  if (!fields) return [`$states.context.${section} does not exist`];
  return field === undefined || fields.includes(field) ? [] : [`$states.context.${section}.${field} does not exist`];
}

function unknownStates(node: Node, scope: Scope): string[] {
  const steps = node.type === "path" && Array.isArray(node.steps) ? node.steps.filter(isNode) : [];
  if (steps[0]?.type !== "variable" || steps[0].value !== "states") return [];
  const names: string[] = [];
  for (const step of steps.slice(1)) {
    const name = step.type === "name" ? text(step.value) : undefined;
    if (name === undefined) break;
    names.push(name);
  }
  const [field, ...rest] = names;
  if (field === undefined || field === "input") return [];
  if (field === "result") return scope.result ? [] : ["$states.result exists only in a Task's Output and Assign"];
  if (field === "errorOutput") return scope.errorOutput ? [] : ["$states.errorOutput exists only in a Catch"];
  if (field !== "context") return [`$states.${field} does not exist`];
  if (rest[0] === "Task" && !scope.taskToken) {
    return ["$states.context.Task exists only in the Arguments of a .waitForTaskToken Task"];
  }
  return unknownContext(rest);
}

/** The problems for which Step Functions would refuse a parsed expression. */
export function expressionProblems(ast: unknown, scope: Scope): string[] {
  if (!isNode(ast)) return ["is empty"];
  const nodes = everyNode(ast);
  const problems = [...unknownVariables(nodes, scope), ...nodes.flatMap((node) => unknownStates(node, scope))];
  if (nodes.some((node) => node.type === "variable" && node.value === "$")) problems.push("$$ is not available");
  for (const node of rootNodes(ast)) {
    const type = text(node.type) ?? "";
    if (type === "variable" && node.value === "") problems.push("$ is not available at the top level");
    if (["name", "wildcard", "descendant", "parent"].includes(type)) {
      problems.push(`a field name needs something before it at the top level: ${text(node.value) ?? type}`);
    }
  }
  return [...new Set(problems)];
}
