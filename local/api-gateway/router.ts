import { routes } from "../../api/index.ts";
import { pages } from "../../api/pages.ts";

interface Target {
  id: string;
  names: string[];
}

/** Finds the route of a method and a path; `{x}` matches one non-empty segment, as in API Gateway. */
export function createRouter(): (
  method: string,
  path: string,
) => { id: string; params: Record<string, string> } | undefined {
  const byShape = new Map<string, Target>();
  const served = pages.flatMap(({ id, methods, path }) => methods.map((method) => ({ id, method, path })));
  for (const { id, method, path } of [...routes, ...served]) {
    const names = [...path.matchAll(/\{(\w+)\}/g)].map((match) => String(match[1]));
    byShape.set(`${method} ${path.replaceAll(/\{\w+\}/g, "*")}`, { id, names });
  }
  const shapes = [...byShape].map(([shape, target]) => ({ segments: shape.split("/"), target }));
  return (method, path) => {
    const segments = `${method} ${path}`.split("/");
    for (const { segments: shape, target } of shapes) {
      if (shape.length !== segments.length) continue;
      if (!shape.every((part, index) => part === segments[index] || (part === "*" && segments[index] !== ""))) continue;
      const values = segments.filter((_, index) => shape[index] === "*");
      return {
        id: target.id,
        params: Object.fromEntries(target.names.map((name, index) => [name, decode(values[index] ?? "")])),
      };
    }
    return undefined;
  };
}

function decode(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment;
  }
}
