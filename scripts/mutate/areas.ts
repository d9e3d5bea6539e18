/** A part of the code: `files` are changed, and `tests` should fail with each change. */
interface Part {
  files: string[];
  tests: string[];
  /** If set, only tests whose full name (groups and title, joined by blanks) matches are run in place. */
  named?: RegExp;
}
/** Parts have their own tests and run one after the other, so that each change is tried only with tests that can notice it. */
export type Area = Part | Part[];

/** What `npm run mutate` runs, in this order. `--files` narrows an area to a part of its files. */
export const areas: Record<string, Area> = {
  keys: {
    files: ["lambdas/http/presented-credential.ts"],
    tests: ["test/unit/lambdas/http/presented-credential.test.ts"],
  },
  mask: {
    files: ["lambdas/builds/model/{mask,automaton,readings}.ts"],
    tests: ["test/unit/lambdas/builds/mask.test.ts"],
  },
  tables: {
    files: [
      "lambdas/tables/model/{change,change-names,column-change,steps,exact-number,json-text,retry,values}.ts",
      "lambdas/tables/model/{change-statement,definition,row-size-checks,statements}.ts",
    ],
    tests: ["test/unit/lambdas/tables/*.test.ts"],
  },
  zip: {
    files: ["buildpack/zip/*.ts"],
    tests: ["test/unit/buildpack/zip/*.test.ts", "test/unit/buildpack/analysis/inspection.test.ts"],
  },
  access: [
    {
      files: ["lambdas/http/{access,authenticate,idempotency,key-use,proof}.ts"],
      tests: ["test/unit/lambdas/http/{authenticate,idempotency,proof}.test.ts", "test/local/http/*.test.ts"],
    },
    { files: ["lambdas/credentials/**/*.ts"], tests: ["test/local/http/credentials.test.ts"] },
  ],
  sessions: [
    {
      files: ["lambdas/aws/{identity,identity-proof}.ts"],
      tests: ["test/unit/lambdas/aws/identity-proof.test.ts", "test/local/sts/identity-proof.test.ts"],
    },
    { files: ["lambdas/sessions/*.ts"], tests: ["test/local/http/credentials.test.ts"] },
  ],
  builds: [
    {
      files: [
        "lambdas/builds/{cancel-build,create-build,get-build,list-app-logs,list-build-logs,list-builds}.ts",
        "lambdas/builds/{list-endpoints,rebuild,redeploy-build}.ts",
        "lambdas/builds/model/{copy-build,live-build,replies,start-build,transitions}.ts",
      ],
      tests: [
        "test/unit/lambdas/builds/{is-live,poll-interval,redeploy-window}.test.ts",
        "test/local/builds/*.test.ts",
      ],
    },
    { files: ["lambdas/builds/get-metrics.ts"], tests: ["test/local/builds/routes.test.ts"] },
  ],
  "pipeline-rules": {
    files: ["lambdas/pipeline/model/{advice,environment-reports,failures,health,output-excerpt}.ts"],
    tests: ["test/unit/lambdas/pipeline/*.test.ts"],
  },
  pipeline: [
    {
      files: ["lambdas/pipeline/grant-build-access.ts", "lambdas/pipeline/model/remove-old-images.ts"],
      tests: ["test/local/image-build/grant-build-access.test.ts"],
    },
    {
      files: ["lambdas/pipeline/{analyze,archive-uploaded,await-upload,copy-archive,file-uploaded}.ts"],
      tests: ["test/local/pipeline/source.test.ts"],
    },
    {
      files: [
        "lambdas/pipeline/{execution-ended,fail-build,finish,reconcile-locks}.ts",
        "lambdas/pipeline/model/end-orphaned-build.ts",
      ],
      tests: ["test/local/pipeline/ends.test.ts"],
    },
    {
      files: ["lambdas/pipeline/{deploy,release}.ts", "lambdas/pipeline/model/start-deploying.ts"],
      tests: ["test/local/pipeline/{deploy,release}.test.ts"],
    },
    { files: ["lambdas/pipeline/check-health.ts"], tests: ["test/local/pipeline/check-health.test.ts"] },
    {
      files: ["lambdas/pipeline/roll-back.ts", "lambdas/pipeline/model/restore-revision.ts"],
      tests: ["test/local/pipeline/roll-back.test.ts"],
    },
    {
      files: ["lambdas/pipeline/remove.ts", "lambdas/pipeline/model/{remove-builds,remove-rows}.ts"],
      tests: ["test/local/pipeline/remove.test.ts"],
    },
  ],
  detection: [
    {
      files: ["buildpack/analysis/node/{frameworks,replaced-start,start,start-file,unserved}.ts"],
      tests: [
        "test/unit/buildpack/analysis/{framework-starts,node-start,replaced-start,start-file,unserved}.test.ts",
        "test/unit/buildpack/analysis/{generators,starters,settings}.test.ts",
      ],
    },
    {
      files: ["buildpack/analysis/python/{django,modules,start,start-file}.ts"],
      tests: [
        "test/unit/buildpack/analysis/{framework-starts,python-frameworks,python-start,start-file}.test.ts",
        "test/unit/buildpack/analysis/{starters,settings}.test.ts",
      ],
    },
  ],
  // The area `tables` changes the model's pure rules. Each case of the model's test is a series of hundreds of requests.
  "tables-sql": [
    { files: ["lambdas/aws/databases.ts"], tests: ["test/unit/lambdas/aws/databases.test.ts"] },
    {
      files: ["lambdas/tables/model/{conversion,text-conversion}.ts"],
      tests: ["test/api/tables/conversions.test.ts"],
    },
    {
      files: ["lambdas/tables/model/{conflict,rows,sql,validate}.ts"],
      tests: ["test/unit/lambdas/tables/{conflict,rows}.test.ts", "test/api/tables/rows.test.ts"],
    },
    {
      files: ["lambdas/tables/*-{row,rows}.ts", "lambdas/tables/model/{result-chunks,session,stored-rows}.ts"],
      tests: ["test/api/tables/{session,rows}.test.ts"],
      named: /^(?!a row (?:gives|refuses|takes|is not made))/,
    },
    {
      files: ["lambdas/tables/model/{existing-database,open-database}.ts"],
      tests: ["test/api/access-rules.test.ts"],
      named: /(?:table|row)s?: /,
    },
    {
      files: ["lambdas/tables/model/{functions,inner-function,inner-names,setup,value-functions}.ts"],
      tests: ["test/api/tables/session.test.ts"],
      named: /^a new database/,
    },
    {
      files: [
        "lambdas/tables/*-{table,tables}.ts",
        "lambdas/tables/model/{catalog,change-table,idempotency,idempotency-statements}.ts",
      ],
      tests: ["test/api/tables/{schema,session}.test.ts", "test/api/events.test.ts"],
      named:
        /^(?:tables|a change(?! (?:cannot make|moves|swaps|and nine|that fails with 40[04]))|who may|the catalog)|table's change/,
    },
  ],
};

/** The tests that read the synthesized template. Most of its parts are permissions, so their tests come first. */
export const templateTests = ["test/synth/iam.ts", "test/synth/{deployment,events,network,removal,routes,stateful}.ts"];
