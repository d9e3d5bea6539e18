import { spawnSync } from "node:child_process";
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { Docker } from "../../local/containers/docker.ts";
import { zipFile } from "./app-archive.ts";
import { uploadToReady } from "./deploy.ts";
import { type Measured, mebibytes, type ServiceProcess } from "./measure.ts";

type Files = Readonly<Record<string, string | Buffer>>;

/** The Dockerfile that guides to Node.js in containers give. */
export const nodeDockerfile = `FROM public.ecr.aws/docker/library/node:24-bookworm-slim
WORKDIR /app
COPY package*.json ./
RUN npm install --omit=dev
COPY . .
EXPOSE 8080
CMD ["node", "server.js"]
`;
/** The same for an app that is built. */
const nextDockerfile = `FROM public.ecr.aws/docker/library/node:24-bookworm-slim
WORKDIR /app
COPY package*.json ./
RUN npm install
COPY . .
RUN npm run build
EXPOSE 3000
CMD ["npm", "start"]
`;
/** That of FastAPI's own guide, on the small image; the wheels stand in for PyPI. */
const fastApiDockerfile = `FROM public.ecr.aws/docker/library/python:3.13-slim-bookworm
WORKDIR /code
COPY requirements.txt ./
COPY wheels ./wheels
RUN pip install --no-cache-dir --upgrade -r requirements.txt
COPY main.py ./
CMD ["uvicorn", "main:app", "--host", "0.0.0.0", "--port", "8080"]
`;

export const nodeHello = (text: string): Files => ({
  "package.json": JSON.stringify({ name: "bench", private: true, scripts: { start: "node server.js" } }),
  "server.js": `require("node:http").createServer((q, r) => r.end(${JSON.stringify(text)})).listen(process.env.PORT || 8080);`,
});
const express: Files = {
  "package.json": JSON.stringify({
    name: "bench",
    private: true,
    scripts: { start: "node server.js" },
    dependencies: { express: "^5.1.0" },
  }),
  "server.js": `require("express")().get("/", (q, r) => r.send("hello")).listen(process.env.PORT || 8080);`,
};
const next: Files = {
  "package.json": JSON.stringify({
    name: "bench",
    private: true,
    scripts: { build: "next build", start: "next start" },
    dependencies: { next: "^16.0.0", react: "^19.0.0", "react-dom": "^19.0.0" },
  }),
  "app/layout.js": `export default ({ children }) => <html lang="en"><body>{children}</body></html>;`,
  "app/page.js": `export default () => <p>hello</p>;`,
};

const examples = join(import.meta.dirname, "..", "..", "test", "pipeline", "frameworks");

/** The example of FastAPI with Debian's packages as wheels; undefined on a machine without them. */
function fastApi(folder: string): Files | undefined {
  const wheels = join(folder, "wheels");
  mkdirSync(wheels);
  const script = [join(examples, "wheels.py"), wheels, "python3-fastapi", "python3-uvicorn"];
  if (spawnSync("/usr/bin/python3", script, { stdio: "inherit" }).status !== 0) return undefined;
  const source = ["main.py", "requirements.txt"].map((name) => [name, join(examples, "fixtures", "fastapi", name)]);
  const packages = readdirSync(wheels).map((name) => [`wheels/${name}`, join(wheels, name)]);
  const files = [...source, ...packages].map(([name = "", path = ""]) => [name, readFileSync(path)]);
  return { ...Object.fromEntries(files), ".python-version": "3.13\n" };
}

/** The size of an image in the engine. */
const sizeOf = async (docker: Docker, name: string) =>
  Number(await docker.run(["image", "inspect", "--format", "{{.Size}}", name]));

/** The image that the engine got from this service last. */
async function newestImage(docker: Docker, service: ServiceProcess): Promise<string> {
  const ports: { ecr?: number } = JSON.parse(readFileSync(join(service.home, "ports.json"), "utf8"));
  const project = service.project.split("/").at(-1);
  const list = ["image", "ls", "--format", "{{.Repository}}:{{.Tag}}"];
  const names = await docker.run([...list, `127.0.0.1:${ports.ecr}/slipway-apps/${project}`]);
  // Ids of builds sort by time. An image of cached layers alone is as old as these.
  const builds = names.split("\n").filter((name) => name.includes(":bld_"));
  return builds.toSorted().at(-1) ?? "";
}

/** Builds an image as by hand; the files stay in the folder. */
export async function buildByHand(docker: Docker, folder: string, files: Files, dockerfile: string): Promise<void> {
  for (const [name, content] of Object.entries({ ...files, Dockerfile: dockerfile })) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), content);
  }
  await docker.run(["build", "--quiet", "--tag", "slipway-bench", folder]);
}

/** The sizes of images beside those of common Dockerfiles. `folder` is a temporary one. */
export async function imageSizes(docker: Docker, service: ServiceProcess, folder: string): Promise<Measured[]> {
  const apps: [string, Files | undefined, string][] = [
    ["node-hello", nodeHello("size"), nodeDockerfile],
    ["Express", express, nodeDockerfile],
    ["Next.js", next, nextDockerfile],
    ["FastAPI", fastApi(folder), fastApiDockerfile],
  ];
  const measured: Measured[] = [];
  for (const [name, files, dockerfile] of apps) {
    if (!files) {
      console.log(`${name}'s image is not measured: its packages are not on this machine`);
      continue;
    }
    await uploadToReady(service, await zipFile(join(folder, "size.zip"), files));
    await buildByHand(docker, join(folder, name), files, dockerfile);
    const [image, usual] = [
      await sizeOf(docker, await newestImage(docker, service)),
      await sizeOf(docker, "slipway-bench"),
    ];
    const detail = `${mebibytes(image)} against ${mebibytes(usual)} of a common Dockerfile`;
    measured.push({ name: `containers: size of ${name}'s image`, ratio: image / usual, bound: 1, detail });
  }
  return measured;
}
