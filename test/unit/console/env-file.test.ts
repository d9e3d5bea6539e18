import { parseEnv } from "node:util";
import { describe, expect, it } from "vitest";
import { planVariables } from "../../../console/env-file.ts";
import { parseEnvFile } from "../../../sdk/env-file.ts";
import { fc } from "../../harness/fast-check.ts";

const byName = (text: string) =>
  Object.fromEntries(parseEnvFile(text).variables.map(({ name, value }) => [name, value]));

describe("a pasted .env file", () => {
  it.each([
    ["A=1\nB=two words\n", { A: "1", B: "two words" }],
    ["export A=1\r\n  B = 2 # comment\n# C=3\n\nD=#nothing", { A: "1", B: "2", D: "" }],
    [`A="x # y"\nB='x\\ny'\nC="x\\ny"\nD=\`"'\``, { A: "x # y", B: "x\\ny", C: "x\ny", D: `"'` }],
    ['KEY="-----BEGIN\nabc\n-----END"\nB=1', { KEY: "-----BEGIN\nabc\n-----END", B: "1" }],
    ['A="open\nB=2', { A: '"open', B: "2" }],
    ["URL=postgres://u:p@h/db?x=1", { URL: "postgres://u:p@h/db?x=1" }],
    ["A=  \nB=1", { A: "", B: "1" }],
    ["\ufeffA=1", { A: "1" }],
    ["A=1\nA=2", { A: "2" }],
    ["", {}],
  ])("%j holds %j", (text, expected) => {
    expect(byName(text)).toEqual(expected);
  });

  it("is read as Node.js reads it", () => {
    const piece = fc.constantFrom("A", "B_1", "=", '"', "'", "`", "\n", "\r\n", "#", " ", "\t", "\\n", "x", "é");
    const text = fc.array(piece, { maxLength: 24 }).map((pieces) => pieces.join(""));
    // Node.js takes the next line for a missing value, and an indented comment with an equals sign for a variable.
    const isClear = (content: string) => !/=[ \t\r]+(\n|$)|=\s*=|^\s*=|\n\s*=|[ \t\r\n][ \t]+#/.test(content);
    fc.assert(
      fc.property(text.filter(isClear), (content) => {
        expect(byName(content)).toEqual({ ...parseEnv(content) });
      }),
      {
        numRuns: 2_000,
      },
    );
  });

  it("names the lines that it does not understand, and the line of each variable", () => {
    const file = parseEnvFile('A="1\n2"\nnonsense\n=x\nB=3');
    expect(file.ignoredLines).toEqual([3, 4]);
    expect(file.variables.map(({ name, line }) => [name, line])).toEqual([
      ["A", 1],
      ["B", 5],
    ]);
  });

  it("is compared with the variables that exist", () => {
    const existing = [
      { id: "env_1", name: "A", value: "1" },
      { id: "env_2", name: "B", value: "2" },
      { id: "env_3", name: "Z", value: "stays" },
    ];
    const planned = planVariables(parseEnvFile("A=1\nB=3\nC=4").variables, existing);
    expect(planned.map(({ name, effect, id }) => [name, effect, id])).toEqual([
      ["A", "keep", "env_1"],
      ["B", "change", "env_2"],
      ["C", "add", undefined],
    ]);
  });
});
