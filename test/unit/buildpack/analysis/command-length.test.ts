import { expect, test } from "vitest";
import { analysisReport } from "../../../../buildpack/analysis/report.ts";
import { errorOf, outcomeOf } from "./tree.ts";

const words = (length: number) => "node a.js ".repeat(length).slice(0, length).trimEnd().padEnd(length, "x");

test.each<[string, Record<string, string>, string]>([
  [
    "a web line",
    { "package.json": "{}", Procfile: `\nweb: ${words(4092)}` },
    "The web line of Procfile (line 2) has 4097 characters",
  ],
  [
    "a start script",
    { "package.json": `{\n  "scripts": {\n    "start": "${words(4097)}"\n  }\n}` },
    'The script "start" of package.json (line 3) has 4097 characters',
  ],
  [
    "a script that nothing starts",
    { "package.json": JSON.stringify({ scripts: { start: "node a.js", lint: words(5000) } }) },
    'The script "lint" of package.json (line 1) has 5000 characters',
  ],
  [
    "a web line of Python",
    { "requirements.txt": "", Procfile: `web: gunicorn ${words(4097)}` },
    "The web line of Procfile (line 1)",
  ],
])("%s of more than 4,096 characters is a broken manifest, with its file and line", (_, files, sentence) => {
  expect(errorOf(files)).toEqual({
    code: "broken_manifest",
    message: expect.stringContaining(`${sentence}`),
  });
});

test("a command line of 4,096 characters is one", () => {
  expect(outcomeOf({ "package.json": "{}", "a.js": "", Procfile: `web: ${words(4091)}` }).ok).toBe(true);
  expect(outcomeOf({ "package.json": JSON.stringify({ scripts: { start: words(4096) } }), "a.js": "" }).ok).toBe(true);
});

test.each<[string, Record<string, string>, string | null, string | null]>([
  ["a Node.js app without a start", { "package.json": '{"engines": {"node": "22.x"}}' }, "nodejs22.x", "nodejs"],
  [
    "a script that is too long",
    { "package.json": JSON.stringify({ scripts: { x: words(9999) } }) },
    "nodejs24.x",
    "nodejs",
  ],
  ["a Python app without a start", { "requirements.txt": "x", ".python-version": "3.12" }, "python3.12", "python"],
  ["nothing that is known", { "README.md": "" }, null, null],
])("an error reports the runtime if it was detected before: %s", (_, files, runtime, language) => {
  const outcome = outcomeOf(files);
  expect(outcome).toMatchObject({ ok: false, runtime });
  expect(analysisReport("x", outcome)).toMatchObject({ runtime, language, start: null });
});
