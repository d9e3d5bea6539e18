import { expect, test } from "vitest";
import { renderDockerfile, renderDockerignore } from "../../../../buildpack/image/dockerfile.ts";
import { analysisOf } from "../analysis/tree.ts";

type Files = Record<string, string | object>;
const planOf = (files: Files) => analysisOf(files).plan;
const input = { projectId: "prj_1", variableNames: [] };
const lock = { packages: { "node_modules/express": { version: "5.0.0" } } };
const node = {
  "package.json": { scripts: { start: "node server.js", build: "tsc" }, dependencies: { express: "^5" } },
  "package-lock.json": lock,
  "server.js": "",
};
const python = {
  "requirements.txt": "flask\ngunicorn\n",
  "app.py": "from flask import Flask\napp = Flask(__name__)\n",
};
const linesOf = (files: Files, variableNames: string[] = []) =>
  renderDockerfile(planOf(files), { ...input, variableNames }).split("\n");
const mount = "--mount=type=cache,id=prj_1,target=/root/.cache";

test("a Node.js app: manifests, install, sources, variables, build; then the app as user 1000", () => {
  expect(
    renderDockerfile(planOf(node), { ...input, variableNames: ["API_KEY", "_E0"] }),
  ).toBe(`FROM public.ecr.aws/docker/library/node:24-bookworm AS build
WORKDIR /app
ENV NPM_CONFIG_CACHE="/root/.cache/npm" \\
    NPM_CONFIG_FUND="false" \\
    NPM_CONFIG_AUDIT="false" \\
    NPM_CONFIG_UPDATE_NOTIFIER="false" \\
    NEXT_TELEMETRY_DISABLED="1" \\
    PATH="/app/node_modules/.bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
COPY ["package.json","package-lock.json","./"]
RUN ${mount} npm ci
COPY . .
ENV PORT="8080" \\
    HOST="0.0.0.0" \\
    HOSTNAME="0.0.0.0"
ARG _E0
ARG _E1
ENV API_KEY=$_E0 \\
    _E0=$_E1
RUN ${mount} npm run build
RUN mkdir -p node_modules && rm -rf node_modules/.cache node_modules/.vite node_modules/.vite-temp

FROM build AS source
RUN rm -rf node_modules

FROM public.ecr.aws/docker/library/node:24-bookworm-slim
WORKDIR /app
COPY --link --chown=1000:1000 --from=build ["/app/node_modules","/app/node_modules"]
COPY --link --chown=1000:1000 --from=source ["/app","/app"]
ENV HOME="/app" \\
    NODE_ENV="production" \\
    PORT="8080" \\
    HOST="0.0.0.0" \\
    HOSTNAME="0.0.0.0" \\
    PATH="/app/node_modules/.bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
ARG _E0
ARG _E1
ENV API_KEY=$_E0 \\
    _E0=$_E1
USER 1000
EXPOSE 8080
STOPSIGNAL SIGTERM
ENTRYPOINT []
CMD ["node","server.js"]
`);
});

test("a Python app installs into a virtual environment that the run stage takes along", () => {
  const lines = linesOf(python);
  expect(lines[0]).toBe("FROM public.ecr.aws/docker/library/python:3.13-bookworm AS build");
  expect(lines).toContain("FROM public.ecr.aws/docker/library/python:3.13-slim-bookworm");
  const order = [`RUN ${mount} python -m venv .venv`, `RUN ${mount} pip install -r requirements.txt`, "COPY . ."].map(
    (line) => lines.indexOf(line),
  );
  expect(order).not.toContain(-1);
  expect(order).toEqual([...order].sort((a, b) => a - b));
  expect(lines).toContain('    PYTHONUNBUFFERED="1" \\');
  expect(lines).toContain('CMD ["/bin/sh","-c","exec gunicorn --bind 0.0.0.0:$PORT app:app"]');
});

test("the packages of a Python app are a layer of their own", () => {
  expect(linesOf(python)).toEqual(
    expect.arrayContaining([
      "FROM build AS source",
      "RUN rm -rf .venv",
      'COPY --link --chown=1000:1000 --from=build ["/app/.venv","/app/.venv"]',
      'COPY --link --chown=1000:1000 --from=source ["/app","/app"]',
    ]),
  );
});

const plain = { "package.json": { scripts: { start: "node server.js" } }, "server.js": "" };

test("an app that installs and builds nothing is one layer, without a build stage", () => {
  const lines = linesOf(plain, ["API_KEY"]);
  expect(lines.slice(0, 3)).toEqual([
    "FROM public.ecr.aws/docker/library/node:24-bookworm-slim",
    "WORKDIR /app",
    "COPY --link --chown=1000:1000 . /app",
  ]);
  expect(lines.filter((line) => /^(FROM|COPY|RUN|ARG) /.test(line))).toEqual([lines[0], lines[2], "ARG _E0"]);
});

test("an app that is only built has a build stage, and is one layer", () => {
  const lines = linesOf({
    ...plain,
    "package.json": { scripts: { start: "node server.js", build: "node build.js" } },
  });
  expect(lines.filter((line) => line.startsWith("FROM"))).toHaveLength(2);
  expect(lines).toContain('COPY --link --chown=1000:1000 --from=build ["/app","/app"]');
});

