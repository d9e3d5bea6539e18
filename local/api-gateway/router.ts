import { routes } from "../../api/index.ts";
import { pageRoutes } from "../../api/pages.ts";

interface Target {
  id: string;
  names: string[];
}

/**
 * Finds the route of a method and a path, as API Gateway does: `{x}` matches one non-empty segment, and `{x+}` the rest of the
 * path if no other route matches.
 */
export function createRouter(): (
  method: string,
  path: string,
) => { id: string; params: Record<string, string> } | undefined {
  const byShape = new Map<string, Target>();
  const greedy: { start: string; name: string; id: string }[] = [];
  for (const { id, method, path } of [...routes, ...pageRoutes]) {
    const [, start, rest] = /^(.*\/)\{(\w+)\+\}$/.exec(path) ?? [];
    if (start !== undefined && rest !== undefined) {
      greedy.push({ start: `${method} ${start}`, name: rest, id });
      continue;
    }
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
    const address = `${method} ${path}`;
    const found = greedy.find(({ start }) => address.startsWith(start) && address.length > start.length);
    return found && { id: found.id, params: { [found.name]: decode(address.slice(found.start.length)) } };
  };
}

function decode(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment;
  }
}
