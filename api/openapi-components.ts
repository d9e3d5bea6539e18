export type Json = Record<string, unknown>;

/** Shorter schemas get no name. */
const hoistedLengthMin = 120;

/** Whether a value is a JSON object, neither a list nor null. */
export const isJson = (value: unknown): value is Json =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** The name of a schema that is found under a property: `builds` → Build, `entries` → Entry. */
function nameOf(property: string): string {
  const singular = property.replace(/ies$/, "y").replace(/([^s])s$/, "$1");
  return `${singular.charAt(0).toUpperCase()}${singular.slice(1)}`;
}

/** The name of an object: after its property, or, for a whole body with one field, after this field. */
function baseNameOf(property: string, { properties }: Json): string | undefined {
  if (/^[A-Za-z]+$/.test(property)) return nameOf(property);
  const fields = Object.keys(Object(properties));
  return property.includes("/") && fields.length === 1 ? `${nameOf(fields[0] ?? "")}Body` : undefined;
}

/** Calls `visit` with every schema of an object below a value, and the property that it was found under. */
function walk(value: unknown, property: string, visit: (schema: Json, property: string) => void): void {
  if (Array.isArray(value)) for (const item of value) walk(item, property, visit);
  if (!isJson(value)) return;
  if (value.type === "object" && isJson(value.properties)) visit(value, property);
  for (const [name, child] of Object.entries(value))
    walk(child, /^(items|anyOf|schema)$/.test(name) ? property : name, visit);
}

/** Whether an object has all fields of another and more, with the same types, and requires those that the other requires. */
function isExtensionOf(value: Json, base: Json): boolean {
  const fields = value.properties;
  if (value.type !== "object" || !isJson(fields) || !isJson(base.properties)) return false;
  const required = Array.isArray(value.required) ? value.required : [];
  return (
    Object.keys(fields).length > Object.keys(base.properties).length &&
    (Array.isArray(base.required) ? base.required : []).every((name) => required.includes(name)) &&
    Object.entries(base.properties).every(([name, type]) => JSON.stringify(fields[name]) === JSON.stringify(type))
  );
}

/**
 * Moves schemas that occur several times into components: those that have an id of their own (`$defs`), and objects
 * of the same form, which are named after the property that they are found under.
 */
export function hoistRepeated(document: Record<string, Json>): {
  document: unknown;
  schemas: Json;
  responses: Json;
  requestBodies: Json;
} {
  const seen = new Map<string, { count: number; property: string; schema: Json }>();
  walk(document, "", (schema, property) => {
    const text = JSON.stringify(schema);
    if (text.length < hoistedLengthMin) return;
    const known = seen.get(text);
    if (known) known.count += 1;
    else seen.set(text, { count: 1, property, schema });
  });
  for (const one of seen.values()) {
    one.count += [...seen.values()].filter(({ schema }) => isExtensionOf(schema, one.schema)).length;
  }
  const names = new Map<string, string>();
  const schemas: Json = {};
  // Shortest first: the fields common to all builds become Build, the larger variant Build2.
  const shortestFirst = [...seen].sort(([one], [other]) => one.length - other.length);
  for (const [text, { count, property, schema }] of shortestFirst) {
    const base = baseNameOf(property, schema);
    if (count < 2 || base === undefined) continue;
    let name = base;
    for (let number = 2; [...names.values()].includes(name); number += 1) name = `${base}${number}`;
    names.set(text, name);
  }

  function replace(value: unknown, own?: string): unknown {
    if (Array.isArray(value)) return value.map((item) => replace(item));
    if (!isJson(value)) return value;
    const name = names.get(JSON.stringify(value));
    if (name !== undefined && name !== own) return { $ref: `#/components/schemas/${name}` };
    const base = baseOf(value, own);
    if (base !== undefined) return replace(extension(base, value));
    const { $defs, ...rest } = value;
    if (isJson($defs)) for (const [id, schema] of Object.entries($defs)) schemas[id] = withoutId(schema);
    return Object.fromEntries(
      Object.entries(rest).map(([key, child]) => [
        key,
        key === "$ref" && typeof child === "string"
          ? child.replace("#/$defs/", "#/components/schemas/")
          : replace(child),
      ]),
    );
  }

  /** The largest named schema all of whose fields an object has, with the same types. */
  function baseOf(value: Json, own: string | undefined): { name: string; schema: Json } | undefined {
    const fitting = [...names].flatMap(([text, name]) => {
      const schema = seen.get(text)?.schema;
      return name !== own && schema && isExtensionOf(value, schema) ? [{ name, schema }] : [];
    });
    return fitting.sort((one, other) => JSON.stringify(other.schema).length - JSON.stringify(one.schema).length)[0];
  }

  const replaced = replace(document);
  const responses = hoistResponses(replaced);
  for (const [text, name] of names) {
    const found = seen.get(text);
    if (found) schemas[name] = replace(found.schema, name);
  }
  inlineBodies(responses, schemas, replaced);
  return { document: replaced, schemas, responses, requestBodies: hoistBodies(replaced) };
}

