import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { errorTable } from "../../../api/errors.ts";
import { routes } from "../../../api/index.ts";

const page = readFileSync(join(import.meta.dirname, "..", "..", "..", "docs", "api.md"), "utf8");

/** The routes that the page's tables name: in a section, paths are below the address that the section gives. */
function routesOnPage(): string[] {
  return page.split(/^## /m).flatMap((section) => {
    let below = "";
    return section.split("\n").flatMap((line) => {
      const base = /\bbelow `(\/[^`]+)`/i.exec(line)?.[1];
      if (base?.startsWith("/organizations")) below = base;
      else if (base !== undefined) below = below.replace(/(\/tables).*/, "") + base;
      const [, method, path] = /^\| `(GET|POST|PUT|DELETE)(?: (\/[^`]*))?` \|/.exec(line) ?? [];
      return method === undefined ? [] : [`${method} ${below}${path ?? ""}`];
    });
  });
}

test("the page of the interface names every route and no other", () => {
  // POST /sessions is described in a paragraph of its own.
  const declared = routes.map(({ method, path }) => `${method} ${path}`).filter((one) => one !== "POST /sessions");
  expect(page).toContain("`POST /sessions`");
  expect(routesOnPage().toSorted()).toEqual(declared.toSorted());
});

test("the page of the interface explains every error code with its status", () => {
  const lines = page.split("\n").filter((line) => line.startsWith("| `"));
  const unexplained = Object.entries(errorTable).filter(
    ([code, { status }]) => !lines.some((line) => line.includes(`\`${code}\``) && line.includes(`| ${status} |`)),
  );
  expect(unexplained).toEqual([]);
});
