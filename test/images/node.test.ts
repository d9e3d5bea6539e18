import { describe, expect, test } from "vitest";
import { noImagesBecause } from "../../scripts/images/buildah.ts";
import { Container } from "./container.ts";
import { buildImage, imageIn } from "./image.ts";

const server = `
const http = require("node:http");
const isNumber = require("is-number");
http.createServer((request, response) => {
  const { pid } = process;
  response.end(JSON.stringify({ pid, user: process.getuid(), folder: process.cwd(), isNumber: isNumber(5), env: process.env }));
}).listen(process.env.PORT);
process.on("SIGTERM", () => { console.log("the app heard SIGTERM as process " + process.pid); process.exit(7); });
`;
const integrity = "sha512-41Cifkg6e8TylSpdtTpeLVMqvSBEVzTttHvERD741+pnZ8ANv0004MRL43QKPDlK9cGvNp6NZWZUBlbGXYxxng==";
const manifest = { name: "app", version: "1.0.0", dependencies: { "is-number": "7.0.0" } };
const npmLock = {
  name: "app",
  version: "1.0.0",
  lockfileVersion: 3,
  requires: true,
  packages: {
    "": manifest,
    "node_modules/is-number": {
      version: "7.0.0",
      resolved: "https://registry.npmjs.org/is-number/-/is-number-7.0.0.tgz",
      integrity,
    },
  },
};

describe.skipIf(noImagesBecause() !== null)("a Node.js app in its image", () => {
  test("npm with a lock: the locked packages, without what must not be in an image; process 1 of user 1000 gets SIGTERM", async () => {
    const built = await buildImage({
      "package.json": { ...manifest, scripts: { start: "node server.js" } },
      "package-lock.json": npmLock,
      "server.js": server,
      ".dockerignore": "server.js\n",
      ".git/config": "secret",
      "node_modules/is-number/package.json": { name: "is-number", version: "0.0.1", main: "broken.js" },
      "node_modules/own/index.js": "",
    });
    const image = imageIn(built);
    expect(built.plan.install).toBe("npm ci");
    expect(image.digest).toMatch(/^sha256:/);
    expect(image.config).toMatchObject({ User: "1000", WorkingDir: "/app", StopSignal: "SIGTERM" });
    await using container = await Container.start(image);
    const answer = JSON.parse((await container.get("/")).body);
    expect(answer).toMatchObject({ pid: 1, user: 1000, folder: "/app", isNumber: true });
    expect(answer.env).toMatchObject({ PORT: "8080", HOST: "0.0.0.0", NODE_ENV: "production", HOME: "/app" });
    expect(await container.stop()).toEqual({ code: 7, signal: null });
    expect(container.log).toBe("the app heard SIGTERM as process 1\n");
  });
});
