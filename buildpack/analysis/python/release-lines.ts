/** The offered minor versions of Python 3, the default first (docs/detection.md, Python line). */
export const pythonReleaseLines = [13, 14, 12] as const;
export const pythonReleaseLineDefault = 13;

/** The end-of-life date of each minor version of Python 3 that has ended. */
export const pythonEndOfLife: ReadonlyMap<number, string> = new Map([
  [0, "2009-06-27"],
  [1, "2012-04-09"],
  [2, "2016-02-20"],
  [3, "2017-09-29"],
  [4, "2019-03-18"],
  [5, "2020-09-30"],
  [6, "2021-12-23"],
  [7, "2023-06-27"],
  [8, "2024-10-07"],
  [9, "2025-10-31"],
  [10, "2026-10-31"],
]);
