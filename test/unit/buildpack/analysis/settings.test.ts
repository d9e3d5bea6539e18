import { describe, expect, test } from "vitest";
import { noSettings, type Settings } from "../../../../api/stored-settings.ts";
import { analyze } from "../../../../buildpack/analysis/analyze.ts";
import type { Plan } from "../../../../buildpack/analysis/plan.ts";
import { tree } from "./tree.ts";

type Files = Record<string, string | object>;
const server = "require('http').createServer().listen(process.env.PORT)";
const manifest = { scripts: { start: "node server.js", build: "node build.js" }, dependencies: { express: "5" } };
const app: Files = { "package.json": manifest, "server.js": server };

const of = (files: Files, settings: Partial<Settings> = {}) => analyze(tree(files), { ...noSettings, ...settings });
function planOf(files: Files, settings: Partial<Settings> = {}): Plan {
  const outcome = of(files, settings);
  if (!outcome.ok) throw new Error(outcome.error.message);
  return outcome.analysis.plan;
}
function errorOf(files: Files, settings: Partial<Settings> = {}): string {
  const outcome = of(files, settings);
  return outcome.ok ? `a plan: ${outcome.analysis.plan.start}` : outcome.error.message;
}
function findingsOf(files: Files, settings: Partial<Settings> = {}) {
  const outcome = of(files, settings);
  return outcome.ok ? outcome.findings : [];
}

describe("what detection alone says", () => {
  const detectedOf = (files: Files, settings: Partial<Settings> = {}) => {
    const outcome = of(files, settings);
    return outcome.ok ? outcome.detected : outcome.error.message;
  };
  const plain = {
    rootDirectory: "",
    packageManager: "npm",
    installCommand: "npm install",
    buildCommand: "npm run build",
    startCommand: "node server.js",
    port: 8080,
  };

  test("is reported beside settings that replace it, in a file too", () => {
    expect(detectedOf(app)).toEqual(plain);
    const settings = { installCommand: "", buildCommand: "make", startCommand: "python app.py" };
    expect(detectedOf(app, settings)).toEqual(plain);
    expect(detectedOf({ ...app, "slipway.json": { startCommand: "node other.js" } })).toEqual(plain);
  });

  test("is null where nothing is detected without the setting", () => {
    expect(detectedOf({ "lib/sum.js": "exports.sum = 1" }, { startCommand: "node lib/sum.js" })).toMatchObject({
      startCommand: null,
      rootDirectory: "",
    });
  });

  test("names the folder that would be chosen, and the commands of the folder that is set", () => {
    const files = {
      "package.json": { name: "tools" },
      "apps/web/package.json": { ...manifest, scripts: { start: "node web.js" } },
      "apps/web/web.js": server,
      "server.js": server,
    };
    expect(detectedOf(files, { rootDirectory: "apps/web" })).toMatchObject({
      rootDirectory: "",
      startCommand: "node web.js",
      buildCommand: null,
    });
  });
});

describe("slipway.json", () => {
  test("wins over the project's settings, and a null in it means detection", () => {
    const file = { $schema: "x", installCommand: "npm i", buildCommand: null, memory: 1024 };
    const outcome = of(
      { ...app, "slipway.json": file },
      { installCommand: "no", buildCommand: "no", startCommand: "node --trace-warnings server.js", memory: 512 },
    );
    if (!outcome.ok) throw new Error(outcome.error.message);
    expect(outcome.analysis.plan).toMatchObject({
      install: "npm i",
      build: "npm run build",
      start: "node --trace-warnings server.js",
    });
    expect(outcome.settings).toMatchObject({ memory: 1024, buildCommand: null });
    expect(outcome.findings).toEqual([
      { code: "setting", message: "installCommand comes from slipway.json.", file: "slipway.json", line: 3 },
      { code: "setting", message: "startCommand comes from the project's settings.", file: null, line: null },
      { code: "setting", message: "memory comes from slipway.json.", file: "slipway.json", line: 5 },
    ]);
  });

  test("stands at the archive's root, of which a single folder at the top is one", () => {
    expect(findingsOf({ "repo/package.json": manifest, "repo/slipway.json": { instances: 2 } })).toHaveLength(1);
    expect(
      findingsOf({ "repo/package.json": manifest, "__MACOSX/x": "", "repo/slipway.json": { instances: 2 } }),
    ).toEqual([expect.objectContaining({ file: "slipway.json" })]);
    expect(findingsOf({ ...app, "config/slipway.json": { instances: 2 } })).toEqual([]);
  });

  test("inside rootDirectory is not read", () => {
    const files = {
      "slipway.json": { rootDirectory: "apps/web" },
      "apps/web/package.json": manifest,
      "apps/web/slipway.json": { rootDirectory: "nowhere", instances: 99 },
    };
    expect(findingsOf(files).map(({ message }) => message)).toEqual(["rootDirectory comes from slipway.json."]);
  });

  test.each([
    ["not JSON", '{"memory": 512,\n}', "slipway.json is not valid JSON (line 2)"],
    ["empty", "", "slipway.json is not valid JSON: it is empty"],
    ["a list", "[]", "slipway.json holds no JSON object"],
    [
      "a wrong field",
      '{\n"memory": 500}',
      "slipway.json (line 2) breaks a rule: memory must be one of 512, 1024, 2048",
    ],
    ["a misspelled field", '{\n\n"memroy": 512}', "slipway.json (line 3) breaks a rule: has no field memroy"],
    ["a long command", { startCommand: "x".repeat(4097) }, "startCommand must have at most 4096 characters"],
    [
      "two wrong fields",
      { instances: 0, healthPath: "x" },
      "healthPath must start with /; instances must be an integer",
    ],
  ])("that is %s ends the build with a message that names file, field and rule", (_, content, message) => {
    expect(errorOf({ ...app, "slipway.json": content })).toContain(message);
  });
});

