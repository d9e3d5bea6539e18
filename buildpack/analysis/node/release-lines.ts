/** The offered release lines of Node.js, the default first (docs/detection.md, Node.js line). */
export const nodeReleaseLines = [24, 26, 22] as const;
export const nodeReleaseLineDefault = 24;

/** Code names of the long-term lines, as `lts/<name>` in version files. */
export const nodeCodenames: ReadonlyMap<string, number> = new Map([
  ["argon", 4],
  ["boron", 6],
  ["carbon", 8],
  ["dubnium", 10],
  ["erbium", 12],
  ["fermium", 14],
  ["gallium", 16],
  ["hydrogen", 18],
  ["iron", 20],
  ["jod", 22],
  ["krypton", 24],
  ["lithium", 26],
]);

/** The end-of-life date of each release line that has ended. */
export const nodeEndOfLife: ReadonlyMap<number, string> = new Map([
  [4, "2018-04-30"],
  [5, "2016-06-30"],
  [6, "2019-04-30"],
  [7, "2017-06-30"],
  [8, "2019-12-31"],
  [9, "2018-06-30"],
  [10, "2021-04-30"],
  [11, "2019-06-01"],
  [12, "2022-04-30"],
  [13, "2020-06-01"],
  [14, "2023-04-30"],
  [15, "2021-06-01"],
  [16, "2023-09-11"],
  [17, "2022-06-01"],
  [18, "2025-04-30"],
  [19, "2023-06-01"],
  [20, "2026-04-30"],
  [21, "2024-06-01"],
  [23, "2025-06-01"],
  [25, "2026-06-01"],
]);
