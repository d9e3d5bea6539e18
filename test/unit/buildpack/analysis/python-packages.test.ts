import { expect, test } from "vitest";
import { cpuTimer } from "../../../harness/cpu-time.ts";
import { analysisOf } from "./tree.ts";

test("the development packages of a Pipfile are installed with the others", () => {
  const files = { "main.py": "", Pipfile: '[dev-packages]\nflask = "*"\n' };
  expect(analysisOf(files).plan.install).toBe("pipenv install --dev");
  expect(analysisOf({ ...files, "Pipfile.lock": { develop: { flask: {} } } }).plan.install).toBe("pipenv sync --dev");
});

test("the files that requirements.txt names are there when it is installed, wherever they lie", () => {
  const files = {
    "main.py": "",
    "requirements.txt": "-r ./deps/prod.txt\n--constraint=deps/limits.txt\n",
    "deps/prod.txt": "-c more.txt\nflask\n",
    "deps/limits.txt": "flask<4\n",
    "deps/more.txt": "",
    "deps/other.txt": "",
  };
  expect(analysisOf(files).plan.manifests).toEqual([
    "deps/limits.txt",
    "deps/more.txt",
    "deps/prod.txt",
    "requirements.txt",
  ]);
});

const poetry = (extra: string) =>
  `[tool.poetry]\nname = "my-shop"\n${extra}\n[tool.poetry.dependencies]\npython = "^3.12"\n`;
test.each([
  ["its package is there", poetry(""), { "my_shop/__init__.py": "" }, ""],
  ["its package is in src", poetry(""), { "src/my_shop/__init__.py": "" }, ""],
  ["its packages are named", poetry('packages = [{ include = "app" }]'), { "app/x.py": "" }, ""],
  ["there is no package of its name", poetry(""), { "app/__init__.py": "" }, " --no-root"],
  ["it is no package", poetry("package-mode = false"), { "my_shop/__init__.py": "" }, " --no-root"],
  [
    "its readme, which Poetry insists on, is missing",
    poetry('readme = "README.md"\npackages = [{ include = "app" }]'),
    { "app/x.py": "" },
    " --no-root",
  ],
])("Poetry installs the project itself only where it can: %s", (_, pyproject, files, option) => {
  expect(analysisOf({ "main.py": "", "pyproject.toml": pyproject, ...files }).plan.install).toBe(
    `poetry install --no-interaction${option}`,
  );
});

test("a Pipfile that writes extras into the name is in step with its lock", () => {
  const files = { "main.py": "", Pipfile: '[packages]\n"Uvicorn[standard]" = "*"\n' };
  expect(analysisOf({ ...files, "Pipfile.lock": { default: { uvicorn: { extras: ["standard"] } } } })).toMatchObject({
    plan: { install: "pipenv sync --dev" },
    suggestions: [],
  });
});

test("advice on a field names its line, not the empty one above it", () => {
  const pyproject = '[project]\nname = "a"\n\nrequires-python = ">=3.13"\ndependencies = []\n';
  expect(
    analysisOf({ "main.py": "", "pyproject.toml": pyproject, ".python-version": "3.12" }).suggestions,
  ).toMatchObject([{ code: "version_conflict", file: "pyproject.toml", line: 4 }]);
});

test("sources and manifests with only empty lines are read quickly", () => {
  const empty = "\n".repeat(60_000);
  const spent = cpuTimer();
  analysisOf({ "main.py": `import streamlit\n${empty}`, "requirements.txt": "streamlit\nflask\n" });
  analysisOf({ "main.py": `${empty}import flask\n`, Pipfile: empty, "pyproject.toml": empty });
  analysisOf({ "main.py": "", "setup.py": empty });
  expect(spent()).toBeLessThan(3000);
});

test("a requirements.in without the file that is compiled from it is installed", () => {
  const files = {
    "app.py": "from flask import Flask\napp = Flask(__name__)\n",
    "requirements.in": "flask\ngunicorn\n",
  };
  expect(analysisOf(files)).toMatchObject({ plan: { install: "pip install -r requirements.in" }, suggestions: [] });
  expect(analysisOf({ ...files, "requirements.txt": "flask==3.1.0\ngunicorn==23.0.0\n" }).plan.install).toBe(
    "pip install -r requirements.txt",
  );
});
