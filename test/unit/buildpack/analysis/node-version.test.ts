import { expect, test } from "vitest";
import { cpuTimer } from "../../../harness/cpu-time.ts";
import { analysisOf } from "./tree.ts";

const app = { "package.json": { scripts: { start: "node server.js" } }, "server.js": "" };
const engines = (node: unknown) => ({
  ...app,
  "package.json": { scripts: { start: "node server.js" }, engines: { node } },
});
const withFile = (files: Record<string, string>) => ({ ...app, ...files });

const declared: Record<string, { line: string; warns: boolean; values: string[] }> = {
  "24": {
    line: "24",
    warns: false,
    values: [
      "*",
      ">=18",
      ">=20",
      "^18 || ^20 || >=22",
      "24",
      "v24.3.0",
      "~24",
      "lts/*",
      "lts/krypton",
      "22 - 24",
      ">22",
      ">= 18.0.0",
      "24.x",
      "24.0.0",
      "x",
      "lts",
      "LTS/Krypton",
      "node-v24.1.0",
      "=24",
    ],
  },
  "26": {
    line: "26",
    warns: false,
    values: ["26.x", "^26", ">=26", "node", "latest", "current", "lts/lithium", "v26.1.0"],
  },
  "22": {
    line: "22",
    warns: false,
    values: [
      "^22.1",
      "22.x.x",
      "20 || 22",
      ">=22 <24",
      "lts/jod",
      "lts/-1",
      "<=22",
      "22.14.0",
      ">=18 <=22",
      "^20.9 || ^22",
      ">=18 <23",
    ],
  },
  "22 with a warning": {
    line: "22",
    warns: true,
    values: [
      "16",
      "18",
      "20",
      "lts/iron",
      ">=18 <21",
      "4.2.x",
      "v18.17.1",
      "~20.10",
      "0.12",
      "lts/-2",
      "21",
      "14 || 16",
    ],
  },
  "24 with a warning": { line: "24", warns: true, values: ["23.x", "21 || 23"] },
  "26 with a warning": { line: "26", warns: true, values: ["25", "27", ">=27"] },
};

for (const [title, { line, warns, values }] of Object.entries(declared)) {
  test.each(values)(`engines.node %j gives ${title}`, (value) => {
    const { runtime, warnings } = analysisOf(engines(value));
    expect(runtime).toBe(`nodejs${line}.x`);
    expect(warnings).toHaveLength(warns ? 1 : 0);
  });
  test.each(values)(`.nvmrc %j gives ${title}`, (value) => {
    const { runtime, warnings } = analysisOf(withFile({ ".nvmrc": `${value}\n` }));
    expect(runtime).toBe(`nodejs${line}.x`);
    expect(warnings).toHaveLength(warns ? 1 : 0);
  });
}

test("an app that declares nothing runs on Node.js 24", () => {
  expect(analysisOf(app)).toMatchObject({ runtime: "nodejs24.x", warnings: [] });
  expect(analysisOf(engines(""))).toMatchObject({ runtime: "nodejs24.x", warnings: [] });
});

test("a line that reached end of life is replaced by the nearest above, in a sentence that says what to write", () => {
  expect(analysisOf(engines("18")).warnings).toEqual([
    'engines.node asks for Node.js 18, which reached end of life on 2025-04-30 and is not offered. Node.js 22 is used. Set engines.node to "22.x", "24.x" or "26.x".',
  ]);
  expect(analysisOf(withFile({ ".nvmrc": "27" })).warnings).toEqual([
    ".nvmrc asks for Node.js 27, which is not offered. Node.js 26 is used. Write 22, 24 or 26 in .nvmrc.",
  ]);
});

test.each([
  [">=27", "27"],
  [">26", "27"],
  [">=16 <21", "20"],
  ["18 || 20", "20"],
  ["<18", "17"],
  ["23 || 25", "25"],
])("of %s it is Node.js %s that is named as not offered", (range, line) => {
  expect(analysisOf(engines(range)).warnings[0]).toContain(`asks for Node.js ${line}, which `);
});

const ranked: [string, (version: string) => Record<string, string | object>][] = [
  [".nvmrc", (version) => ({ ".nvmrc": version })],
  [".node-version", (version) => ({ ".node-version": version })],
  ["engines.node", (version) => ({ engines: { node: version } })],
  ["devEngines.runtime", (version) => ({ devEngines: { runtime: { name: "node", version } } })],
  ["volta.node", (version) => ({ volta: { node: `${version}.1.0` } })],
  [".tool-versions", (version) => ({ ".tool-versions": `# tools\nnodejs ${version}.1.0 system\n` })],
  ["mise.toml", (version) => ({ "mise.toml": `[tools]\nnode = ["${version}", "20"]\n` })],
];

