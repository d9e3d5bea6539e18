import { expect, test } from "vitest";
import { analysisOf, errorOf } from "./tree.ts";

const app = { "main.py": "print(1)", "requirements.txt": "" };
const project = (requires: string) => ({
  "main.py": "",
  "pyproject.toml": `[project]\nname = "a"\nrequires-python = "${requires}"\n`,
});
const poetry = (python: string) => ({
  "main.py": "",
  "pyproject.toml": `[tool.poetry]\nname = "a"\n[tool.poetry.dependencies]\npython = "${python}"\n`,
});

const specifiers: [string, string, boolean][] = [
  [">=3.10,<3.14", "3.13", false],
  ["~=3.12", "3.13", false],
  ["^3.11", "3.13", false],
  [">=3.8", "3.13", false],
  ["*", "3.13", false],
  [">=3", "3.13", false],
  ["~=3.12.0", "3.12", false],
  ["3.12.*", "3.12", false],
  ["==3.12.*", "3.12", false],
  ["==3.12.4", "3.12", false],
  ["<3.13", "3.12", false],
  [">=3.9, <3.13", "3.12", false],
  [">=3.12,!=3.13.*", "3.14", false],
  [">=3.14", "3.14", false],
  ["3.9", "3.12", true],
  ["3.10", "3.12", true],
  ["3.11", "3.12", true],
  ["==3.11.*", "3.12", true],
  [">=3.8,<3.12", "3.12", true],
  ["3.15", "3.14", true],
  [">=3.15", "3.14", true],
];

test.each(specifiers)("requires-python %j gives %s", (requires, line, warns) => {
  const { runtime, warnings } = analysisOf(project(requires));
  expect(runtime).toBe(`python${line}`);
  expect(warnings).toHaveLength(warns ? 1 : 0);
});

test.each([
  ["^3.11", "3.13", 0],
  ["~3.12", "3.12", 0],
  ["~3.11", "3.12", 1],
  ["^3.12 || ^3.14", "3.13", 0],
  [">=3.9 <3.13", "3.12", 0],
  ["3.14", "3.14", 0],
  [">= 3.10", "3.13", 0],
  ["~2.7 || ^3.6", "3.13", 0],
])("tool.poetry python %j gives %s", (python, line, warnings) => {
  const analysis = analysisOf(poetry(python));
  expect(analysis.runtime).toBe(`python${line}`);
  expect(analysis.warnings).toHaveLength(warnings);
});

test.each([
  [".python-version", "3.12\n", "3.12"],
  [".python-version", "# dev\n3.14.0\n3.12\n", "3.14"],
  [".python-version", "cpython-3.12.4", "3.12"],
  [".python-version", "3.14-dev", "3.14"],
  ["runtime.txt", "python-3.12.7", "3.12"],
  ["runtime.txt", "python-3.14", "3.14"],
  [".tool-versions", "python 3.12.1\nnodejs 22\n", "3.12"],
  ["mise.toml", '[tools]\npython = "3.12"\n', "3.12"],
  ["Pipfile", '[requires]\npython_version = "3.12"\n', "3.12"],
])("%s with %j gives %s", (file, text, line) => {
  expect(analysisOf({ ...app, [file]: text })).toMatchObject({ runtime: `python${line}`, warnings: [] });
});

test("Pipfile.lock decides where nothing else does", () => {
  expect(analysisOf({ ...app, "Pipfile.lock": { _meta: { requires: { python_version: "3.12" } } } }).runtime).toBe(
    "python3.12",
  );
});

test("an app that declares nothing runs on Python 3.13", () => {
  expect(analysisOf(app)).toMatchObject({ runtime: "python3.13", warnings: [] });
});

test(".python-version beats runtime.txt beats requires-python", () => {
  const files = { ...project(">=3.14"), "runtime.txt": "python-3.12.1" };
  expect(analysisOf(files).runtime).toBe("python3.12");
  expect(analysisOf({ ...files, ".python-version": "3.13" }).runtime).toBe("python3.13");
});

test.each(["2.7", "2.7.18", "~=2.7.0", ">=2.7,<3"])("Python 2 alone (%s) is an error", (version) => {
  expect(errorOf({ ...app, ".python-version": version })).toEqual({
    code: "unsupported_language",
    message: `.python-version asks for Python "${version}", and Python 2 reached end of life on 2020-01-01. Port the app to Python 3 and declare 3.12, 3.13 or 3.14.`,
  });
});

test.each(["pypy3.10-7.3", "my-env", "", "x".repeat(1_000_000), "4.0"])(
  "an unreadable version (%#) is ignored with a warning",
  (version) => {
    const { runtime, warnings } = analysisOf({ ...app, ".python-version": version, "runtime.txt": "python-3.12.1" });
    expect(runtime).toBe("python3.12");
    expect(warnings).toHaveLength(1);
    expect(warnings[0]).toContain(".python-version");
  },
);

test("a line that is not offered is named with its end of life", () => {
  expect(analysisOf({ ...app, "runtime.txt": "python-3.9.1" }).warnings).toEqual([
    "runtime.txt asks for Python 3.9, which reached end of life on 2025-10-31 and is not offered. Python 3.12 is used. Write python-3.12, python-3.13 or python-3.14 in runtime.txt.",
  ]);
  expect(analysisOf(project("3.11")).warnings).toEqual([
    'requires-python asks for Python 3.11, which is not offered. Python 3.12 is used. Set requires-python to ">=3.12".',
  ]);
});

test.each([
  [">=3.15", "3.15"],
  [">=3.9,<3.12", "3.11"],
])("of %s it is Python %s that is named as not offered", (range, line) => {
  expect(analysisOf(project(range)).warnings[0]).toContain(`asks for Python ${line}, which `);
});
