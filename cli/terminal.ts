import { styleText } from "node:util";

export { bytesText, printable } from "../sdk/folder/text.ts";

type Style = Parameters<typeof styleText>[0];

export interface TerminalStream {
  isTTY?: boolean;
  columns?: number;
  write(text: string): unknown;
}

/**
 * Writes results to stdout and progress to stderr, so that scripts can use a command's output.
 * Colors and the progress line are used only on a terminal; colors also need NO_COLOR to be unset.
 */
export class Terminal {
  readonly #out: TerminalStream;
  readonly #err: TerminalStream;
  readonly #colors: boolean;
  readonly #isLive: boolean;
  #moving = false;

  constructor(out: TerminalStream, err: TerminalStream, environment: Readonly<Record<string, string | undefined>>) {
    this.#out = out;
    this.#err = err;
    const dumb = environment.TERM === "dumb";
    this.#isLive = err.isTTY === true && !dumb;
    this.#colors = this.#isLive && !environment.NO_COLOR;
  }

  /** One line of the result, on stdout. */
  result(line: string): void {
    this.#clear();
    this.#out.write(`${line}\n`);
  }

  /** A text on stdout exactly as it is. */
  raw(text: string): void {
    this.#clear();
    this.#out.write(text);
  }

  /** One line about the progress, on stderr. */
  note(line: string, style?: Style): void {
    this.#clear();
    this.#err.write(`${style === undefined ? line : this.style(style, line)}\n`);
  }

  /** A progress line, which the next one replaces; shown only on a terminal. */
  progress(line: string): void {
    if (!this.#isLive) return;
    // A terminal that does not know its width reports 0.
    const width = (this.#err.columns || 80) - 1;
    this.#err.write(`\r\u001b[K${line.slice(0, width)}`);
    this.#moving = true;
  }

  style(style: Style, text: string): string {
    return this.#colors ? styleText(style, text, { validateStream: false }) : text;
  }

  #clear(): void {
    if (this.#moving) this.#err.write("\r\u001b[K");
    this.#moving = false;
  }
}

/** Milliseconds as "0.4 s" or "3 min 20 s". */
export function durationText(milliseconds: number): string {
  const seconds = milliseconds / 1000;
  if (seconds < 60) return `${seconds.toFixed(1)} s`;
  const whole = Math.round(seconds);
  return whole < 3600 ? `${Math.floor(whole / 60)} min ${whole % 60} s` : `${(seconds / 3600).toFixed(1)} h`;
}

/** "[██████░░░░░░]  50 %"; values above 100 % count as 100 %. */
export function barText(part: number, whole: number, width = 24): string {
  const share = whole === 0 ? 1 : Math.min(1, part / whole);
  const full = Math.floor(share * width);
  return `[${"█".repeat(full)}${"░".repeat(width - full)}] ${String(Math.floor(share * 100)).padStart(3)} %`;
}

/** Rows as columns, the last one unpadded. */
export function columnsText(rows: readonly (readonly string[])[]): string[] {
  const widths: number[] = [];
  for (const row of rows) {
    for (const [at, cell] of row.entries()) widths[at] = Math.max(widths[at] ?? 0, cell.length);
  }
  return rows.map((row) =>
    row
      .map((cell, at) => cell.padEnd(widths[at] ?? 0))
      .join("  ")
      .trimEnd(),
  );
}
