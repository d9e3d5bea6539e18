/** A part of the code whose tests are tested: `files` are changed, `tests` have to notice each change. */
export interface Area {
  files: string[];
  tests: string[];
}

/** What `npm run mutate` runs, in this order. The first four need unit tests only and take minutes, the others hours. */
export const areas: Record<string, Area> = {
  zip: { files: ["buildpack/zip/*.ts"], tests: ["test/unit/buildpack/zip/*.test.ts"] },
  mask: {
    files: ["lambdas/builds/model/{mask,automaton,readings}.ts"],
    tests: ["test/unit/lambdas/builds/mask.test.ts"],
  },
  keys: {
    files: ["lambdas/http/presented-credential.ts"],
    tests: ["test/unit/lambdas/http/*.test.ts"],
  },
  tables: {
    files: [
      "lambdas/tables/model/{change,change-names,column-change,steps,exact-number,json-text,retry,values}.ts",
      "lambdas/tables/model/{change-statement,definition,row-size-checks,statements}.ts",
    ],
    tests: ["test/unit/lambdas/tables/*.test.ts"],
  },
};
