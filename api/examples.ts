import type * as z from "zod";
import type { AnyRoute, RouteId } from "./index.ts";

type RouteOf<Id extends RouteId> = Extract<AnyRoute, { id: Id }>;
type Definition<Id extends RouteId> = RouteOf<Id>["definition"];
type QueryOf<Id extends RouteId> = Definition<Id> extends { query: infer Q extends z.ZodObject } ? z.input<Q> : never;
type BodyOf<Id extends RouteId> = Definition<Id> extends { body: infer B extends z.ZodType } ? z.input<B> : never;

/** The inputs of a sample call, in addition to the ids in its path. */
interface Sample<Id extends RouteId> {
  query?: QueryOf<Id>;
  body?: BodyOf<Id>;
  /** The words of the command line; `$buildId` and the like stand for ids. Absent: `slipway api`. */
  cli?: string;
}
type Examples = { [Id in RouteId]: Sample<Id> };

const name = { body: { name: "Shop" } };
const renamed = { body: { name: "Web shop" } };
const deleted = { query: { confirm: "Shop" } };
const passkey = { id: "AQID", rawId: "AQID", type: "public-key" } as const;

/** A sample call of every operation; the tests run each with curl, the client and the command line. */
const examples: Examples = {
  ping: {},
  "get-me": { cli: "whoami" },
  "list-tokens": { cli: "tokens list" },
  "create-token": {
    body: { description: "CI", access: "deploy", expiresInDays: 90 },
    cli: "tokens create --description CI --access deploy --expires-in-days 90",
  },
  "delete-token": { cli: "tokens delete $tokenId" },
  "list-organizations": { cli: "whoami" },
  "create-organization": { body: { name: "Analytics" } },
  "get-organization": {},
  "update-organization": { body: { name: "Analytics" } },
  "list-members": { cli: "members list" },
  "create-member": {
    body: { email: "ada@example.com", role: "member" },
    cli: "members invite ada@example.com --role member",
  },
  "update-member": { body: { role: "admin" }, cli: "members role $userId admin" },
  "delete-member": { cli: "members remove $userId" },
  "list-projects": { query: { limit: "20" }, cli: "projects list" },
  "create-project": { ...name, cli: "projects create Shop" },
  "get-project": { cli: "settings get" },
  "update-project": { body: { settings: { healthPath: "/health" } }, cli: "settings set healthPath=/health" },
  "delete-project": { ...deleted, cli: "projects delete $projectId --confirm Shop" },
  "set-managers": { body: { userIds: null } },
  "list-domains": { cli: "domains list" },
  "create-domain": { body: { domain: "www.example.com" }, cli: "domains add www.example.com" },
  "delete-domain": { cli: "domains remove $domain" },
  "list-builds": { query: { limit: "20" }, cli: "builds --limit 20" },
  "create-build": { body: { title: "First deployment" } },
  "get-build": { cli: "status $buildId" },
  "cancel-build": { cli: "cancel $buildId" },
  rebuild: {},
  "redeploy-build": {},
  "list-build-logs": { query: { limit: "100" }, cli: "logs $buildId" },
  "list-app-logs": { query: { text: "error" }, cli: "logs --app --search error" },
  "get-metrics": {},
  "list-endpoints": { cli: "endpoints" },
  "list-credentials": { cli: "keys list" },
  "create-credential": { body: { description: "importer" }, cli: "keys create --description importer" },
  "delete-credential": { cli: "keys delete $credentialId" },
  "list-environments": { cli: "env list" },
  "create-environment": { body: { name: "GREETING", value: "hello" }, cli: "env set GREETING=hello" },
  "update-environment": { body: { value: "good morning" }, cli: "env set 'GREETING=good morning'" },
  "delete-environment": { cli: "env unset GREETING" },
  "list-databases": { cli: "databases list" },
  "create-database": { ...name, cli: "databases create Shop" },
  "update-database": renamed,
  "delete-database": deleted,
  "list-tables": { cli: "tables --database $dbId" },
  "create-table": { body: { name: "notes", columns: [{ name: "text", type: "string", nullable: false }] } },
  "update-table": { body: { add: [{ name: "done", type: "boolean", default: false }] } },
  "delete-table": {},
  "list-rows": { query: { limit: "50" }, cli: "rows $tableName --database $dbId --limit 50" },
  "create-row": {
    body: { row: { text: "hello" } },
    cli: `rows create $tableName '{"text":"hello"}' --database $dbId`,
  },
  "get-row": { cli: "rows get $tableName $rowId --database $dbId" },
  "update-row": {
    body: { row: { text: "good morning" } },
    cli: `rows update $tableName $rowId '{"text":"good morning"}' --database $dbId`,
  },
  "delete-row": { cli: "rows delete $tableName $rowId --database $dbId" },
  "list-storages": { cli: "storages list" },
  "create-storage": { ...name, cli: "storages create Shop" },
  "update-storage": renamed,
  "delete-storage": deleted,
  "list-files": { query: { limit: "50" }, cli: "files list --storage $storageId" },
  "create-files": { body: { files: [{ name: "report.pdf", mime: "application/pdf" }] } },
  "get-file": {},
  "delete-file": { cli: "files delete $fileId --storage $storageId" },
  "list-events": { query: { limit: "20" } },
  "create-session": { body: {} },
  "create-console-session": { body: { code: "sll_…" } },
  "get-console-session": {},
  "delete-console-session": {},
  "list-console-sessions": {},
  "delete-console-sessions": {},
  "end-console-session": {},
  "begin-passkey": {},
  "create-passkey": {
    body: { name: "Laptop", response: { ...passkey, response: { clientDataJSON: "e30", attestationObject: "oA" } } },
  },
  "begin-passkey-sign-in": {},
  "sign-in-with-passkey": {
    body: { response: { ...passkey, response: { clientDataJSON: "e30", authenticatorData: "AA", signature: "AA" } } },
  },
  "list-passkeys": {},
  "delete-passkey": {},
  "create-connection-code": {
    body: { challenge: "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM", tool: "my-tool", access: "read" },
  },
  "connect-tool": { body: { code: "slc_…", verifier: "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk" } },
};

/** A sample call, as the documents read it. */
export interface Example {
  query?: Record<string, string>;
  body?: Record<string, unknown>;
  cli?: string;
}

const byId = new Map<string, Example>(Object.entries(examples as Record<string, Example>));

/** The sample call of a route, for the OpenAPI document and the reference page; empty if its path says everything. */
export const exampleOf = (routeId: string): Example => byId.get(routeId) ?? {};