test.each(ranked.map(([name], index) => [name, index] as const))(
  "%s beats every source that ranks below it",
  (_, index) => {
    const files = Object.assign(
      {},
      ...ranked.slice(index).map(([, source], below) => source(below === 0 ? "22" : "26")),
    );
    const { engines, devEngines, volta, ...others } = files;
    const manifest = { scripts: { start: "node server.js" }, engines, devEngines, volta };
    expect(analysisOf({ ...app, "package.json": manifest, ...others }).runtime).toBe("nodejs22.x");
  },
);

test("devEngines may list several runtimes", () => {
  const runtime = [
    { name: "bun", version: "1" },
    { name: "node", version: "^22" },
  ];
  expect(
    analysisOf({ ...app, "package.json": { scripts: { start: "node server.js" }, devEngines: { runtime } } }).runtime,
  ).toBe("nodejs22.x");
});

test("comments, blank lines and settings in .nvmrc are ignored", () => {
  expect(analysisOf(withFile({ ".nvmrc": "# the line we test on\n\nv22 # jod\n" })).runtime).toBe("nodejs22.x");
});

test.each(["system", "iojs", "my-alias", "", "18 LTS", ">=24 <22", "1".repeat(1_000_000)])(
  "an unreadable version (%#) is ignored with a warning, and the next source decides",
  (value) => {
    const { runtime, warnings } = analysisOf({
      ...withFile({ ".nvmrc": value }),
      "package.json": { scripts: { start: "node server.js" }, engines: { node: "22" } },
    });
    expect(runtime).toBe("nodejs22.x");
    expect(warnings).toHaveLength(1);
    expect(warnings[0]).toContain(".nvmrc");
    expect(warnings[0]?.length).toBeLessThan(300);
  },
);

test("sources that disagree are a suggestion on the one that loses", () => {
  const { runtime, suggestions } = analysisOf({
    ...withFile({ ".nvmrc": "22" }),
    "package.json": '{\n  "scripts": {"start": "node server.js"},\n  "engines": {\n    "node": ">=24"\n  }\n}',
  });
  expect(runtime).toBe("nodejs22.x");
  expect(suggestions).toEqual([
    {
      code: "version_conflict",
      message: '.nvmrc asks for Node.js 22 but engines.node asks for ">=24". Node.js 22 is used; make them agree.',
      file: "package.json",
      line: 4,
    },
  ]);
});

test("sources that can both be met do not disagree", () => {
  expect(
    analysisOf({
      ...withFile({ ".nvmrc": "v22.11.0" }),
      "package.json": { scripts: { start: "node server.js" }, engines: { node: ">=18" } },
    }).suggestions,
  ).toEqual([]);
});

test("a mise.toml with only empty lines is read quickly", () => {
  const spent = cpuTimer();
  expect(analysisOf(withFile({ "mise.toml": "\n".repeat(200_000) })).runtime).toBe("nodejs24.x");
  expect(spent()).toBeLessThan(3000);
});

test.each<[string, Record<string, string | object>, Record<string, string>]>([
  ["npm", { "package.json": { engines: { node: "16" } } }, {}],
  [
    "npm that is strict",
    { "package.json": { engines: { node: "16" } }, ".npmrc": "audit=false\nengine-strict = true\n" },
    { NPM_CONFIG_ENGINE_STRICT: "false" },
  ],
  [
    "yarn 1",
    { "package.json": { engines: { node: "16" } }, "yarn.lock": "# yarn lockfile v1\n" },
    { YARN_IGNORE_ENGINES: "true", YARN_NODE_LINKER: "node-modules" },
  ],
  [
    "yarn 4, which knows no such setting",
    { "package.json": { engines: { node: "16" }, packageManager: "yarn@4.1.0" } },
    { YARN_NODE_LINKER: "node-modules" },
  ],
  [
    "npm with devEngines",
    { "package.json": { devEngines: { runtime: { name: "node", version: "16" } } } },
    { NPM_CONFIG_FORCE: "true" },
  ],
])("a line that is not offered fails no installation: %s", (_, files, env) => {
  expect(analysisOf({ "server.js": "", ...files }).plan.buildEnv).toEqual(env);
});

test.each([
  ["pnpm-workspace.yaml", "engineStrict: true\n", " --config.engine-strict=false"],
  [".npmrc", "engine-strict=true\n", " --config.engine-strict=false"],
  [".npmrc", "engine-strict=false\n", ""],
])("a line that is not offered fails no installation by pnpm: %s %j", (file, text, flag) => {
  const manifest = { packageManager: "pnpm@10.1.0", engines: { node: "16" }, dependencies: { a: "1" } };
  expect(analysisOf({ "server.js": "", "package.json": manifest, [file]: text }).plan.install).toBe(
    `pnpm install --no-frozen-lockfile${flag}`,
  );
});
