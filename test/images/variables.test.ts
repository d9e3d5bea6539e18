import { describe, expect, test } from "vitest";
import * as z from "zod";
import { Container } from "./container.ts";
import { noEngine } from "./engine.ts";
import { buildImage, imageIn } from "./image.ts";

const environmentSchema = z.record(z.string(), z.string());
const app = {
  "server.js": `require("node:http").createServer((_, response) => response.end(JSON.stringify(process.env))).listen(process.env.PORT);`,
};
const withBuild = {
  ...app,
  "package.json": { scripts: { start: "node server.js", build: "node build.js" } },
  "build.js": 'require("node:fs").writeFileSync("build.json", JSON.stringify(process.env));',
};

const values = {
  PLAIN: "plain-value",
  SPACES: "  two words, led and followed by some  ",
  EMPTY: "",
  NEWLINES: "\nfirst line\nsecond line\n\n",
  CARRIAGE: "windows line\r\nand a tab\t",
  QUOTES: `it's "quoted" and \`ticked\``,
  ONLY_QUOTES: '"a"',
  DOLLARS: "$HOME ${HOME} ${X:-default} $$ $_E0 ${_E1} $(id) \\$HOME",
  BACKSLASHES: "\\ \\n \\\\ \\t ends with one \\",
  CONTINUED: "a line \\\nthat goes on",
  COMMENT: "# no comment",
  OPTION: "--mount=type=bind",
  EQUALS: "a=b=c",
  PERCENT: "%s %d %%",
  HEREDOC: "<<EOF\ntext\nEOF",
  EMOJI: "🚀 Grüße, 東京 \u0301",
  CONTROL: "\u0001\u0007\u001b[31m\u007f",
  JSON_TEXT: '{"a":["b","c\\n"]}',
  PEM: `-----BEGIN PRIVATE KEY-----\n${"MIIEvQIBADANBgkqhkiG9w0BAQEFAASC\n".repeat(20)}-----END PRIVATE KEY-----\n`,
  LARGE: "0123456789abcde\n".repeat(2048),
};

/** What a program sees of the values given. */
function seen(given: Readonly<Record<string, string>>, json: string): Record<string, string | undefined> {
  const environment = environmentSchema.parse(JSON.parse(json));
  return Object.fromEntries(Object.keys(given).map((name) => [name, environment[name]]));
}

describe.skipIf(noEngine)("variables in an image", () => {
  test("every byte of a value is seen by the build and by the app, and none of it stands in the Dockerfile or the log", async () => {
    const built = await buildImage(withBuild, values);
    await using container = await Container.start(imageIn(built));
    expect(seen(values, await container.read("/app/build.json"))).toEqual(values);
    expect(seen(values, (await container.get("/")).body)).toEqual(values);
    const lines = Object.values(values).flatMap((value) => value.split(/\s*\n/).filter((line) => line.length > 8));
    expect(lines.filter((line) => built.dockerfile.includes(line) || built.log.includes(line))).toEqual([]);
    expect(built.log).toContain("RUN");
  });

  test("a name that means something to a builder, a loader or a shell is one of the app's like any other", async () => {
    const names = {
      BUILDKIT_SYNTAX: "evil.example/frontend",
      BUILDKIT_CONTEXT_KEEP_GIT_DIR: "1",
      SOURCE_DATE_EPOCH: "0",
      _E1: "the third argument",
      _E0: "the fourth argument",
      HTTP_PROXY: "http://127.0.0.1:9",
      TARGETPLATFORM: "windows/386",
      LD_PRELOAD: "/app/none.so",
      PATH: "/app/none:/usr/local/bin:/usr/bin:/bin",
      NODE_ENV: "staging",
      IFS: "x",
      OPTIND: "no number",
      PPID: "0",
      PWD: "/nowhere",
    };
    const built = await buildImage(app, names);
    await using container = await Container.start(imageIn(built));
    expect(seen(names, (await container.get("/")).body)).toEqual(names);
  });

  test("one project's broken PATH breaks its own build, in words, and not the next project's", async () => {
    const broken = await buildImage(withBuild, { PATH: "/nowhere" });
    expect(broken.image).toBeNull();
    expect(broken.log).toContain("npm: not found");
    const next = await buildImage(withBuild, { OTHER: "1" });
    await using container = await Container.start(imageIn(next));
    expect(seen({ OTHER: "1" }, (await container.get("/")).body)).toEqual({ OTHER: "1" });
  });
});
