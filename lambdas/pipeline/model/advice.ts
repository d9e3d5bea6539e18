import { stripVTControlCharacters } from "node:util";
import { environmentReports } from "./environment-reports.ts";

interface Rule {
  pattern: RegExp;
  /** Makes the advice from the match's groups; undefined if this match is not an error. */
  advice(groups: string[]): string | undefined;
}

const isFile = (specifier: string) => /^(?:[./]|file:|[A-Za-z]:\\)/.test(specifier);

/** `@scope/name` or `name` of an import such as `name/part`. */
function packageOf(specifier: string): string {
  return specifier.split("/", specifier.startsWith("@") ? 2 : 1).join("/");
}

function missingModule(specifier: string): string {
  if (isFile(specifier)) {
    return `The file ${specifier} is not in the deployed code: check its spelling, upper and lower case included, and whether an ignore rule or a missing build step leaves it out.`;
  }
  const name = packageOf(specifier);
  return `Add ${name} to the dependencies in package.json (npm install ${name}) and deploy again.`;
}

const missingVariable = (name: string) =>
  `Set the variable ${name} (slipway env set ${name}=…), then deploy or rebuild.`;

/** How apps name a missing environment variable. Without an underscore a name cannot be distinguished from other words in capitals. */
const variable = "[\"'`]?([A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+)[\"'`]?";
const isAbsent =
  "(?:is|was|must be|has to be|needs to be)? ?(?:not defined|undefined|not set|unset|missing|required|not provided|not found|set|provided|defined)";

