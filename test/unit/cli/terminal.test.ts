import { expect, test } from "vitest";
import { barText, bytesText, columnsText, durationText, printable, Terminal } from "../../../cli/terminal.ts";

function written(environment: Record<string, string>, isTTY: boolean, use: (terminal: Terminal) => void, columns = 20) {
  let out = "";
  let err = "";
  const stream = (take: (text: string) => void) => ({ isTTY, columns, write: take });
  const terminal = new Terminal(
    stream((text) => {
      out += text;
    }),
    stream((text) => {
      err += text;
    }),
    environment,
  );
  use(terminal);
  return { out, err };
}

test("without a terminal there is no progress line and no color", () => {
  const { err } = written({}, false, (terminal) => {
    terminal.progress("half");
    terminal.note("done", "green");
  });
  expect(err).toBe("done\n");
});

test("on a terminal the moving line replaces itself, fits the width, and is gone before the next note or result", () => {
  const { out, err } = written({}, true, (terminal) => {
    terminal.progress("x".repeat(50));
    terminal.progress("y");
    terminal.result("address");
    terminal.note("done", "green");
  });
  expect(out).toBe("address\n");
  expect(err).toBe(`\r\u001b[K${"x".repeat(19)}\r\u001b[Ky\r\u001b[K\u001b[32mdone\u001b[39m\n`);
});

test("a terminal that does not know its width is taken to have 80 columns", () => {
  const { err } = written({}, true, (terminal) => terminal.progress("x".repeat(100)), 0);
  expect(err).toBe(`\r\u001b[K${"x".repeat(79)}`);
});

test("NO_COLOR keeps the moving line and takes the colors away, a dumb terminal has neither", () => {
  const use = (terminal: Terminal) => {
    terminal.progress("half");
    terminal.note("done", "green");
  };
  expect(written({ NO_COLOR: "1" }, true, use).err).toBe("\r\u001b[Khalf\r\u001b[Kdone\n");
  expect(written({ TERM: "dumb" }, true, use).err).toBe("done\n");
});

test("strangers' text cannot steer the terminal", () => {
  expect(printable("a\u001b[2J\u001b]0;title\u0007b\r\u202ec\td ✓ 👩‍🚀")).toBe("ab��c\td ✓ 👩‍🚀");
});

test("sizes, times, bars and columns read well", () => {
  expect([0, 1, 999, 1000, 1_234_567, 5e12].map(bytesText)).toEqual([
    "0 bytes",
    "1 byte",
    "999 bytes",
    "1.0 kB",
    "1.2 MB",
    "5000.0 GB",
  ]);
  expect([0, 59_940, 200_000, 3_599_600, 7_200_000].map(durationText)).toEqual([
    "0.0 s",
    "59.9 s",
    "3 min 20 s",
    "1.0 h",
    "2.0 h",
  ]);
  expect(barText(1, 2, 4)).toBe("[██░░]  50 %");
  expect(barText(9, 2, 4)).toBe("[████] 100 %");
  expect(barText(0, 0, 4)).toBe("[████] 100 %");
  expect(
    columnsText([
      ["a", "bb", ""],
      ["ccc", "d", "e"],
    ]),
  ).toEqual(["a    bb", "ccc  d   e"]);
});
