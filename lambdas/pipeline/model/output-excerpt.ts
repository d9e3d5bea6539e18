const ansi = new RegExp(`${String.fromCharCode(27)}\\[[0-9;?]*[ -/]*[@-~]`, "g");
/** The prefixes that BuildKit and CodeBuild add to a line: `#9 1.234 `, `1.234 ` in its summary, `[Container] 2026/05/01 … `. */
const prefix = /^(?:#\d+ (?:\d+\.\d+ )?|\d+\.\d{3} |\[Container\] \d{4}\/\d\d\/\d\d \d\d:\d\d:\d\d(?:\.\d+)? )/;
const lineCharactersMax = 500;
/** The first line of a step of BuildKit: `#11 [build 4/5] RUN npm ci`. */
const stepTitle = /^#\d+ \[[^\]]+ \d+\/\d+\] /;

/** Lines that do not explain the failure: empty ones, npm's progress bars and log files, pip's retries. */
const noise = [
  /^\s*$/,
  /^npm (?:error|ERR!)(?: code)?\s*$/,
  /^npm (?:error|ERR!) (?:A complete log of this run|For a full report see|\/\S+\.(?:txt|log)$|Note that you can also install|tarball, folder, http)/,
  /^npm (?:warn|WARN) Unknown (?:user|env|builtin|project|cli) config/,
  /^npm (?:error|ERR!) \d{3}\s*$/,
  /^WARNING: (?:Retrying \(|Location '.*' is ignored)/,
  /^Looking in (?:indexes|links): /,
  /^\[notice\] /,
];

/** From this line on, npm prints only the usage of the command. */
const usageStart = /^npm (?:error|ERR!) (?:Clean install a project|Usage:)\s*$/;
const usageLine = /^npm (?:error|ERR!)/;

/** The first line of an error message of npm, pnpm, yarn, pip, tsc, Node.js, Python and shells. */
const firstError = [
  /^npm (?:error|ERR!)/,
  /^\s*(?:ERR_PNPM_|ELIFECYCLE)/,
  /^➤ YN\d+: .*(?:error|Failed|fail)|^error /i,
  /^ERROR: /,
  /\berror TS\d+: /,
  /^Traceback \(most recent call last\):/,
  /^(?:\w*Error|\[?ERROR\]?)\b.*:/,
  /^✘ \[ERROR\]|^\[vite\]|^Module not found|^Failed to compile/i,
  /FATAL ERROR: /,
  /: (?:command )?not found$/,
];

/** What package managers print after the output of a script that failed; alone, it does not explain the failure. */
const scriptFailed =
  /^(?:\s*ELIFECYCLE\s+|error )Command failed with exit code \d+|^npm (?:error|ERR!) Lifecycle script /;

function cleaned(line: string): string {
  const text = line.replaceAll(ansi, "").replace(prefix, "").trimEnd();
  return text.length > lineCharactersMax ? `${text.slice(0, lineCharactersMax)} …` : text;
}

/** BuildKit's last line of a step whose command failed: `#11 ERROR: process "/bin/sh -c npm ci" did not complete …`. */
const failedStep = /^(#\d+ )ERROR: process /;

/** The output of the step that failed if BuildKit names it; else all lines. */
function failedStepLines(lines: readonly string[]): readonly string[] {
  const step = lines.map((line) => failedStep.exec(line)?.[1]).find((found) => found !== undefined);
  if (step === undefined) return lines;
  return lines.filter((line) => line.startsWith(step) && !failedStep.test(line) && !stepTitle.test(line));
}

/** The lines without prefixes and npm's usage texts, and without BuildKit's repetition of the failed command's output. */
function meaningfulLines(lines: readonly string[]): string[] {
  const summary = lines.findIndex((line) => /^-{6}$/.test(line.trim()));
  const kept: string[] = [];
  let inUsage = false;
  const own = failedStepLines(summary > 0 ? lines.slice(0, summary) : lines);
  for (const line of own.map(cleaned)) {
    inUsage = usageStart.test(line) || (inUsage && usageLine.test(line));
    if (!inUsage && !noise.some((pattern) => pattern.test(line))) kept.push(line);
  }
  return kept;
}

const headMax = 20;
const tailMax = 10;

/**
 * The part of a failed command's output that shows the cause: the lines from the first error on, and the last lines if these
 * are not included. If no line looks like an error, the last lines are used.
 */
export function failureExcerpt(lines: readonly string[]): string[] {
  const kept = meaningfulLines(lines);
  const start = kept.findIndex((line) => firstError.some((pattern) => pattern.test(line)));
  if (start === -1) return kept.slice(-headMax);
  const from = kept.slice(scriptFailed.test(kept[start] ?? "") ? Math.max(0, start - headMax) : start);
  if (from.length <= headMax + tailMax) return from;
  return [...from.slice(0, headMax), "…", ...from.slice(-tailMax)];
}
