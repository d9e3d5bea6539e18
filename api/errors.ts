const conflict = { status: 409, title: "Conflict" } as const;
const refused = { status: 403, title: "Forbidden" } as const;
const temporary = { status: 503, title: "Service Unavailable" } as const;

/** Every error the service answers with: `code` is stable; `status` and `title` are HTTP's (docs/api.md, Errors). */
export const errorTable = {
  invalid_request: { status: 400, title: "Bad Request" },
  unauthorized: { status: 401, title: "Unauthorized" },
  users_only: refused,
  token_scope: refused,
  forbidden: refused,
  sign_in_needed: refused,
  foreign_origin: refused,
  not_a_manager: refused,
  not_found: { status: 404, title: "Not Found" },
  build_in_progress: conflict,
  build_finished: conflict,
  build_deploying: conflict,
  never_deployed: conflict,
  deployed_build_not_successful: conflict,
  build_not_successful: conflict,
  build_canceled: conflict,
  build_already_live: conflict,
  build_outside_window: conflict,
  credential_limit: conflict,
  name_taken: conflict,
  limit_reached: conflict,
  storage_not_empty: conflict,
  last_owner: conflict,
  already_member: conflict,
  variables_too_large: conflict,
  table_exists: conflict,
  column_exists: conflict,
  data_conflict: conflict,
  source_gone: { status: 410, title: "Gone" },
  body_too_large: { status: 413, title: "Content Too Large" },
  idempotency_mismatch: { status: 422, title: "Unprocessable Content" },
  too_many_requests: { status: 429, title: "Too Many Requests" },
  internal: { status: 500, title: "Internal Server Error" },
  live_unknown: temporary,
  database_resuming: temporary,
  unavailable: temporary,
} as const satisfies Record<string, { status: number; title: string }>;

export type ErrorCode = keyof typeof errorTable;
