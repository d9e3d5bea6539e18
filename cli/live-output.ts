import { SlipwayError } from "../sdk/errors.ts";
import { type Sleep, sleepFor } from "../sdk/retry.ts";
import type { Target } from "./configuration.ts";
import { type LogLine, LogReader } from "./log-reader.ts";
import { printable, type Terminal } from "./terminal.ts";

const readEverySeconds = 1;
const linesShownMax = 20;

/**
 * Shows the output of a running build: the detected app once, the newest line beside the elapsed time, and
 * the output of the app itself if its start takes long.
 */
export class LiveOutput {
  readonly #reader: LogReader;
  readonly #terminal: Terminal;
  /** A healthy app answers within seconds; after this time the app's output is shown too. */
  readonly #slowStartMilliseconds: number;
  #isDetectionShown = false;
  #newest = "";
  #startedAt: number | undefined;
  readonly #startLines: LogLine[] = [];
  #startLinesShown = 0;

  constructor(
    target: Pick<Target, "client" | "project">,
    buildId: string,
    terminal: Terminal,
    slowStartMilliseconds = 5_000,
  ) {
    this.#reader = new LogReader(target, buildId);
    this.#terminal = terminal;
    this.#slowStartMilliseconds = slowStartMilliseconds;
  }

  get newest(): string {
    return this.#newest;
  }

  /** To be called when the new version of the app starts. */
  appStarts(): void {
    this.#startedAt = performance.now();
  }

  /** Reads until the signal is aborted. An unreadable log does not end the wait for the build. */
  async follow(signal: AbortSignal, sleep: Sleep = sleepFor): Promise<void> {
    while (!signal.aborted) {
      await this.#read(signal);
      this.#showSlowStart();
      await sleep(readEverySeconds, signal).catch(() => undefined);
    }
  }

  /** Reads once more, because a quick build can end before its output was read. */
  async finish(): Promise<void> {
    if (!this.#isDetectionShown) await this.#read();
  }

  async #read(signal?: AbortSignal): Promise<void> {
    try {
      for await (const line of this.#reader.newLines(signal)) this.#take(line);
    } catch (error) {
      if (!(error instanceof SlipwayError) && !signal?.aborted) throw error;
    }
  }

  #take(line: LogLine): void {
    const text = printable(line.text).trim();
    if (text === "") return;
    this.#newest = text;
    if (line.stage === "deploying") this.#startLines.push(line);
    if (this.#isDetectionShown || line.stage !== "building" || !text.startsWith("Detected: ")) return;
    this.#isDetectionShown = true;
    this.#terminal.note(`  ${text}`);
  }

  #showSlowStart(): void {
    if (this.#startedAt === undefined || performance.now() - this.#startedAt < this.#slowStartMilliseconds) return;
    const shown = this.#startLines.slice(this.#startLinesShown, linesShownMax);
    if (shown.length === 0) return;
    if (this.#startLinesShown === 0) this.#terminal.note("  The app does not answer yet. Its output:", "yellow");
    this.#startLinesShown += shown.length;
    for (const { text } of shown) this.#terminal.note(`    ${printable(text)}`);
  }
}
