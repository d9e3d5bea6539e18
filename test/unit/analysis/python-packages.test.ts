import { expect, test } from "vitest";
import { analysisOf } from "./tree.ts";

test("the development packages of a Pipfile are installed with the others", () => {
  const files = { "main.py": "", Pipfile: '[dev-packages]\nflask = "*"\n' };
  expect(analysisOf(files).plan.install).toBe("pipenv install --dev");
  expect(analysisOf({ ...files, "Pipfile.lock": { develop: { flask: {} } } }).plan.install).toBe("pipenv sync --dev");
});

test("a Pipfile that writes extras into the name is in step with its lock", () => {
  const files = { "main.py": "", Pipfile: '[packages]\n"Uvicorn[standard]" = "*"\n' };
  expect(analysisOf({ ...files, "Pipfile.lock": { default: { uvicorn: { extras: ["standard"] } } } })).toMatchObject({
    plan: { install: "pipenv sync --dev" },
    suggestions: [],
  });
});
