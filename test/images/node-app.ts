/** Answers with what it is and what it sees; exits with 7 on SIGTERM, so that nothing else is taken for it. */
export const server = `
const http = require("node:http");
const isNumber = require("is-number");
http.createServer((request, response) => {
  const { pid } = process;
  response.end(JSON.stringify({ pid, user: process.getuid(), folder: process.cwd(), isNumber: isNumber(5), env: process.env }));
}).listen(process.env.PORT);
process.on("SIGTERM", () => { console.log("the app heard SIGTERM as process " + process.pid); process.exit(7); });
`;

const version = "7.0.0";
const integrity = "sha512-41Cifkg6e8TylSpdtTpeLVMqvSBEVzTttHvERD741+pnZ8ANv0004MRL43QKPDlK9cGvNp6NZWZUBlbGXYxxng==";

/**
 * A manifest with one small dependency, and the lock files that npm 11 and pnpm 9 write for it. The npm lock file is as with
 * `omit-lockfile-registry-resolved`, so that any registry can serve the package.
 */
export const manifest = { name: "app", version: "1.0.0", dependencies: { "is-number": version } };
export const npmLock = {
  name: "app",
  version: "1.0.0",
  lockfileVersion: 3,
  requires: true,
  packages: {
    "": manifest,
    "node_modules/is-number": {
      version,
      integrity,
    },
  },
};
export const pnpmLock = `lockfileVersion: '9.0'

settings:
  autoInstallPeers: true
  excludeLinksFromLockfile: false

importers:

  .:
    dependencies:
      is-number:
        specifier: ${version}
        version: ${version}

packages:

  is-number@${version}:
    resolution: {integrity: ${integrity}}
    engines: {node: '>=0.12.0'}

snapshots:

  is-number@${version}: {}
`;