const shared: Rule[] = [
  {
    pattern:
      /(?:Cannot find (?:module|package)|Module not found: (?:Error: )?Can't resolve|Could not resolve) ['"]([^'"]+)['"]/,
    advice: ([specifier = ""]) => missingModule(specifier),
  },
  {
    pattern: /(?:ModuleNotFoundError|ImportError): No module named ['"]?([\w.]+)/,
    advice: ([name = ""]) =>
      `Add the package that provides ${name.split(".")[0]} to the app's dependencies (requirements.txt or pyproject.toml) and deploy again.`,
  },
  ...environmentReports.map((pattern) => ({
    pattern,
    advice: ([name = ""]: string[]) => missingVariable(name.toUpperCase()),
  })),
  { pattern: /^KeyError: ['"]([A-Z][A-Z0-9_]+)['"]$/m, advice: ([name = ""]) => missingVariable(name) },
  {
    pattern: new RegExp(
      `(?:environment variables?|env(?:ironment)? vars?|variables?):? (?:not found: ?)?${variable}`,
      "i",
    ),
    advice: ([name = ""]) => (/^[A-Z0-9_]+$/.test(name) ? missingVariable(name) : undefined),
  },
  {
    pattern: new RegExp(`\\b${variable} (?:environment variable |env var )?${isAbsent}\\b`),
    advice: ([name = ""]) => missingVariable(name),
  },
  {
    pattern: new RegExp(
      `(?:[Mm]issing|[Rr]equired|[Uu]ndefined|[Nn]o) (?:required )?(?:env(?:ironment)? )?(?:variables? |vars? |settings? )?:? ?${variable}`,
    ),
    advice: ([name = ""]) => missingVariable(name),
  },
];

const outOfMemory =
  /JavaScript heap out of memory|^MemoryError|Cannot allocate memory|ENOMEM|exit code:? 137|\bKilled$|signal SIGKILL/m;

const ofBuilds: Rule[] = [
  {
    pattern: /ERR_OSSL_EVP_UNSUPPORTED|digital envelope routines::unsupported/,
    advice: () =>
      "A build tool is older than this version of Node.js (webpack 4, as in react-scripts 4): update it, or set the variable NODE_OPTIONS to --openssl-legacy-provider.",
  },
  {
    pattern: /`npm ci` can only install packages when your package\.json and package-lock\.json/,
    advice: () => "package-lock.json does not match package.json: run npm install and commit package-lock.json.",
  },
  {
    pattern: /ERR_PNPM_OUTDATED_LOCKFILE/,
    advice: () => "pnpm-lock.yaml does not match package.json: run pnpm install and commit pnpm-lock.yaml.",
  },
  {
    pattern: /Your lockfile needs to be updated|YN0028: .*lockfile would have been/,
    advice: () => "yarn.lock does not match package.json: run yarn install and commit yarn.lock.",
  },
  {
    pattern: /The lockfile at `uv\.lock` needs to be updated|pyproject\.toml changed significantly since poetry\.lock/,
    advice: () => "The lock file does not match pyproject.toml: run uv lock or poetry lock and commit the file.",
  },
  {
    pattern: /npm (?:error|ERR!) code ERESOLVE/,
    advice: () =>
      "Two dependencies need different versions of the same package: change one of them, or put the line legacy-peer-deps=true into the file .npmrc.",
  },
  {
    pattern: /npm (?:error|ERR!) code (?:EBADENGINE|ENOTSUP)/,
    advice: () =>
      "A package does not support this version of Node.js: change engines.node in package.json, or the package.",
  },
  {
    pattern: /npm (?:error|ERR!) notarget No matching version found for (\S+?)\.?$/m,
    advice: ([wanted = ""]) => `${wanted} does not exist: set a published version in package.json.`,
  },
  {
    pattern:
      /npm (?:error|ERR!) 404 +(?:The requested resource )?'([^']+?)(?:@[^@']*)?' (?:could not be found|is not in)/,
    advice: ([name = ""]) =>
      `${name} is not in the registry: check its spelling in package.json; a private one needs a .npmrc.`,
  },
  {
    pattern: /ERROR: No matching distribution found for (\S+)/,
    advice: ([wanted = ""]) =>
      `pip found no version of ${wanted} for this version of Python: check its spelling and its version in requirements.txt.`,
  },
  {
    pattern: /(?:^|: )([\w.@/-]+): (?:command )?not found$/m,
    advice: ([program = ""]) =>
      `The program ${program} is not installed: add the package that contains it to the app's dependencies.`,
  },
  {
    pattern: outOfMemory,
    advice: () =>
      "The build ran out of memory. For Node.js set the variable NODE_OPTIONS to --max-old-space-size=3072; otherwise build less at a time.",
  },
];

const ofApps: Rule[] = [
  {
    pattern: outOfMemory,
    advice: () =>
      "The app ran out of memory: set memory in slipway.json to 1024, 2048 or 4096, or keep less data in memory at a time.",
  },
];

/** How clients of databases and other services say that nothing listens on a port of the app's own machine. */
const ofConnections: Rule[] = [
  /\bconnect ECONNREFUSED (?:127\.0\.0\.1|::1):(\d+)/,
  /connection to server at "(?:localhost|127\.0\.0\.1|::1)"[^\n]{0,60}, port (\d+) failed: Connection refused/,
  /Error 111 connecting to (?:localhost|127\.0\.0\.1):(\d+)/,
  /(?:localhost|127\.0\.0\.1):(\d+): \[Errno 111\] Connection refused/,
].map((pattern) => ({
  pattern,
  advice: ([port = ""]) =>
    `The app connects to port ${port} of its own container, where nothing else runs: let it read the address of that database or service from a variable (slipway env set NAME=…), then deploy again.`,
}));

/** What ECS says of a program that is not in the image. */
const noProgram = /exec: "([^"\n]+)": (?:executable file not found|stat [^\n]*no such file or directory)/;

/** What to do about an app that could not be started, if the reason names the program. */
export function programAdvice(reason: string): string | undefined {
  const program = noProgram.exec(reason)?.[1];
  if (program === undefined) return undefined;
  return `The program ${program} is not in the image: correct the start command, or add the package that contains it to the app's dependencies.`;
}

function firstAdvice(rules: readonly Rule[], lines: readonly string[]): string | undefined {
  // Some libraries color their reports even where no terminal is.
  const text = stripVTControlCharacters(lines.join("\n"));
  for (const { pattern, advice } of rules) {
    const match = pattern.exec(text);
    const found = match && advice(match.slice(1));
    if (found) return found;
  }
  return undefined;
}

/** One sentence on what to do about a failed install or build, when its own output names the cause. */
export function buildAdvice(lines: readonly string[]): string | undefined {
  return firstAdvice([...ofBuilds, ...shared], lines);
}

/** The same for an app that ended or did not become healthy. */
export function appAdvice(lines: readonly string[]): string | undefined {
  return firstAdvice([...ofApps, ...shared, ...ofConnections], lines);
}