/** Moves the schema of a shared answer into it, in place, if nothing else refers to the schema. */
function inlineBodies(responses: Json, schemas: Json, paths: unknown): void {
  const references = JSON.stringify([paths, schemas]);
  for (const name of Object.keys(responses)) {
    const body = `${name}Body`;
    if (references.includes(`"#/components/schemas/${body}"`)) continue;
    responses[name] = { description: "OK", content: { "application/json": { schema: schemas[body] } } };
    delete schemas[body];
  }
}

/** Moves bodies of requests that consist of one field, and that several routes have, into components, in place. */
function hoistBodies(paths: unknown): Json {
  const operations = Object.values(Object(paths))
    .filter(isJson)
    .flatMap((item) => Object.values(item).filter(isJson));
  const bodies = operations.map(({ requestBody }) => JSON.stringify(requestBody));
  const requestBodies: Json = {};
  for (const operation of operations) {
    const text = JSON.stringify(operation.requestBody);
    const field =
      /^\{"content":\{"application\/json":\{"schema":\{"type":"object","properties":\{"(\w+)":\{[^{}]*\}\}/.exec(
        text ?? "",
      )?.[1];
    const name = field === undefined ? undefined : nameOf(field);
    if (name === undefined || bodies.filter((body) => body === text).length < 2) continue;
    requestBodies[name] ??= operation.requestBody;
    if (JSON.stringify(requestBodies[name]) === text)
      operation.requestBody = { $ref: `#/components/requestBodies/${name}` };
  }
  return requestBodies;
}

/** Moves answers that consist of a named body into components, in place; they get the body's name. */
function hoistResponses(paths: unknown): Json {
  const responses: Json = {};
  for (const item of Object.values(Object(paths)).filter(isJson)) {
    for (const { responses: answers } of Object.values(item).filter(isJson)) {
      for (const [status, answer] of isJson(answers) ? Object.entries(answers) : []) {
        const name = /^\{"description":"OK","content":.*"\$ref":"#\/components\/schemas\/(\w+)Body"\}{4}$/.exec(
          JSON.stringify(answer),
        )?.[1];
        if (name === undefined || !isJson(answers)) continue;
        responses[name] = answer;
        answers[status] = { $ref: `#/components/responses/${name}` };
      }
    }
  }
  return responses;
}

/** Writes an object as a named schema plus its additional fields. */
function extension({ name, schema }: { name: string; schema: Json }, value: Json): Json {
  const known: Json = Object(schema.properties);
  const { properties, required, ...rest } = value;
  const own = Object.entries(Object(properties)).filter(([field]) => !Object.hasOwn(known, field));
  const needed = Array.isArray(required) ? required.filter((field) => !Object.hasOwn(known, String(field))) : [];
  const more = { ...rest, properties: Object.fromEntries(own), ...(needed.length > 0 && { required: needed }) };
  return { allOf: [{ $ref: `#/components/schemas/${name}` }, more] };
}

function withoutId(schema: unknown): unknown {
  if (!isJson(schema)) return schema;
  const { id: _, ...rest } = schema;
  return rest;
}