test.each(["22", "24", "26"])("Node.js %s: the Debian release is named and no front end is pulled", (line) => {
  const text = renderDockerfile(planOf({ ...node, ".nvmrc": line }), input);
  expect(text).toContain(`node:${line}-bookworm AS build`);
  expect(text).toContain(`node:${line}-bookworm-slim\n`);
  expect(text).not.toContain("syntax");
});

test.each<[string, object, string]>([
  ["pnpm", { packageManager: "pnpm@9.15.4" }, "npm install --global pnpm@9.15.4"],
  ["yarn 1", { packageManager: "yarn@1.22.22" }, "npm install --global --force yarn@1.22.22"],
  ["yarn 4", { packageManager: "yarn@4.5.3" }, "npm install --global --force @yarnpkg/cli-dist@4.5.3"],
  ["bun", { packageManager: "bun@1.2.0" }, "npm install --global bun@1.2.0"],
])("%s is installed before the manifests are copied", (_, fields, command) => {
  const lines = linesOf({
    "package.json": { scripts: { start: "node a.js" }, dependencies: { a: "1" }, ...fields },
    "a.js": "",
  });
  expect(lines.indexOf(`RUN ${mount} ${command}`)).toBeGreaterThan(0);
  expect(lines.indexOf(`RUN ${mount} ${command}`)).toBeLessThan(lines.findIndex((line) => line.startsWith("COPY")));
});

test("the install sees .npmrc, patches, the Prisma schema and the manifests of workspaces, and no more", () => {
  const lines = linesOf({
    "package.json": {
      scripts: { start: "node a.js", postinstall: "prisma generate" },
      workspaces: ["packages/*"],
      dependencies: { prisma: "6" },
    },
    ".npmrc": "",
    "patches/a.patch": "",
    "prisma/schema.prisma": "",
    "packages/web/package.json": "{}",
    "packages/web/index.js": "",
  });
  expect(lines.filter((line) => line.startsWith("COPY")).slice(0, 5)).toEqual([
    'COPY ["package.json",".npmrc","./"]',
    'COPY ["packages/web/package.json","./packages/web/"]',
    'COPY ["patches/","./patches/"]',
    'COPY ["prisma/","./prisma/"]',
    "COPY . .",
  ]);
});

test.each<[string, object]>([
  ["an install script", { scripts: { start: "node a.js", postinstall: "node setup.js" } }],
  ["a file: dependency", { scripts: { start: "node a.js" }, dependencies: { b: "file:./b" } }],
])("the whole tree is copied first where %s needs it", (_, manifest) => {
  const copies = linesOf({ "package.json": manifest, "a.js": "" }).filter(
    (line) => line.startsWith("COPY") && !line.includes("--from"),
  );
  expect(copies).toEqual(["COPY . ."]);
});

test("of a static site only the built files and their server are in the image", () => {
  const lines = linesOf({
    "package.json": { scripts: { build: "vite build" }, devDependencies: { vite: "6" } },
    "index.html": "",
  });
  expect(lines.filter((line) => line.includes("--from=build"))).toEqual([
    'COPY --link --chown=1000:1000 --from=build ["/app/dist","/app/dist"]',
    'COPY --link --chown=1000:1000 --from=build ["/app/.slipway/static-server.mjs","/app/.slipway/static-server.mjs"]',
  ]);
  expect(lines).toContain("COPY --from=slipway static-server.mjs ./.slipway/static-server.mjs");
  expect(lines).toContain('CMD ["node",".slipway/static-server.mjs","dist"]');
  const commands = lines.filter((line) => line.startsWith("RUN ")).map((line) => line.replace(/^RUN --mount=\S+ /, ""));
  expect(commands.slice(-2)).toEqual(["npm run build", "node .slipway/static-server.mjs --prepare dist"]);
});

test("libraries that the slim image lacks are added to the run stage", () => {
  expect(linesOf({ ...python, "requirements.txt": "flask\ngunicorn\npsycopg2\n" }).join("\n")).toMatch(
    /slim-bookworm\nRUN apt-get update && apt-get install -y --no-install-recommends libpq5 /,
  );
});

test("a start command that calls its package manager finds it in the run stage", () => {
  const run = linesOf({
    "package.json": { scripts: { start: "yarn --cwd api start" }, packageManager: "yarn@1.22.22" },
  })
    .join("\n")
    .split("-slim\n")[1];
  expect(run).toContain("RUN npm install --global --force yarn@1.22.22");
});

test.each(["A B", "A=B", "1A", "", "A\nRUN x", "Ä", "a".repeat(257)])(
  "an invalid variable name is refused: %j",
  (name) => {
    expect(() => renderDockerfile(planOf(node), { ...input, variableNames: [name] })).toThrow("Invalid variable name.");
  },
);

test("a script that spans lines stays one instruction", () => {
  const text = renderDockerfile({ ...planOf(node), build: "tsc \\\n  && node x\nRUN evil" }, input);
  expect(text).not.toMatch(/^RUN evil/m);
});

test("what was installed elsewhere is left out of the context, but not where nothing is installed", () => {
  expect(renderDockerignore(planOf(node))).toContain("**/node_modules\n");
  expect(renderDockerignore(planOf({ "server.js": "" }))).not.toContain("node_modules");
});
