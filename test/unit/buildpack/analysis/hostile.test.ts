import { expect, test } from "vitest";
import { analyze, analyzeWithSecrets } from "../../../../buildpack/analysis/analyze.ts";
import { analysisReport } from "../../../../buildpack/analysis/report.ts";
import { decodeText, type SourceFile, type SourceTree, wants } from "../../../../buildpack/analysis/tree.ts";
import { cpuTimer } from "../../../harness/cpu-time.ts";
import { anyText, fc } from "../../../harness/fast-check.ts";
import { analysisOf, errorOf, outcomeOf, tree } from "./tree.ts";

const SENTENCE = /^[A-Z.\w"'][^\0]{10,1500}[.!]$/;

test.each([
  ["empty", ""],
  ["not JSON", "{"],
  ["a list", "[]"],
  ["null", "null"],
  ["a number", "7"],
  ["with comments", '{\n  // x\n  "scripts": {}\n}'],
  ["with a conflict", "<<<<<<< HEAD\n{}\n"],
  ["deeply nested", `${"[".repeat(100_000)}`],
])("a package.json that is %s is a broken manifest, said in a sentence", (_, text) => {
  const { code, message } = errorOf({ "package.json": text });
  expect(code).toBe("broken_manifest");
  expect(message).toMatch(SENTENCE);
  expect(message).toContain("package.json");
});

test("the line of a mistake is named", () => {
  expect(
    errorOf({ "package.json": '{\n  "a": 1,\n  "b": ,\n  "c": "some long value here so that nothing is cut"\n}' })
      .message,
  ).toBe("package.json is not valid JSON (line 3). Correct it and deploy again.");
  expect(errorOf({ "pyproject.toml": '[project]\nname = "a\n' }).message).toMatch(
    /^pyproject\.toml is not valid TOML \(line 2, column \d+\)\./,
  );
});

test("manifests that are links, binary or too large are broken, in a sentence", () => {
  for (const file of [
    { size: 3, kind: "symlink" as const },
    { size: 99, kind: "file" as const, text: () => undefined },
    { size: 3, kind: "file" as const, text: () => "\0\0\0" },
  ]) {
    const outcome = analyze({ files: new Map<string, SourceFile>([["package.json", file]]) });
    expect(outcome).toMatchObject({
      ok: false,
      error: { code: "broken_manifest", message: expect.stringMatching(SENTENCE) },
    });
  }
});

test("fields of the wrong type are as if they were missing", () => {
  const manifest = {
    scripts: { start: 7, build: ["x"] },
    engines: [],
    dependencies: "a",
    devDependencies: null,
    main: {},
    packageManager: 9,
    volta: "x",
    workspaces: 5,
    devEngines: [],
  };
  expect(analysisOf({ "package.json": manifest, "server.js": "" }).plan.start).toBe("node server.js");
});

test.each<[string, (deep: string) => Record<string, string>]>([
  [
    "engines.node",
    (deep) => ({ "package.json": `{"engines": {"node": ${deep}}, "scripts": {"start": "node a.js"}}`, "a.js": "" }),
  ],
  [
    "packageManager",
    (deep) => ({ "package.json": `{"packageManager": ${deep}, "scripts": {"start": "node a.js"}}`, "a.js": "" }),
  ],
  [
    "Pipfile.lock's python_version",
    (deep) => ({ "main.py": "", "Pipfile.lock": `{"_meta": {"requires": {"python_version": ${deep}}}}` }),
  ],
])("a value of %s that is nested ten thousand levels deep is ignored with a warning", (_, files) => {
  for (const deep of ["[".repeat(10_000) + "]".repeat(10_000), `${'{"a":'.repeat(10_000)}1${"}".repeat(10_000)}`]) {
    const { warnings } = analysisOf(files(deep));
    expect(warnings).toMatchObject([expect.stringMatching(SENTENCE)]);
    expect(warnings[0]?.length).toBeLessThan(300);
  }
});

test("keys that name parts of every object are names like any other", () => {
  const text =
    '{"__proto__": {"scripts": {"start": "evil"}}, "constructor": {"prototype": {"x": 1}}, "scripts": {"__proto__": "x", "start": "node server.js"}, "dependencies": {"constructor": "1", "toString": "2", "__proto__": "3"}}';
  const analysis = analysisOf({ "package.json": text, "server.js": "" });
  expect(analysis.plan.start).toBe("node server.js");
  expect(Object.hasOwn(Object.prototype, "x")).toBe(false);
});

test.each([
  ["addresses that are only logged", "console.log('http://localhost:3000')\n".repeat(25_000)],
  [
    "calls that listen on a name without a number",
    `${"port: a || ".repeat(40_000)}\n${"app.listen(port)\n".repeat(2000)}`,
  ],
])("a source of thousands of %s is soon read", (_, source) => {
  const spent = cpuTimer();
  const files = { "package.json": { scripts: { start: "node server.js" } }, "server.js": source };
  expect(analysisOf(files).suggestions).toEqual([]);
  expect(spent()).toBeLessThan(2000);
});

test("a package.json of ten megabytes and a version file of one are read", () => {
  const dependencies = Object.fromEntries(
    Array.from({ length: 250_000 }, (_, index) => [`package-number-${index}`, `^${index}.0.0`]),
  );
  const text = JSON.stringify({ scripts: { start: "node server.js" }, dependencies });
  expect(text.length).toBeGreaterThan(8_000_000);
  expect(analysisOf({ "package.json": text, "server.js": "", ".nvmrc": "2".repeat(1_000_000) }).runtime).toBe(
    "nodejs24.x",
  );
});

const words = [
  "start",
  "build",
  "npm run start",
  "node server.js",
  "&&",
  "||",
  "'",
  '"',
  "`",
  "$(",
  "${",
  ")",
  "cross-env",
  "A=b",
  "exec",
  "",
  " ",
  "\n",
  "\\",
  "|",
  "yarn",
  "next dev",
];
test("no command line, however odd, breaks the analysis", () => {
  fc.assert(
    fc.property(
      fc.array(fc.constantFrom(...words), { maxLength: 8 }),
      fc.array(fc.constantFrom(...words), { maxLength: 8 }),
      (start, serve) => {
        const outcome = outcomeOf({
          "package.json": { scripts: { start: start.join(" "), serve: serve.join(""), prestart: serve.join(" ") } },
          "server.js": "",
          Procfile: `web: ${serve.join(" ")}`,
        });
        analysisReport("x", outcome);
      },
    ),
    { numRuns: 150 },
  );
});

const names = [
  "package.json",
  "package-lock.json",
  "pnpm-lock.yaml",
  "yarn.lock",
  ".yarnrc.yml",
  "bun.lock",
  "angular.json",
  "vite.config.js",
  "index.html",
  "svelte.config.js",
  ".nvmrc",
  ".tool-versions",
  "mise.toml",
  "requirements.txt",
  "pyproject.toml",
  "Pipfile",
  "Pipfile.lock",
  "uv.lock",
  "poetry.lock",
  "setup.py",
  "manage.py",
  "a/settings.py",
  "a/wsgi.py",
  "Procfile",
  ".python-version",
  "runtime.txt",
  "main.py",
  "server.js",
  "src/index.ts",
  ".env",
  "go.mod",
  "web/package.json",
];
const json = fc.json({ maxDepth: 4 });
const manifest = fc
  .record(
    {
      scripts: fc.anything(),
      engines: fc.anything(),
      dependencies: fc.dictionary(
        fc.constantFrom("next", "vite", "express", "astro", "nuxt", "__proto__"),
        fc.anything(),
      ),
      packageManager: fc.anything(),
      devEngines: fc.anything(),
      main: fc.anything(),
      workspaces: fc.anything(),
      volta: fc.anything(),
    },
    { requiredKeys: [] },
  )
  .map((value) => JSON.stringify(value) ?? "");
const text = fc.oneof(
  anyText({ maxLength: 200 }),
  json,
  manifest,
  fc.constantFrom(
    "[project]\nrequires-python = 3\ndependencies = [1, {}]",
    "[tool.poetry]\ndependencies = 7",
    "[tool.poetry.dependencies]\npython = []",
    "app = FastAPI()\napp.run(port=1)",
    "lockfileVersion: x",
    "web: ",
    "[tools]\nnode = [{}]\npython = {version = 3}",
  ),
);

test("no archive, however odd, breaks the analysis: a plan or a sentence", async () => {
  await fc.assert(
    fc.asyncProperty(fc.dictionary(fc.constantFrom(...names), text, { maxKeys: 8 }), async (files) => {
      const outcome = await analyzeWithSecrets(tree({ ...files }));
      const report = analysisReport("x", outcome);
      expect(JSON.parse(JSON.stringify(report))).toEqual(report);
      if (report.error !== null) expect(report.error.message).toMatch(SENTENCE);
      for (const line of report.warning?.split("\n") ?? []) expect(line).toMatch(SENTENCE);
      expect(report.suggestions.length).toBeLessThanOrEqual(6);
      for (const { file, line, message } of report.suggestions) {
        expect(message).toMatch(SENTENCE);
        expect(Object.keys(files).some((path) => path.endsWith(file))).toBe(true);
        expect(line).toBeGreaterThan(0);
      }
    }),
    { numRuns: 200 },
  );
}, 60_000);

const samples: Record<string, Record<string, string>> = {
  node: {
    "package.json":
      '{\n  "scripts": {\n    "start": "nodemon a.js"\n  },\n  "dependencies": {"a": "1"},\n  "engines": {"node": "18"}\n}',
    "a.js": "app.listen(3000)\nfetch('http://localhost:1')",
    ".nvmrc": "20\n",
    "yarn.lock": '# yarn lockfile v1\n\na@1:\n  version "1"\n',
  },
  python: {
    "requirements.txt": "flask\n# x\n",
    "app.py": "from flask import Flask\n\napp = Flask(__name__)\n",
    ".python-version": "3.11\n",
    Procfile: "web: gunicorn app:app\nrelease: x\n",
  },
  broken: { "package.json": '{\n "a": ,\n "b": "a value that makes the text long enough to be cut"\n}' },
};

const wrapped = (files: Record<string, string>) =>
  Object.fromEntries(Object.entries(files).map(([path, content]) => [`repo-main/${path}`, content]));
const bytesOf = (files: Record<string, string>, encode: (content: string) => Uint8Array): SourceTree => ({
  files: new Map(
    Object.entries(files).map(([path, content]) => [
      path,
      { size: 1, kind: "file" as const, text: () => decodeText(encode(content)) },
    ]),
  ),
});

test.each(Object.keys(samples))("the way an archive is written changes nothing (%s)", (name) => {
  const files = samples[name] ?? {};
  const plain = analysisReport("x", analyze(tree(files)));
  expect({ ...analysisReport("x", analyze(tree(wrapped(files)))), root: plain.root }).toEqual(plain);
  expect(
    analysisReport(
      "x",
      analyze(
        tree({
          ...files,
          ...Object.fromEntries(Object.entries(files).map(([path, content]) => [`__MACOSX/._${path}`, content])),
          ".DS_Store": "",
        }),
      ),
    ),
  ).toEqual(plain);
  const encodings: ((content: string) => Uint8Array)[] = [
    (content) => Buffer.from(content.replaceAll("\n", "\r\n")),
    (content) => Buffer.from(content.replaceAll("\n", "\r")),
    (content) => Buffer.from(`\ufeff${content}`),
    (content) => Buffer.from(`\ufeff${content}`, "utf16le"),
    (content) => Buffer.from(content, "utf16le"),
    (content) => Buffer.from(`\ufeff${content}`, "utf16le").swap16(),
  ];
  for (const encode of encodings) expect(analysisReport("x", analyze(bytesOf(files, encode)))).toEqual(plain);
});

test("a wrapped app is planned in its folder, and its files are named without it", () => {
  const report = analysisReport("x", analyze(tree(wrapped(samples.node ?? {}))));
  expect(report.root).toBe("repo-main");
  expect(report.suggestions.map(({ file }) => file)).toContain("a.js");
});

test("the text of manifests and written sources is wanted, of packages, bundles and large files it is not", () => {
  for (const path of [
    "package.json",
    "web/package.json",
    "pnpm-lock.yaml",
    ".nvmrc",
    "requirements.txt",
    "requirements/base.txt",
    "Procfile",
    "src/a.ts",
    ".env",
    "app/main.py",
    "mise.toml",
    "angular.json",
  ]) {
    expect(wants(path, 1000)).toBe(true);
  }
  for (const path of [
    "node_modules/a/package.json",
    "dist/a.js",
    "public/a.min.js",
    "logo.png",
    "video.mp4",
    "__MACOSX/._package.json",
    ".git/config",
    ".venv/lib/a.py",
  ]) {
    expect(wants(path, 1000)).toBe(false);
  }
  expect(wants("src/a.ts", 2_000_000)).toBe(false);
  expect(wants("package-lock.json", 20_000_000)).toBe(true);
  expect(wants("package-lock.json", 200_000_000)).toBe(false);
});

test.each<[string, Record<string, string | object>]>([
  [
    "comments of a configuration that do not end",
    {
      "package.json": { scripts: { build: "vite build" }, devDependencies: { vite: "5" } },
      "index.html": "",
      "vite.config.js": "/* ".repeat(100_000),
    },
  ],
  ["a name that is listened on again and again", { "main.py": ".listen(env env ".repeat(18_000) }],
  ["settings that do not end", { "main.py": "BaseSettings\n".repeat(75_000) }],
  ["an environment that is not taken apart", { "server.js": `{${"PORT\n".repeat(60_000)}` }],
])("%s cost no more than their length", (_, files) => {
  const spent = cpuTimer();
  outcomeOf(files);
  expect(spent()).toBeLessThan(3000);
});
