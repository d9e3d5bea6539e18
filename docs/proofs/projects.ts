import type { Proofs } from "./proof.ts";

const accessRules = "test/api/access-rules.test.ts";
const apiPage = "test/unit/docs/api-page.test.ts";
const concurrency = "test/api/faults/concurrency.test.ts";
const credentials = "test/local/http/credentials.test.ts";
const deletion = "test/api/organizations/deletion.test.ts";
const deployment = "test/pipeline/backends/deployment.ts";
const idempotency = "test/api/faults/idempotency.test.ts";
const managers = "test/api/faults/managers.test.ts";
const projects = "test/api/organizations/projects.test.ts";
const samples = "test/api/samples.test.ts";
const texts = "test/api/texts.test.ts";
const variablesTotal = "test/api/faults/variables-total.test.ts";

export const projectsProofs: Proofs = {
  Projects: {
    "Extension, below `/organizations/{orgId}/projects`.": [
      [samples, "%s: its samples work"],
      [apiPage, "the page of the interface names every route and no other"],
    ],
    "Changes need the": [[accessRules, "%s: a lesser role is a 403 that names the one it takes"]],
    "A project is": [[projects, "are made with all settings, read and changed field by field"]],
    "`settings` holds all": [
      [projects, "are made with all settings, read and changed field by field"],
      [projects, "are a list of members of the organization, an empty list, or every member (null)"],
    ],
    "With `userIds: []`": [
      [projects, "are a list of members of the organization, an empty list, or every member (null)"],
      [managers, "an empty list refuses every user; no list admits every member again"],
    ],
    "| `GET` |": [[projects, "page newest first, and a cursor belongs to its list"]],
    "| `POST` |": [[projects, "are made with all settings, read and changed field by field"]],
    "| `GET /{projectId}`": [[projects, "are made with all settings, read and changed field by field"]],
    "| `PUT /{projectId}`": [
      [projects, "are made with all settings, read and changed field by field"],
      [projects, "two changes at once both apply"],
    ],
    "| `DELETE /{projectId}`": [[deletion, "takes its name: anything else is a 400 and deletes nothing"]],
    "| `PUT /{projectId}/managers`": [
      [projects, "are a list of members of the organization, an empty list, or every member (null)"],
    ],
    "| `GET /{projectId}/domains`": [
      [projects, "are added once among all projects, listed oldest first, and free again after their removal"],
    ],
    "| `POST /{projectId}/domains`": [
      [projects, "are added once among all projects, listed oldest first, and free again after their removal"],
    ],
    "| `DELETE /{projectId}/domains/{domain}`": [
      [projects, "are added once among all projects, listed oldest first, and free again after their removal"],
    ],
  },
  Deletion: {
    "What is deleted": [[deletion, "takes its name: anything else is a 400 and deletes nothing"]],
    "With the answer,": [
      [deletion, "ends everything of it at once, and removes the rest after the response"],
      [deletion, "ends a build that is %s"],
    ],
    "Variables, builds and": [[deletion, "ends everything of it at once, and removes the rest after the response"]],
    "A key that": [[deletion, "ends everything of it at once, and removes the rest after the response"]],
  },
  Domains: {
    "A domain is": [
      [projects, "are added once among all projects, listed oldest first, and free again after their removal"],
    ],
    "A name is": [[projects, "%j is no host name"]],
    "Use punycode for": [[projects, "%j is no host name"]],
    "A domain belongs": [
      [projects, "are added once among all projects, listed oldest first, and free again after their removal"],
    ],
  },
  Databases: {
    "Extension, below `/organizations/{orgId}/databases`.": [
      [samples, "%s: its samples work"],
      [apiPage, "the page of the interface names every route and no other"],
    ],
    "Changes need the": [[accessRules, "%s: a lesser role is a 403 that names the one it takes"]],
    "A database is": [[projects, "%s are made, listed oldest first and renamed, at most 50"]],
    "| `GET` |": [[projects, "%s are made, listed oldest first and renamed, at most 50"]],
    "| `POST` |": [[projects, "%s are made, listed oldest first and renamed, at most 50"]],
    "| `PUT /{dbId}`": [[projects, "%s are made, listed oldest first and renamed, at most 50"]],
    "| `DELETE /{dbId}`": [[deletion, "deleting a database drops its tables and its role"]],
  },
  "Environment variables": {
    "Below `/organizations/{orgId}/projects/{projectId}/environments`.": [
      [samples, "%s: its samples work"],
      [apiPage, "the page of the interface names every route and no other"],
    ],
    "A name has": [
      [texts, "the names and values of variables keep their rules, and every answer has all fields"],
      [concurrency, "create one variable: one 201, and 49 × 409"],
    ],
    "`PORT` is set": [[texts, "the names and values of variables keep their rules, and every answer has all fields"]],
    "A value is": [[texts, "the names and values of variables keep their rules, and every answer has all fields"]],
    "Every byte of": [[deployment, "variables reach the app unchanged, but only after a rebuild"]],
    "A project has": [
      [concurrency, "the 501st variable is refused, however many are sent at once"],
      [variablesTotal, "have 1 MiB together, to the byte, at POST and PUT"],
    ],
    "A project that": [[variablesTotal, "may be more than the limit, and then only get smaller"]],
    "Variables are part": [[deployment, "variables reach the app unchanged, but only after a rebuild"]],
    "| `GET` |": [[texts, "the names and values of variables keep their rules, and every answer has all fields"]],
    "| `POST` |": [[texts, "the names and values of variables keep their rules, and every answer has all fields"]],
    "| `PUT /{envId}`": [
      [texts, "the names and values of variables keep their rules, and every answer has all fields"],
      [concurrency, "two changes of different fields of one variable are both kept"],
    ],
    "| `DELETE /{envId}`": [
      [texts, "the names and values of variables keep their rules, and every answer has all fields"],
    ],
  },
  "App keys": {
    "Below `/organizations/{orgId}/projects/{projectId}/credentials`.": [
      [samples, "%s: its samples work"],
      [apiPage, "the page of the interface names every route and no other"],
    ],
    "`expiredAt` is null.": [
      [texts, "an app key has no end, shows its secret once, and is not listed beside the operator's"],
    ],
    "A project has": [
      [credentials, "are three at most: the fourth is a 409 with those that exist, and makes nothing"],
      [concurrency, "create credentials: three 201, and 47 × 409 that list what the project holds"],
    ],
    "Keys that the": [[texts, "an app key has no end, shows its secret once, and is not listed beside the operator's"]],
    "| `POST` |": [
      [texts, "an app key has no end, shows its secret once, and is not listed beside the operator's"],
      [credentials, "are made with a secret that is stored as its hash alone, and listed without it"],
    ],
    "| `GET` |": [
      [texts, "an app key has no end, shows its secret once, and is not listed beside the operator's"],
      [credentials, "are made with a secret that is stored as its hash alone, and listed without it"],
    ],
    "| `DELETE /{credentialId}`": [
      [credentials, "end with their deletion, once"],
      [idempotency, "means nothing to a session's creation, to a read, or once the caller's key is revoked"],
    ],
  },
};
