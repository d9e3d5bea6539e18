import { isJson, type Json } from "../../../api/openapi-components.ts";

function objectText(schema: Json, indent: string): string {
  const required = new Set(Array.isArray(schema.required) ? schema.required : []);
  const inner = `${indent}  `;
  const fields = Object.entries(isJson(schema.properties) ? schema.properties : {}).map(([name, field]) => {
    const described = isJson(field) && typeof field.description === "string" ? `  // ${field.description}` : "";
    return `${inner}${name}${required.has(name) ? "" : "?"}: ${typeText(field, inner)};${described}`;
  });
  return fields.length === 0 ? "object" : `{\n${fields.join("\n")}\n${indent}}`;
}

function plainText(type: unknown, schema: Json, indent: string): string {
  switch (type) {
    case "object":
      return objectText(schema, indent);
    case "array":
      return `(${typeText(schema.items, indent)})[]`.replace(/^\((\w+)\)/, "$1");
    case "string":
    case "integer":
    case "number":
    case "boolean":
    case "null":
      return type;
    default:
      return "any";
  }
}

/** A JSON Schema as a type in TypeScript's notation, which is shorter to read. */
export function typeText(schema: unknown, indent = ""): string {
  if (!isJson(schema)) return "any";
  if (typeof schema.$ref === "string") return schema.$ref.split("/").at(-1) ?? "any";
  if (schema.const !== undefined) return JSON.stringify(schema.const);
  if (Array.isArray(schema.enum)) return schema.enum.map((value) => JSON.stringify(value)).join(" | ");
  for (const choice of [schema.anyOf, schema.oneOf]) {
    if (Array.isArray(choice)) return choice.map((one) => typeText(one, indent)).join(" | ");
  }
  if (Array.isArray(schema.allOf)) return schema.allOf.map((one) => typeText(one, indent)).join(" & ");
  if (Array.isArray(schema.type)) return schema.type.map((type) => plainText(type, schema, indent)).join(" | ");
  return plainText(schema.type, schema, indent);
}
