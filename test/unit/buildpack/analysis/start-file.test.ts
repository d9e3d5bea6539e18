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

const messageOf = (files: Files): string => {
  const outcome = outcomeOf(files);
  return outcome.ok ? "" : outcome.error.message;
};

test.each([
  "node",
  "nodejs",
  "nodemon",
  "tsx",
  "ts-node",
  "bun",
  "node -r dotenv/config",
  "node --require x",
  "node --import x",
  "node --loader x",
  "node --experimental-loader x",
  "node -C x",
  "node --conditions x",
  "node --env-file x",
  "node --env-file-if-exists x",
  "ts-node --project x",
  "ts-node -P x",
  "tsx --tsconfig x",
  "node --title x",
  "node --env-file=x --watch",
  "node --import=x",
  "node --no--title",
])("%s runs the file after its options", (command) => {
  expect(messageOf(node(`${command} run.js`))).toContain("runs run.js, which is not in the archive");
});

test.each([
  ["node ./run.js", "run.js"],
  ["node .//./run.js", "run.js"],
  ["node ././run.js", "run.js"],
  ["node run//", "run"],
  ["node lib/./run.mts", ""],
  ["node ../run.js", ""],
  ["node .", ""],
  ["node ..", ""],
  ["node lib/..", ""],
  ["node lib/.", ""],
  ["node node_modules/x/run.js", ""],
  ["node lib/node_modules", ""],
  ["node /srv/run.js", ""],
  ["node 'my file.js'", ""],
  ["node run$X.js", ""],
  ["nodejs run", "run"],
  ["node run-e.js", "run-e.js"],
  ["tsx run", ""],
  ["tsx run.mts", "run.mts"],
  ["tsx run.cjsx", "run.cjsx"],
  ["bun run.json", ""],
  ["bun run.js.d", ""],
  ["my-node run.js", ""],
  ["node-dev run.js", ""],
  ["node -e 1 run.js", ""],
  ["node --eval 1 run.js", ""],
  ["node -p 1 run.js", ""],
  ["node --print 1 run.js", ""],
  ["nodemon -x sh run.js", ""],
  ["nodemon --exec sh run.js", ""],
  ["node -c run.js", ""],
  ["node --check run.js", ""],
  ["node --test run.js", ""],
  ["node --run web run.js", ""],
  ["node", ""],
  ["node --title", ""],
  ["cd api && node run.js", "api/run.js"],
  ["export A=1 && node run.js", "run.js"],
  ["set -e && node run.js", "run.js"],
  ["mycd api && node run.js", ""],
  ["make && node run.js", ""],
])("the file of %j is %j", (command, path) => {
  const files = node(command, { "x:lint": "eslint" });
  if (path === "") expect(messageOf(files)).toBe("");
  else expect(messageOf(files)).toContain(`runs ${path}, which is not in the archive`);
});

test.each([
  "run",
  "run.js",
  "run.cjs",
  "run.mjs",
  "run.json",
  "run.node",
  "run.ts",
  "run.mts",
  "run.cts",
  "run.tsx",
  "run.jsx",
])("%s may be the file run", (name) => {
  expect(messageOf({ ...node("node run"), [name]: "" })).toBe("");
  if (name !== "run") expect(messageOf({ ...node("node run"), [`run/index${name.slice(3)}`]: "" })).toBe("");
});

test.each(["preinstall", "install", "postinstall", "prepublish", "prepare"])(
  "the script %s may make the file",
  (name) => {
    expect(messageOf(node("node run.js", { [name]: "tsc" }))).toBe("");
    expect(messageOf(node("node run.js", { [`my${name}`]: "cp" }))).toContain("package.json has no build script");
  },
);

test.each<[object, string]>([
  [{}, "and package.json has no build script. Add the file"],
  [{ lint: "eslint", seed: 7, go: "my-tsc-x" }, 'no script is called "build" (go is never run)'],
  [{ lint: "eslint", seed: 7 }, "and package.json has no build script."],
  [{ dist: "webpack" }, 'and no script is called "build" (dist is never run). Add the file'],
  [{ dist: "esbuild a.ts", pack: "ncc build" }, "(dist and pack are never run)"],
  [{ compile: 7 }, "(compile is never run)"],
  [{ bundle: "x", transpile: "y" }, "(bundle and transpile are never run)"],
])("the scripts %j are named if they may build the file", (scripts, sentence) => {
  expect(messageOf(node("node run.js", scripts))).toContain(sentence);
});

test("the start script itself is not named as one that may build", () => {
  expect(messageOf({ "package.json": { scripts: { start: "node tsc.js" } } })).toContain("has no build script");
});

test.each([
  ["python run.py", "run.py"],
  ["python3.12 -u run.py", "run.py"],
  ["/usr/bin/python -O run.py", "run.py"],
  ["python -X dev run.py", ""],
  ["python ././lib/my-run.py", "lib/my-run.py"],
  ["python lib/web/run.py", "lib/web/run.py"],
  ["python ../run.py", ""],
  ["python run.pyc", ""],
  ["python 'my run.py'", ""],
  ["python my-Run.py", "my-Run.py"],
  ["python -m run", ""],
  ["python -c 'x' run.py", ""],
  ["python", ""],
  ["python --version", ""],
  ["cd $X && python run.py", ""],
  ["cd lib && python run.py", "lib/run.py"],
  ["pythonic run.py", ""],
  ["my/python run.py", "run.py"],
  ["gunicorn shop.web:app", "shop/web.py"],
  ["/opt/bin/uvicorn shop.web:app", "shop/web.py"],
  ["hypercorn shop:app", "shop.py"],
  ["daphne shop:app", "shop.py"],
  ["waitress-serve shop:app", "shop.py"],
  ["granian shop:app", "shop.py"],
  ["gunicorn-x shop:app", ""],
  ["gunicorn 127.0.0.1:x shop", ""],
  ["gunicorn --bind=x:80 shop:app", "shop.py"],
  ["gunicorn --log http://x:y shop:app", "shop.py"],
  ["gunicorn", ""],
  ["gunicorn flask_admin.web:app", ""],
  ["gunicorn flask.web:app", ""],
  ["gunicorn admin.web:app", "admin/web.py"],
  ["gunicorn fx.web:app", "fx/web.py"],
  ["gunicorn lask.web:app", "lask/web.py"],
  ["gunicorn web.py.x:app", "web/py/x.py"],
  ["gunicorn present:app", ""],
  ["gunicorn below:app", ""],
  ["gunicorn resent:app", "resent.py"],
])("the file or module of the Procfile's %j is %j", (command, path) => {
  const files = { "requirements.txt": "flask-admin\n", "x.py": "", "src/present.py": "", "lib/below/a.py": "" };
  const message = messageOf({ ...files, Procfile: `web: ${command}\n` });
  if (path === "") expect(message).toBe("");
  else expect(message).toContain(`in Procfile runs ${path}, which is not in the archive. Add the file`);
});