describe("rootDirectory", () => {
  const repository: Files = {
    "apps/web/package.json": manifest,
    "apps/web/server.js": server,
    "apps/api/package.json": { scripts: { start: "node api.js" } },
    "apps/api/api.js": server,
  };

  test("chooses one app of several, whatever way it is written", () => {
    expect(errorOf(repository)).toContain("Found apps in apps/api, apps/web");
    for (const rootDirectory of ["apps/api", "./apps/api/", "apps\\api", "apps//api"]) {
      expect(planOf(repository, { rootDirectory })).toMatchObject({ root: "apps/api", start: "node api.js" });
    }
  });

  test("is relative to the single folder at the top, or names that folder too", () => {
    const wrapped = Object.fromEntries(Object.entries(repository).map(([path, text]) => [`repo/${path}`, text]));
    expect(planOf(wrapped, { rootDirectory: "apps/web" }).root).toBe("repo/apps/web");
    expect(planOf(wrapped, { rootDirectory: "repo/apps/web" }).root).toBe("repo/apps/web");
  });

  test("may be the root itself, and may hold the app deeper inside", () => {
    expect(planOf(app, { rootDirectory: "." }).root).toBe("");
    const deep = { "services/main/package.json": manifest, "services/main/server.js": server, "web/package.json": {} };
    expect(planOf(deep, { rootDirectory: "services" }).root).toBe("services/main");
  });

  test("that is not there, or is a file, ends the build with the place of the setting and the folders seen", () => {
    expect(errorOf(repository, { rootDirectory: "apps/wbe" })).toBe(
      'rootDirectory in the project\'s settings names "apps/wbe", which is not a folder of the archive. Correct it and deploy again. Folders seen: apps/api and apps/web.',
    );
    const files = { ...repository, "slipway.json": { rootDirectory: "apps/web/server.js" } };
    expect(errorOf(files)).toContain('rootDirectory in slipway.json names "apps/web/server.js", which is a file');
    expect(errorOf({ ...repository, "apps/webs/x": "" }, { rootDirectory: "apps/we" })).toContain("not a folder");
  });
});

describe("commands", () => {
  test("take the place of the detected ones", () => {
    const settings = {
      installCommand: "npm i --no-audit",
      buildCommand: "make",
      startCommand: "node x.mjs --port $PORT",
    };
    expect(planOf(app, settings)).toMatchObject({
      install: "npm i --no-audit",
      installsNothing: false,
      build: "make",
      start: "node x.mjs --port $PORT",
      manifests: null,
    });
  });

  test("that are empty skip install and build", () => {
    expect(planOf(app, { installCommand: "", buildCommand: " " })).toMatchObject({
      install: null,
      installsNothing: true,
      build: null,
      start: "node server.js",
    });
    const python = { "requirements.txt": "flask", "app.py": "from flask import Flask\napp = Flask(__name__)" };
    expect(planOf(python, { installCommand: "" })).toMatchObject({ install: null, addedPackages: [] });
  });

  test("that start a package's script start the script itself, so that it gets the signals", () => {
    expect(planOf(app, { startCommand: "npm start" }).start).toBe("node server.js");
  });

  test("keep the build that a framework needs, and serve what would be a static site", () => {
    const next = { "package.json": { dependencies: { next: "16" } }, "app/page.js": "" };
    expect(planOf(next, { startCommand: "next start -p $PORT" })).toMatchObject({ build: "next build" });
    const vite = {
      "package.json": { scripts: { build: "vite build" }, devDependencies: { vite: "7" } },
      "index.html": "",
    };
    expect(planOf(vite).static).not.toBeNull();
    expect(planOf(vite, { startCommand: "node own.js" })).toMatchObject({ static: null, build: "npm run build" });
  });

  test("tell the language, and start what has no marker", () => {
    const both = { ...app, "requirements.txt": "flask", "serve.py": "x = 1" };
    expect(planOf(both, { startCommand: "python serve.py" }).language).toBe("python");
    expect(planOf({ "run/serve.mjs": server }, { startCommand: "node run/serve.mjs" })).toMatchObject({
      root: "",
      start: "node run/serve.mjs",
      install: null,
    });
    expect(errorOf(app, { startCommand: "java -jar app.jar" })).toContain('startCommand starts "java"');
  });

  test("with a fixed port say which port the app listens on", () => {
    expect(planOf(app, { startCommand: "node x.js --port 3000" }).port).toBe(3000);
    expect(planOf(app, { startCommand: "node x.js --port $PORT" }).port).toBe(8080);
  });
});
