import { expect, test } from "vitest";
import { outcomeOf } from "./tree.ts";

type Files = Record<string, string | object>;
const node = (start: string, scripts: object = {}): Files => ({
  "package.json": { scripts: { start, ...scripts } },
  "README.md": "",
});

test.each<[string, Files, string]>([
  ["a built file that nothing builds", node("node dist/index.js"), "dist/index.js"],
  [
    "a built file whose build has another name",
    node("node dist/index.js", { compile: "tsc", lint: "eslint ." }),
    "dist/index.js",
  ],
  ["a missing source", { ...node("node server.js"), "app.js": "" }, "server.js"],
  ["a file below a folder", { ...node("cd api && node index"), "api/app.js": "" }, "api/index"],
  [
    "a file behind options",
    node("NODE_ENV=production node -r dotenv/config --max-old-space-size=200 ./src/main.js"),
    "src/main.js",
  ],
  ["a file of tsx", node("tsx src/server.ts"), "src/server.ts"],
  ["a file of a Procfile", { Procfile: "web: node run.js", "app.js": "" }, "run.js"],
  ["a Python file", { Procfile: "web: python run.py", "requirements.txt": "", "app.py": "" }, "run.py"],
  [
    "a Python file in a folder",
    { Procfile: "web: cd api && python -u main.py", "requirements.txt": "", "api/app.py": "" },
    "api/main.py",
  ],
  ["a program", { ...node("./bin/web.sh"), "bin/other.sh": "" }, "bin/web.sh"],
  ["a program of a Procfile", { Procfile: "web: bin/web gunicorn app", "requirements.txt": "" }, "bin/web"],
  ["a module", { Procfile: "web: gunicorn app:app", "requirements.txt": "flask\ngunicorn", "main.py": "" }, "app.py"],
  [
    "a module of a package",
    { Procfile: "web: uvicorn shop.api:app --port $PORT", "requirements.txt": "", "shop/web.py": "" },
    "shop/api.py",
  ],
])("%s is an error that names it", (_, files, entry) => {
  const outcome = outcomeOf(files);
  expect(outcome).toMatchObject({ ok: false, error: { code: "no_start_command", entry } });
  expect(outcome.ok || outcome.runtime).toMatch(/^(nodejs|python)/);
  expect(outcome.ok || outcome.error.message).toContain(`runs ${entry}, which is not in the archive`);
});

test("the scripts that may build it are named", () => {
  const outcome = outcomeOf(node("node dist/index.js", { compile: "tsc", "build:prod": "webpack", lint: "eslint ." }));
  expect(outcome.ok || outcome.error.message).toContain(
    'no script is called "build" (compile and build:prod are never run)',
  );
});

test("a wrapper of Heroku's buildpacks is named as such", () => {
  const outcome = outcomeOf({
    Procfile: "web: bin/start-nginx gunicorn app:app",
    "requirements.txt": "",
    "app.py": "",
  });
  expect(outcome.ok || outcome.error.message).toContain("It comes from a buildpack of Heroku");
});

test.each<[string, Files]>([
  ["a program is there", { Procfile: "web: ./bin/web.sh", "package.json": {}, "bin/web.sh": "" }],
  ["a program is a package's", { Procfile: "web: venv/bin/gunicorn app:app", "requirements.txt": "", "app.py": "" }],
  ["an earlier command makes the program", node("make web && ./web")],
  ["a build makes it", node("node dist/index.js", { build: "tsc" })],
  ["an install script makes it", node("node dist/index.js", { postinstall: "tsc" })],
  ["a prestart makes it", node("node dist/index.js", { prestart: "tsc" })],
  ["the start itself makes it", node("tsc && node dist/index.js")],
  ["it is a package's", node("node node_modules/next/dist/bin/next start")],
  ["it has no ending", { ...node("node src/server"), "src/server.js": "" }],
  ["it is a folder", { ...node("node src"), "src/index.js": "" }],
  ["it is a folder with a manifest", { ...node("node api"), "api/package.json": { main: "x.js" } }],
  ["it is the package itself", { ...node("node ."), "index.js": "" }],
  ["it is a script in words", node("node -e 'require(\"http\")'")],
  ["it is no file but a script's name", node("bun run web")],
  ["it is a variable's", node("node $ENTRY")],
  ["the folder cannot be told", node("cd $DIR && node index.js")],
  [
    "a module of a dependency",
    { Procfile: "web: gunicorn mlflow.server:app", "requirements.txt": "mlflow", "x.py": "" },
  ],
  [
    "a module below a folder",
    { Procfile: "web: gunicorn --chdir src app:app", "requirements.txt": "", "src/app.py": "" },
  ],
  ["a package", { Procfile: "web: gunicorn shop:app", "requirements.txt": "", "shop/__init__.py": "" }],
  ["a module of Python's own", { Procfile: "web: python -m http.server $PORT", "requirements.txt": "", "x.py": "" }],
])("no error where %s", (_, files) => {
  expect(outcomeOf(files)).toMatchObject({ ok: true });
});
