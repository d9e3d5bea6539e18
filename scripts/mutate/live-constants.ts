import type { Plugin } from "vitest/config";

interface Node {
  type: string;
  start: number;
  end: number;
}

const isNode = (value: unknown): value is Node =>
  typeof value === "object" && value !== null && typeof Reflect.get(value, "type") === "string";
const part = (node: Node, key: string): unknown => Reflect.get(node, key);
const nameOf = (node: unknown): unknown =>
  isNode(node) && node.type === "Identifier" ? part(node, "name") : undefined;

/** Calls `visit` with each descendant, its parent, and the parent's property that holds it; false skips the node's children. */
function walk(node: Node, visit: (child: Node, parent: Node, key: string) => boolean): void {
  for (const [key, value] of Object.entries(node)) {
    for (const child of Array.isArray(value) ? value : [value]) {
      if (isNode(child) && visit(child, node, key)) walk(child, visit);
    }
  }
}

const functions = new Set(["ArrowFunctionExpression", "FunctionExpression", "FunctionDeclaration"]);
const collections = new Set<unknown>(["Set", "Map", "RegExp"]);
const pureMethods = new Set<unknown>(["map", "flatMap", "filter", "join", "entries", "keys", "values", "fromEntries"]);

/** Whether an expression is a function that the instrumented code names by a constant of its own: `(() => { … })()`. */
const isNamed = (node: Node): boolean =>
  node.type === "CallExpression" && Reflect.get(Object(part(node, "callee")), "type") === "ArrowFunctionExpression";

/** Whether an expression may be evaluated repeatedly: true of values and collections of values, false of clients and caches. */
function isRepeatable(node: Node): boolean {
  let repeatable = true;
  const check = (child: Node): boolean => {
    const callee = part(child, "callee");
    if (functions.has(child.type) || isNamed(child)) return false;
    if (child.type === "AwaitExpression") repeatable = false;
    if (child.type === "NewExpression")
      repeatable &&= collections.has(nameOf(callee)) && Object(part(child, "arguments")).length > 0;
    if (child.type === "CallExpression") {
      const method =
        isNode(callee) && callee.type === "MemberExpression" ? nameOf(part(callee, "property")) : undefined;
      repeatable &&= /^stry(?:MutAct|Cov)_/.test(String(nameOf(callee))) || pureMethods.has(method);
    }
    return repeatable;
  };
  if (check(node)) walk(node, check);
  return repeatable;
}

/** Strips the switches that the instrumenter added around an expression: returns the expression without a change. */
function original(node: Node): Node {
  const inner =
    node.type === "ConditionalExpression"
      ? part(node, "alternate")
      : node.type === "SequenceExpression"
        ? Object(part(node, "expressions")).at(-1)
        : node.type === "ParenthesizedExpression"
          ? part(node, "expression")
          : isNamed(node)
            ? part(node, "callee")
            : undefined;
  return isNode(inner) ? original(inner) : node;
}

interface Constant {
  name: string;
  init: Node;
  declaration: Node;
  isExported: boolean;
}

/** The constants of a module whose initial values contain changes. */
function constantsOf(code: string, program: Node): Constant[] {
  const found: Constant[] = [];
  walk(program, (statement) => {
    const isExported = statement.type === "ExportNamedDeclaration";
    const declaration = isExported ? part(statement, "declaration") : statement;
    if (!isNode(declaration) || part(declaration, "kind") !== "const") return false;
    const [one, ...others] = Object(part(declaration, "declarations"));
    const [name, init] = [nameOf(one.id), one.init];
    if (others.length > 0 || typeof name !== "string" || !isNode(init)) return false;
    const isEmpty = /^\(?(?:\[\s*\]|\{\s*\})\)?$/.test(code.slice(original(init).start, original(init).end));
    const hasChange =
      init.type !== "ArrowFunctionExpression" && code.slice(init.start, init.end).includes("stryMutAct_");
    if (hasChange && !isEmpty && isRepeatable(init)) found.push({ name, init, declaration: statement, isExported });
    return false;
  });
  return found;
}

