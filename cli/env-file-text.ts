import { parseEnv } from "node:util";
import { parseEnvFile } from "../sdk/env-file.ts";
import { Failure } from "./failure.ts";

/** The quotes with which a value of a .env file is read back unchanged; undefined if there are none. */
function quoted(name: string, value: string): string | undefined {
  // parseEnv reads \n as a line break in double quotes only, and has no escape for a quote.
  return ["", '"', "'", "`"]
    .map((quote) => `${name}=${quote}${value}${quote}`)
    .find((line) => {
      const text = `${line}\n__END=1\n`;
      const own = Object.fromEntries(parseEnvFile(text).variables.map((one) => [one.name, one.value]));
      return [parseEnv(text), own].every(
        (read) => read[name] === value && read.__END === "1" && Object.keys(read).length === 2,
      );
    });
}

/** Variables as a .env file; throws if a value cannot be written in one. */
export function envFileText(variables: readonly { name: string; value: string }[]): string {
  const lines = variables.map(({ name, value }) => {
    const line = quoted(name, value);
    if (line === undefined) {
      throw new Failure(
        `The value of ${name} contains every kind of quote, so a .env file cannot hold it. Read it with: slipway env get ${name}`,
      );
    }
    return `${line}\n`;
  });
  return lines.join("");
}
