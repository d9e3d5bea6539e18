import { expect, test } from "vitest";
import { analyzeWithSecrets } from "../../../../buildpack/analysis/analyze.ts";
import { scanSecrets } from "../../../../buildpack/analysis/secrets/scan.ts";
import { wants } from "../../../../buildpack/analysis/tree.ts";
import { cpuTimer } from "../../../harness/cpu-time.ts";
import { tree } from "./tree.ts";

// Split in two, so that secret scanners do not report this file.
const join = (...parts: string[]) => parts.join("");
const awsId = join("AKIA", "Q3EGRLV7ZK2XWPD4");
const secrets: [string, string][] = [
  ["aws/AccessKeyID", awsId],
  ["google/APIKey", join("AIzaSyD-9tSrke72Pou", "QMnMX-a7eZSW0jkFMBWY")],
  ["github/GITHUB_TOKEN", join("ghp_", "a8Kd0s9Df8g7H6j5K4l3Z2x1C0v9B8n7M6q5")],
  ["slack", join("xoxb-", "2837465920-2938475610-kJ8sHd72Lq0Zp4Wn")],
  ["stripe", join("sk_live_", "9dKf82Jd7sLq0Zp4WnB3vTxY")],
  ["slipway/Key", join("slk_", "01k9x7w2v4b6n8m0q2s4d6f8g1h3j5k7p9r2t4z")],
  ["slipway/Key", join("slp_", "01k9x7w2v4b6n8m0q2s4d6f8g1h3j5k7p9r2t4z")],
  ["database-connection-string", join("postgres://shop:", "kJh2398sdkjQ@db.prod.acme.io/shop")],
  ["npm", join("npm_", "a8Kd0s9Df8g7H6j5K4l3Z2x1C0v9B8n7M6q5")],
  ["digitalocean/Token", join("dop_v1_", "9f8e7d6c5b4a39281706f5e4d3c2b1a0".repeat(2))],
  ["supabase/SecretKey", join("sb_secret_", "Kd82Jd7sLq0Zp4WnB3vTxY_h4Rt9Pq2")],
  ["discord/BotToken", join("MTAyNjM4NDk1NzE4Mjk0NTYx.GkR8vq.", "Zp4WnB3vTxYh4Rt9Pq2Kd82Jd7sLq0mX3cV5bN")],
];

test.each(secrets)("the rule %s names the file and the line, never the value", async (rule, value) => {
  const [found, ...more] = await scanSecrets(
    tree({ "package.json": "{}", "src/config.js": `// settings\nexport const value = "${value}";\n` }),
  );
  expect(found).toMatchObject({ code: "committed_secret", file: "src/config.js", line: 2 });
  expect(found?.message).toContain(rule);
  expect(JSON.stringify([found, ...more])).not.toContain(value.slice(4, 16));
  expect(more).toEqual([]);
});

test("a private key is found", async () => {
  const body = Array.from(
    { length: 12 },
    (_, line) => `MIIEpAIBAAKCAQEAx4UbaDzY5xjW6hc9jwN0mX33XpTDVvWwfPD1yNFO8c${line}`,
  ).join("\n");
  const key = join("-----BEGIN RSA PRI", `VATE KEY-----\n${body}\n-----END RSA PRI`, "VATE KEY-----\n");
  expect(await scanSecrets(tree({ "server.pem": `\n${key}` }))).toMatchObject([
    { code: "committed_secret", file: "server.pem", line: 2 },
  ]);
});

test.each([".env", ".env.local", ".env.production", "api/.env"])(
  "%s with values is pointed at, without names or values",
  async (path) => {
    const [found] = await scanSecrets(tree({ "package.json": "{}", [path]: "# settings\nEMPTY=\nTOKEN=hunter22\n" }));
    expect(found).toMatchObject({ code: "committed_env_file", file: path, line: 3 });
    expect(found?.message).not.toMatch(/hunter22|TOKEN/);
  },
);

test.each<[string, string]>([
  [".env", "# nothing\nTOKEN=\n"],
  [".env.example", "TOKEN=abc"],
  [".env.sample", "TOKEN=abc"],
  [".env.template", "TOKEN=abc"],
  [".env.local.example", "TOKEN=abc"],
  [".env.example-e2e", "TOKEN=abc"],
  ["web/.env.docker-sample", "TOKEN=abc"],
  ["example.env", `ID=${awsId}`],
  ["deploy/sample.env", `ID=${awsId}`],
  ["src/a.js", 'const id = "AKIAIOSFODNN7EXAMPLE"'],
  ["src/a.js", 'const db = "postgres://postgres:postgres@localhost:5432/app"'],
  ["src/a.js", 'const db = "mongodb://user:password@db.acme.io/app"'],
  ["src/a.py", "requests.get('https://user:passwd@httpbin.org/basic-auth/user/passwd')"],
  ["src/a.js", "const db = `postgres://${user}:${password}@db.acme.io/app`"],
  ["tests/a.js", `const id = "${awsId}"`],
  ["src/a.test.js", `const id = "${awsId}"`],
  ["node_modules/a/index.js", `const id = "${awsId}"`],
  ["docs/a.js", `const id = "${awsId}"`],
  ["src/a.js", 'const AWS_ACCOUNT_ID = "123456789012"'],
  [".npmrc", "//registry.example/:_authToken=${NPM_TOKEN}"],
])("what is no secret is not pointed at: %s %j", async (path, text) => {
  expect(await scanSecrets(tree({ "package.json": "{}", [path]: text }))).toEqual([]);
});

test.each(["seed.sql", "deploy.ps1", "train.ipynb", "config.js.bak", "views/map.ejs"])(
  "a secret in %s is found",
  async (path) => {
    expect(wants(path, 1000)).toBe(true);
    expect(await scanSecrets(tree({ "package.json": "{}", [path]: awsId }))).toMatchObject([{ file: path, line: 1 }]);
  },
);

test.each(["test", "examples", "docs", "build"])(
  "a project in a folder called %s is looked through",
  async (folder) => {
    const found = await scanSecrets(
      tree({ [`${folder}/package.json`]: "{}", [`${folder}/a.js`]: awsId, [`${folder}/tests/b.js`]: awsId }),
    );
    expect(found).toMatchObject([{ file: "a.js" }]);
  },
);

test("secrets come first among the suggestions of an archive", async () => {
  const outcome = await analyzeWithSecrets(
    tree({ "package.json": { scripts: { start: "nodemon a.js" } }, "a.js": `const x = "${awsId}"`, ".env": "A=1" }),
  );
  expect(outcome.ok && outcome.analysis.suggestions.map(({ code }) => code)).toEqual([
    "committed_secret",
    "committed_env_file",
    "development_start",
  ]);
});

test("ten megabytes of source are scanned within a second", async () => {
  const line = "export const handler = async (event) => ({ statusCode: 200, body: JSON.stringify(event.records) });\n";
  const files = Object.fromEntries(Array.from({ length: 100 }, (_, index) => [`src/${index}.js`, line.repeat(1000)]));
  const spent = cpuTimer();
  await scanSecrets(tree(files));
  expect(spent()).toBeLessThan(1000);
});