const binders = new Set([
  "FunctionDeclaration",
  "FunctionExpression",
  "ArrowFunctionExpression",
  "CatchClause",
  "ClassDeclaration",
]);

type Use = "none" | "value" | "shorthand" | "unclear";

/** How a parent uses an identifier. `unclear` if the name is declared again or its object has state. */
function useOf(code: string, constant: Constant, parent: Node, key: string): Use {
  if (parent.type === "VariableDeclarator" && key === "id")
    return part(parent, "init") === constant.init ? "none" : "unclear";
  const isName = (key === "property" || key === "key") && part(parent, "computed") !== true;
  if (isName && part(parent, "shorthand") !== true) return "none";
  if (parent.type === "Property" && part(parent, "shorthand") === true) return key === "key" ? "none" : "shorthand";
  if (binders.has(parent.type) && key !== "body") return "unclear";
  if (["AssignmentPattern", "RestElement", "ArrayPattern", "ImportSpecifier", "ExportSpecifier"].includes(parent.type))
    return "unclear";
  if (parent.type === "MemberExpression" && key === "object") {
    const { start, end } = original(constant.init);
    // A regular expression with the flag g or y has state: exec and test continue after the last match.
    return /\/[a-z]*[gy][a-z]*$/.test(code.slice(start, end)) ? "unclear" : "value";
  }
  return parent.type === "NewExpression" && key === "callee" ? "unclear" : "value";
}

/** The exported value of a constant, so that other modules see its changes: a function or a proxy that reads the current value. */
function exportedForm(init: Node, live: string): string {
  const { type } = original(init);
  if (functions.has(type)) return `(...all) => ${live}()(...all)`;
  if (type !== "ArrayExpression" && type !== "ObjectExpression") return `${live}()`;
  const traps = ["get", "has", "ownKeys", "getOwnPropertyDescriptor"];
  return `new Proxy(${live}(), { ${traps.map((trap) => `${trap}: (_, ...all) => Reflect.${trap}(${live}(), ...all)`).join(", ")} })`;
}

/** Replaces each such constant by a function, and each use by a call, so that its changes can be switched on after the module was loaded. */
function withLiveConstants(code: string, program: Node): string {
  const edits: { start: number; end: number; text: string }[] = [];
  for (const constant of constantsOf(code, program)) {
    const { name, init, declaration, isExported } = constant;
    const live = `${name}__live`;
    const uses: typeof edits = [];
    let isClear = true;
    walk(program, (node, parent, key) => {
      // Inside of the wrapper, the name is the wrapper's own constant.
      if (isNamed(node) && node.start >= init.start && node.end <= init.end) return false;
      if (nameOf(node) !== name) return true;
      const use = useOf(code, constant, parent, key);
      if (use === "unclear" || (use === "shorthand" && key === "value" && inPattern(program, parent))) isClear = false;
      else if (use === "shorthand") uses.push({ ...node, text: `${name}: ${live}()` });
      else if (use === "value") uses.push({ ...node, text: `${live}()` });
      return true;
    });
    if (!isClear) continue;
    const inner = [init.start, init.end] as const;
    const exported = exportedForm(init, live);
    edits.push({ start: declaration.start, end: inner[0], text: `const ${live} = () => (` });
    edits.push({
      start: inner[1],
      end: declaration.end,
      text: `);${isExported ? ` export const ${name} = ${exported};` : ""}`,
    });
    edits.push(...uses);
  }
  const last = edits.sort((a, b) => b.start - a.start);
  return last.reduce((text, { start, end, text: more }) => text.slice(0, start) + more + text.slice(end), code);
}

/** Whether a property belongs to a destructuring pattern. */
function inPattern(program: Node, property: Node): boolean {
  let found = false;
  walk(program, (node, parent) => {
    if (node === property) found = parent.type === "ObjectPattern";
    return !found;
  });
  return found;
}

/** Allows changes of constants to be tried in place; otherwise each needs a run of the whole test file. */
export const liveConstants: Plugin = {
  name: "live-constants",
  enforce: "post",
  transform(code) {
    if (!code.includes("stryMutAct_")) return undefined;
    return { code: withLiveConstants(code, this.parse(code) as unknown as Node), map: null };
  },
};
