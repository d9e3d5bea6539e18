export type Json = Record<string, unknown>;

/** Shorter schemas get no name. */
const hoistedLengthMin = 120;

const isObject = (value: unknown): value is Json =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** The name of a schema that is found under a property: `builds` → Build, `entries` → Entry. */
function nameOf(property: string): string {
  const singular = property.replace(/ies$/, "y").replace(/([^s])s$/, "$1");
  return `${singular.charAt(0).toUpperCase()}${singular.slice(1)}`;
}

/** Calls `visit` with every schema of an object below a value, and the property that it was found under. */
function walk(value: unknown, property: string, visit: (schema: Json, property: string) => void): void {
  if (Array.isArray(value)) for (const item of value) walk(item, property, visit);
  if (!isObject(value)) return;
  if (value.type === "object" && isObject(value.properties)) visit(value, property);
  for (const [name, child] of Object.entries(value))
    walk(child, /^(items|anyOf|schema)$/.test(name) ? property : name, visit);
}

/**
 * Moves schemas that occur several times into components: those that have an id of their own (`$defs`), and objects
 * of the same form, which are named after the property that they are found under.
 */
export function hoistRepeated(document: Record<string, Json>): { document: unknown; schemas: Json } {
  const seen = new Map<string, { count: number; property: string; schema: Json }>();
  walk(document, "", (schema, property) => {
    const text = JSON.stringify(schema);
    if (text.length < hoistedLengthMin) return;
    const known = seen.get(text);
    if (known) known.count += 1;
    else seen.set(text, { count: 1, property, schema });
  });
  const names = new Map<string, string>();
  const schemas: Json = {};
  for (const [text, { count, property }] of seen) {
    if (count < 2 || !/^[A-Za-z]+$/.test(property)) continue;
    const base = nameOf(property);
    let name = base;
    for (let number = 2; [...names.values()].includes(name); number += 1) name = `${base}${number}`;
    names.set(text, name);
  }

  function replace(value: unknown, own?: string): unknown {
    if (Array.isArray(value)) return value.map((item) => replace(item));
    if (!isObject(value)) return value;
    const name = names.get(JSON.stringify(value));
    if (name !== undefined && name !== own) return { $ref: `#/components/schemas/${name}` };
    const { $defs, ...rest } = value;
    if (isObject($defs)) for (const [id, schema] of Object.entries($defs)) schemas[id] = withoutId(schema);
    return Object.fromEntries(
      Object.entries(rest).map(([key, child]) => [
        key,
        key === "$ref" && typeof child === "string"
          ? child.replace("#/$defs/", "#/components/schemas/")
          : replace(child),
      ]),
    );
  }

  const replaced = replace(document);
  for (const [text, name] of names) {
    const found = seen.get(text);
    if (found) schemas[name] = replace(found.schema, name);
  }
  return { document: replaced, schemas };
}

function withoutId(schema: unknown): unknown {
  if (!isObject(schema)) return schema;
  const { id: _, ...rest } = schema;
  return rest;
}
